// A text or items of one's own. The address holds them after the #, which the server never sees.

import { desk, get, post } from "./api.js";
import { Bench } from "./bench.js";
import { busy, count, el, failure, isAbort } from "./dom.js";
import { LONGEST_LINK } from "./export.js";
import { link } from "./links.js";
import { Picker } from "./picker.js";
import { areUnnamed, columnOf, stateOf } from "./state.js";

const EXAMPLE = "Congratulations! You have won a free prize. Call now to claim your reward.";
let leaving = null;
let looking = null;

/** Draw the view, with what the address holds. */
export async function render(main, { params }) {
  leaving = new AbortController();
  const isText = desk.kind === "texts";
  const form = isText ? textForm(ownText(params)) : itemsForm(ownItems(params));
  const place = el("div");
  main.append(el("h1", {}, isText ? "Your own text" : `Your own ${desk.unit[1]}`), form.element, place);
  form.element.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.isReady()) start(form.read(), place);
  });
  form.example.addEventListener("click", () => example(form));
  if (form.isReady()) await look(form.read(), stateOf(params), place);
}

/** Leave the view: what is still being asked is not wanted any more. */
export function leave() {
  leaving?.abort();
  looking?.abort();
}

/** A new step in the browser's history, so that the way back leads to the text before. */
function start(own, place) {
  keep(own, [], "pushState");
  return look(own, stateOf(new URLSearchParams()), place);
}

function look(own, state, place) {
  looking?.abort();
  looking = new AbortController();
  const bench = new Bench({ subject: subjectOf(own), state, keep: (params) => keep(own, params, "replaceState"), name: "own", signal: looking.signal });
  place.replaceChildren(bench.element);
  return bench.open();
}

function subjectOf(own) {
  return desk.kind === "texts" ? { text: own } : { items: own };
}

/** Write the state into the address; a text that is too long for one is kept by the browser for this entry alone. */
function keep(own, state, how) {
  const key = how === "pushState" ? crypto.randomUUID?.() ?? String(Math.random()) : history.state?.key;
  const address = link("own", new URLSearchParams([...paramsOfOwn(own), ...state]));
  if (location.pathname.length + address.length <= LONGEST_LINK) history[how]({ key }, "", address);
  else history[how]({ key, own }, "", link("own", new URLSearchParams([["kept", key], ...state])));
}

function paramsOfOwn(own) {
  if (typeof own === "string") return [["text", own]];
  const columns = own.filter((item) => typeof item === "number").join(",");
  const names = own.filter((item) => typeof item === "string").map((name) => ["items", name]);
  return columns ? [...names, ["columns", columns]] : names;
}

function ownText(params) {
  return params.get("kept") ? String(history.state?.own ?? "") : (params.get("text") ?? "");
}

function ownItems(params) {
  if (params.get("kept")) return Array.isArray(history.state?.own) ? history.state.own : [];
  const columns = (params.get("columns") ?? "").split(",").filter((part) => /^\d+$/.test(part));
  return [...params.getAll("items"), ...columns.map(Number)];
}

function textForm(text) {
  const limit = desk.limits.text;
  const counter = el("p", { class: "note", id: "counter" });
  const field = el("textarea", { id: "own-text", rows: 6, dir: "auto", "aria-describedby": "counter", value: text });
  const button = el("button", { type: "submit", class: "primary" }, "Explain");
  const length = () => [...field.value].length;
  const told = () => {
    const over = length() > limit;
    counter.textContent = `${count(length())} of at most ${count(limit)} characters${over ? ": too long, please cut it" : ""}. It goes to this server alone, which does not log it.`;
    counter.classList.toggle("over", over);
    button.disabled = over || !field.value.trim();
  };
  field.addEventListener("input", told);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) field.form.requestSubmit();
  });
  told();
  const set = (other) => {
    field.value = other;
    told();
  };
  return framed(button, [el("label", { for: "own-text" }, "Paste or write a text"), field, counter], {
    read: () => field.value,
    set,
    isReady: () => !button.disabled,
  });
}

function itemsForm(items) {
  const button = el("button", { type: "submit", class: "primary" }, "Explain");
  const onChange = () => {
    if (picker) button.disabled = !picker.items.length || picker.items.length > desk.limits.items;
  };
  let picker = null;
  picker = new Picker({ items, limit: desk.limits.items, noun: desk.unit, onChange });
  onChange();
  return framed(button, [picker.element], {
    read: () => [...picker.items],
    set: (other) => picker.set(other),
    isReady: () => !button.disabled,
  });
}

function framed(button, parts, form) {
  const example = el("button", { type: "button" }, "An example");
  const problem = el("div");
  const element = el("form", { class: "own", novalidate: true }, parts, el("div", { class: "buttons" }, button, example), problem);
  return { ...form, element, example, problem };
}

/** Fill the form with a row of the data, if there are any. */
async function example(form) {
  form.problem.replaceChildren();
  try {
    form.set(await busy(exampleOf, form.example, "Looking for an example", leaving.signal));
  } catch (error) {
    if (!isAbort(error)) form.problem.replaceChildren(failure(error));
  }
}

async function exampleOf(signal) {
  const isText = desk.kind === "texts";
  if (!desk.n_rows) return isText ? EXAMPLE : features("", 5, signal);
  const number = await exampleRow(isText ? {} : { decision: desk.classes.at(-1) }, isText ? "-score" : "score", signal);
  if (isText) return (await get(`api/rows/${number}`, {}, { signal })).text ?? EXAMPLE;
  const { units } = await post("api/score", { row: number, removed: [], units: true }, { signal });
  const names = units.map(({ name }) => name);
  if (areUnnamed(names)) return names.map(columnOf);
  const known = await features(names[0] ?? "", 1, signal);
  return known.includes(names[0]) ? names : features("", 5, signal);
}

/** A clear case of a text; of items a close one, as rows that are decided by a hair have few of them. */
async function exampleRow(filter, sort, signal) {
  const { rows } = await get("api/rows", { ...filter, sort, per_page: 1 }, { signal });
  return rows[0]?.number ?? 0;
}

async function features(q, limit, signal) {
  const found = await get("api/features", { q, limit }, { signal });
  return found.features.map(({ name, column }) => (areUnnamed([name]) ? column : name));
}
