// A text or items of one's own. The address holds them after the #, which the server never sees.

import { busy } from "./busy.js";
import { el, failure, isAbort } from "./dom.js";
import { LONGEST_LINK } from "./export.js";
import { link } from "./links.js";
import { ownItems, ownRecord, ownText, paramsOfOwn } from "./own_address.js";
import { exampleOf } from "./own_example.js";
import { itemsForm, textForm } from "./own_forms.js";
import { recordForm } from "./record_form.js";
import { stateOf, untouchedState } from "./state.js";
import { WhatIf } from "./what_if.js";
import { workspace } from "./workspace.js";

/** @typedef {import("./own_address.js").Own} Own */

let leaving = new AbortController();
let looking = new AbortController();

/**
 * Draw the view, with what the address holds.
 * @param {HTMLElement} main
 * @param {Context} context
 */
export async function render(main, { params }) {
  leaving = new AbortController();
  const form = formOf(params, history.state?.own);
  const place = el("div");
  const title = { texts: "Your own text", items: `Your own ${workspace.unit[1]}`, records: "Your own row" };
  main.append(el("h1", {}, title[workspace.kind]), form.element, place);
  form.element.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.isReady()) start(form.read(), place);
  });
  form.example.addEventListener("click", () => example(form));
  if (form.isReady()) await look(form.read(), stateOf(params), place);
}

/**
 * The form for what the model reads, filled with what the address holds.
 * @param {URLSearchParams} params
 * @param {unknown} kept
 */
function formOf(params, kept) {
  if (workspace.kind === "records") return recordForm(ownRecord(params, kept));
  return workspace.kind === "texts" ? textForm(ownText(params, kept)) : itemsForm(ownItems(params, kept));
}

/** Leave the view: what is still being asked is not wanted any more. */
export function leave() {
  leaving.abort();
  looking.abort();
}

/**
 * Begin with a new text: a new step in the browser's history, so that the way back leads to the text before.
 * @param {Own} own
 * @param {HTMLElement} place
 */
function start(own, place) {
  keep(own, [], "pushState");
  return look(own, untouchedState(), place);
}

/**
 * @param {Own} own
 * @param {State} state
 * @param {HTMLElement} place
 */
function look(own, state, place) {
  looking.abort();
  looking = new AbortController();
  const subject = typeof own === "string" ? { text: own } : Array.isArray(own) ? { items: own } : own;
  /** @type {(params: [string, string][]) => void} */
  const keepState = (params) => keep(own, params, "replaceState");
  const whatIf = new WhatIf({ subject, state, keep: keepState, name: "own", signal: looking.signal });
  place.replaceChildren(whatIf.element);
  return whatIf.open();
}

/**
 * Write the state into the address; a text that is too long for one is kept by the browser for this entry alone.
 * @param {Own} own
 * @param {[string, string][]} state
 * @param {"pushState" | "replaceState"} how
 */
function keep(own, state, how) {
  const key = how === "pushState" ? (crypto.randomUUID?.() ?? String(Math.random())) : history.state?.key;
  const address = link("own", new URLSearchParams([...paramsOfOwn(own), ...state]));
  if (location.pathname.length + address.length <= LONGEST_LINK) history[how]({ key }, "", address);
  else history[how]({ key, own }, "", link("own", new URLSearchParams([["kept", key], ...state])));
}

/**
 * Fill the form with a row of the data, if there are any.
 * @param {import("./own_forms.js").Form} form
 */
async function example(form) {
  form.problem.replaceChildren();
  try {
    form.set(await busy(exampleOf, form.example, "Looking for an example", leaving.signal));
  } catch (error) {
    if (!isAbort(error)) form.problem.replaceChildren(failure(error));
  }
}
