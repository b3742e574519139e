// What the list of rows is narrowed to: a search box and three choices, and a chip for each that is in force.

import { byId, el, named, unseen } from "./dom.js";
import { OUTCOMES, filterOf, outcomeOf, statusText } from "./outcomes.js";
import { workspace } from "./workspace.js";

const DEBOUNCE = 250;
const SIZES = 10;
/** What the chip of a filter says. @type {Record<string, (value: string) => Child>} */
const SAID = {
  q: (value) => ["contains ", named(value, 40)],
  decision: (value) => ["decision ", named(value, 40)],
  status: statusText,
  proven: (value) => (value === "true" ? "proven smallest" : "not proven"),
  size: (value) => `size ${value}`,
  feature: (value) => ["because of ", named(value, 40)],
};

/** @typedef {(part: Params, how?: How) => void} Change */
/** @typedef {{ element: HTMLElement, show: (value: string) => void }} Field */

/**
 * Make the filters: `change` is called with the part of the state that is to be another.
 * @param {Change} change
 */
export function filters(change) {
  const search = searchBox(change);
  const decision = choice("Decision", decisions(), (value) => change({ decision: value }));
  const outcome = choice("Explanation", OUTCOMES, (value) => change(filterOf(value)));
  const size = choice("Size", sizes(), (value) => change({ size: value }));
  const shown = [search, ...(workspace.classes.length > 1 ? [decision] : []), outcome, size];
  const chips = el("ul", { class: "chips", "aria-label": "Filters in force" });
  const show = (/** @type {import("./outcomes.js").Listed} */ state) => {
    search.show(state.q ?? "");
    decision.show(state.decision ?? "");
    outcome.show(outcomeOf(state));
    size.show(state.size ?? "");
    chips.replaceChildren(...chipsOf(state, change));
  };
  const onsubmit = (/** @type {Event} */ event) => event.preventDefault();
  const fields = shown.map((field) => field.element);
  const element = el("form", { class: "filters", role: "search", "aria-label": "Rows", onsubmit }, fields);
  return { element, chips, show };
}

/**
 * @param {Change} change
 * @returns {Field}
 */
function searchBox(change) {
  /** @type {number | undefined} */
  let timer;
  const told = () => {
    timer = undefined;
    change({ q: input.value.trim() || null }, { replace: true });
  };
  const input = el("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 1000,
    placeholder: { texts: "in the text", items: "name of an item", records: "in any column" }[workspace.kind],
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(told, DEBOUNCE);
    },
  });
  const show = (/** @type {string} */ value) => {
    // What is being typed is newer than what the address says.
    if (timer === undefined && input.value.trim() !== value) input.value = value;
  };
  const label = el("label", { for: "search" }, "Search");
  return { element: el("div", { class: "field field-search" }, label, input), show };
}

/**
 * @param {string} label
 * @param {[value: string, text: string][]} options
 * @param {(value: string | null) => void} told
 * @returns {Field}
 */
function choice(label, options, told) {
  const id = `choose-${label.toLowerCase()}`;
  const select = el("select", { id }, options.map(option));
  select.addEventListener("change", () => told(select.value || null));
  const show = (/** @type {string} */ value) => {
    if (![...select.options].some((known) => known.value === value)) select.append(option([value, value]));
    select.value = value;
  };
  return { element: el("div", { class: "field" }, el("label", { for: id }, label), select), show };
}

/** @param {[value: string, text: string]} choice */
function option([value, text]) {
  return el("option", { value }, text);
}

/** @returns {[value: string, text: string][]} */
function decisions() {
  return [["", "any"], ...workspace.classes.map((name) => /** @type {[string, string]} */ ([name, name]))];
}

/** @returns {[value: string, text: string][]} */
function sizes() {
  const all = Array.from({ length: Math.min(SIZES, workspace.limits.max_size) }, (_, i) => String(i + 1));
  return [["", "any"], ...all.map((size) => /** @type {[string, string]} */ ([size, size]))];
}

/**
 * @param {import("./outcomes.js").Listed} state
 * @param {Change} change
 */
function chipsOf(state, change) {
  const names = Object.keys(SAID).filter((name) => state[name]);
  const chips = names.map((name) => el("li", {}, chip(name, state[name], change)));
  if (names.length < 2) return chips;
  const none = Object.fromEntries(names.map((name) => [name, null]));
  const onclick = () => clear(change, none);
  return [
    ...chips,
    el("li", {}, el("button", { type: "button", class: "small quiet", onclick }, "Clear all")),
  ];
}

/**
 * @param {string} name
 * @param {string} value
 * @param {Change} change
 */
function chip(name, value, change) {
  const cross = el("span", { class: "cross", "aria-hidden": "true" }, "×");
  const onclick = () => clear(change, { [name]: null });
  const about = unseen("Take away the filter: ");
  return el("button", { type: "button", class: "chip", onclick }, about, SAID[name](value), cross);
}

/**
 * The chip goes with its filter, so focus goes back to the search box.
 * @param {Change} change
 * @param {Params} part
 */
function clear(change, part) {
  const search = /** @type {HTMLInputElement} */ (byId("search"));
  if ("q" in part) search.value = "";
  search.focus();
  change(part);
}
