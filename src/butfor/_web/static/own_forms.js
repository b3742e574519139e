// The form for a text of one's own, and the one for items.

import { el } from "./dom.js";
import { count } from "./numbers.js";
import { Picker } from "./picker.js";
import { workspace } from "./workspace.js";

/** @typedef {import("./own_address.js").Own} Own */
/**
 * A form: `read` gives what it holds, `set` fills it, `isReady` says whether it can be sent.
 * @typedef {{
 *   element: HTMLFormElement,
 *   example: HTMLButtonElement,
 *   problem: HTMLElement,
 *   read: () => Own,
 *   set: (own: any) => void,
 *   isReady: () => boolean,
 * }} Form
 */

/**
 * Make the form for a text.
 * @param {string} text
 */
export function textForm(text) {
  const limit = workspace.limits.text;
  const counter = el("p", { class: "note", id: "counter" });
  const field = el("textarea", {
    id: "own-text",
    rows: 6,
    dir: "auto",
    "aria-describedby": "counter",
    value: text,
  });
  const button = submitButton();
  const told = () => {
    const length = [...field.value].length;
    const over = length > limit;
    const size = `${count(length)} of at most ${count(limit)} characters${over ? ": too long, please cut it" : ""}`;
    counter.textContent = `${size}. It goes to this server alone, which does not log it.`;
    counter.classList.toggle("over", over);
    button.disabled = over || !field.value.trim();
  };
  field.addEventListener("input", told);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) field.form?.requestSubmit();
  });
  told();
  const set = (/** @type {string} */ other) => {
    field.value = other;
    told();
  };
  const label = el("label", { for: "own-text" }, "Paste or write a text");
  return framed(button, [label, field, counter], { read: () => field.value, set });
}

/**
 * Make the form for items.
 * @param {Item[]} items
 */
export function itemsForm(items) {
  const limit = workspace.limits.items;
  const button = submitButton();
  /** @type {(picked: Item[]) => void} */
  const onChange = (picked) => {
    button.disabled = !picked.length || picked.length > limit;
  };
  const picker = new Picker({ items, limit, noun: workspace.unit, onChange });
  const set = (/** @type {Item[]} */ other) => picker.set(other);
  return framed(button, [picker.element], { read: () => [...picker.items], set });
}

/** The button that sends a form. */
export function submitButton() {
  return el("button", { type: "submit", class: "primary" }, "Explain");
}

/**
 * Put the parts of a form together.
 * @param {HTMLButtonElement} button
 * @param {HTMLElement[]} parts
 * @param {Pick<Form, "read" | "set">} form
 * @returns {Form}
 */
export function framed(button, parts, form) {
  const example = el("button", { type: "button" }, "An example");
  const problem = el("div");
  const buttons = el("div", { class: "buttons" }, button, example);
  const element = el("form", { class: "own", novalidate: true }, parts, buttons, problem);
  return { ...form, element, example, problem, isReady: () => !button.disabled };
}
