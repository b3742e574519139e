// What the list of rows is narrowed to: a search box and three choices, and a chip for each that is in force.

import { desk } from "./api.js";
import { el, named, unseen } from "./dom.js";

const DEBOUNCE = 250;
const SIZES = 10;
const OUTCOMES = [
  ["", "any"],
  ["status=found", "found"],
  ["proven=true", "found, proven smallest"],
  ["proven=false", "found, not proven"],
  ["status=none", "none possible"],
  ["status=budget", "not found in time"],
  ["status=error", "error"],
  ["status=pending", "not explained yet"],
];
const SAID = {
  q: (value) => ["contains ", named(value, 40)],
  decision: (value) => ["decision ", named(value, 40)],
  status: (value) => [OUTCOMES.find(([key]) => key === `status=${value}`)?.[1] ?? value],
  proven: (value) => [value === "true" ? "proven smallest" : "not proven"],
  size: (value) => [`size ${value}`],
  feature: (value) => ["because of ", named(value, 40)],
};

/** Make the filters: `change` is called with the part of the state that is to be another. */
export function filters(change) {
  const search = searchBox(change);
  const decision = choice("Decision", [["", "any"], ...desk.classes.map((name) => [name, name])], (value) => change({ decision: value }));
  const outcome = choice("Explanation", OUTCOMES, (value) => change({ status: null, proven: null, ...pair(value) }));
  const size = choice("Size", sizes(), (value) => change({ size: value }));
  const shown = [search, desk.classes.length > 1 && decision, outcome, size].filter(Boolean);
  const chips = el("ul", { class: "chips", "aria-label": "Filters in force" });
  const show = (state) => {
    search.show(state.q ?? "");
    decision.show(state.decision ?? "");
    outcome.show(state.proven ? `proven=${state.proven}` : state.status ? `status=${state.status}` : "");
    size.show(state.size ?? "");
    chips.replaceChildren(...chipsOf(state, change));
  };
  const element = el("form", { class: "filters", role: "search", "aria-label": "Rows", onsubmit: (event) => event.preventDefault() }, shown.map((part) => part.element));
  return { element, chips, show };
}

function searchBox(change) {
  let timer = null;
  const told = () => {
    timer = null;
    change({ q: input.value.trim() || null }, { replace: true });
  };
  const input = el("input", {
    type: "search", id: "search", autocomplete: "off", spellcheck: "false", maxlength: 1000,
    placeholder: desk.kind === "texts" ? "in the text" : "name of an item",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(told, DEBOUNCE);
    },
  });
  const show = (value) => {
    // What is being typed is newer than what the address says.
    if (timer === null && input.value.trim() !== value) input.value = value;
  };
  return { element: el("div", { class: "field field-search" }, el("label", { for: "search" }, "Search"), input), show };
}

function choice(label, options, told) {
  const id = `choose-${label.toLowerCase()}`;
  const select = el("select", { id, onchange: () => told(select.value || null) }, options.map(option));
  const show = (value) => {
    if (![...select.options].some((known) => known.value === value)) select.append(option([value, value]));
    select.value = value;
  };
  return { element: el("div", { class: "field" }, el("label", { for: id }, label), select), show };
}

function option([value, text]) {
  return el("option", { value }, text);
}

function sizes() {
  const largest = Math.min(SIZES, desk.limits?.max_size ?? SIZES);
  return [["", "any"], ...Array.from({ length: largest }, (_, i) => [String(i + 1), String(i + 1)])];
}

function pair(chosen) {
  const [name, value] = (chosen ?? "").split("=");
  return name ? { [name]: value } : {};
}

function chipsOf(state, change) {
  const names = Object.keys(SAID).filter((name) => state[name]);
  const chips = names.map((name) => el("li", {}, chip(name, state[name], change)));
  if (names.length < 2) return chips;
  const none = Object.fromEntries(names.map((name) => [name, null]));
  return [...chips, el("li", {}, el("button", { type: "button", class: "small quiet", onclick: () => clear(change, none) }, "Clear all"))];
}

function chip(name, value, change) {
  return el("button", { type: "button", class: "chip", onclick: () => clear(change, { [name]: null }) },
    unseen("Take away the filter: "), SAID[name](value), el("span", { class: "cross", "aria-hidden": "true" }, "×"));
}

/** The chip goes with its filter, so focus goes back to the search box. */
function clear(change, part) {
  const search = document.getElementById("search");
  if ("q" in part) search.value = "";
  search.focus();
  change(part);
}
