// One row of the data: what the model decided, and without what it would have decided otherwise.

import { get } from "./api.js";
import { el, failure, isAbort, named } from "./dom.js";
import { link } from "./links.js";
import { listing } from "./listing.js";
import { count } from "./numbers.js";
import { stateOf } from "./state.js";
import { Stored } from "./stored.js";
import { nameOf } from "./text.js";
import { entitle } from "./title.js";
import { WhatIf } from "./what_if.js";
import { workspace } from "./workspace.js";

/** @typedef {number | null} Neighbour */

let leaving = new AbortController();

/**
 * Draw the view of one row.
 * @param {HTMLElement} main
 * @param {Context} context
 */
export async function render(main, context) {
  leaving = new AbortController();
  const { signal } = leaving;
  const [wanted = ""] = context.path;
  const number = Number(wanted);
  const title = el("h1", {}, `Row ${wanted}`);
  const way = el("nav", { class: "way", "aria-label": "Other rows" });
  main.append(el("div", { class: "row-head" }, title, way));
  if (!/^\d+$/.test(wanted)) {
    main.append(failure({ title: "There is no such row", detail: "Rows have whole numbers from 0 on." }));
    return;
  }
  showWay(way, number, signal);
  const known = readRow(number, title, signal);
  await (workspace.can_explain ? renderLive(main, number, context, known) : renderStored(main, known));
}

/** Leave the view: what is still being asked is not wanted any more. */
export function leave() {
  leaving.abort();
}

/**
 * @param {HTMLElement} main
 * @param {number} number
 * @param {Context} context
 * @param {Promise<OneRowAnswer>} known
 */
async function renderLive(main, number, { params, note }, known) {
  /** @type {(state: [string, string][]) => void} */
  const keep = (state) => note(`row/${number}`, new URLSearchParams(state));
  const { signal } = leaving;
  const state = stateOf(params);
  const whatIf = new WhatIf({ subject: { row: number }, state, keep, name: `row-${number}`, signal });
  main.append(whatIf.element);
  // The row's own name is a courtesy: where it cannot be read, the what-if says what is wrong.
  await Promise.all([known.catch(() => null), whatIf.open()]);
}

/**
 * @param {HTMLElement} main
 * @param {Promise<OneRowAnswer>} known
 */
async function renderStored(main, known) {
  const stored = new Stored();
  main.append(stored.element);
  try {
    stored.show(await known);
  } catch (error) {
    if (!isAbort(error)) main.append(failure(error));
  }
}

/**
 * Read what is known of a row, and name it in the title where the data have a name for it.
 * @param {number} number
 * @param {HTMLElement} title
 * @param {AbortSignal} signal
 */
async function readRow(number, title, signal) {
  /** @type {OneRowAnswer} */
  const row = await get(`api/rows/${number}`, {}, { signal });
  if (String(row.id) === String(row.number)) return row;
  title.append(" · ", named(String(row.id), 60));
  entitle(`Row ${row.number} · ${nameOf(String(row.id), 40)}`);
  return row;
}

/**
 * Links to the rows before and after, in the order of the list that the reader came from.
 * @param {HTMLElement} way
 * @param {number} number
 * @param {AbortSignal} signal
 */
async function showWay(way, number, signal) {
  const at = listing.numbers.indexOf(number);
  if (at < 0) return drawWay(way, ...neighbours(number, workspace.n_rows));
  drawWay(way, listing.numbers[at - 1] ?? null, listing.numbers[at + 1] ?? null);
  if (at > 0 && at + 1 < listing.numbers.length) return;
  try {
    drawWay(way, ...(await beyond(at, signal)));
  } catch (error) {
    if (!isAbort(error)) way.append(el("span", { class: "soft" }, `of ${count(workspace.n_rows)}`));
  }
}

/**
 * @param {HTMLElement} way
 * @param {Neighbour} before
 * @param {Neighbour} after
 */
function drawWay(way, before, after) {
  const back = el("a", { href: listing.hash }, "Back to the rows");
  way.replaceChildren(wayTo("← Previous", before, "prev"), back, wayTo("Next →", after, "next"));
}

/**
 * @param {string} text
 * @param {Neighbour} other
 * @param {string} rel
 */
function wayTo(text, other, rel) {
  if (other === null) return el("span", { class: "soft", "aria-disabled": "true" }, text);
  return el("a", { href: link(`row/${other}`), rel }, text);
}

/**
 * The numbers before and after, of a row that no list led to.
 * @param {number} number
 * @param {number} n_rows
 * @returns {[before: Neighbour, after: Neighbour]}
 */
function neighbours(number, n_rows) {
  return [number > 0 && number <= n_rows ? number - 1 : null, number + 1 < n_rows ? number + 1 : null];
}

/**
 * The neighbours of a row that is the first or the last of its page: they are on the page before or after.
 * @param {number} at
 * @param {AbortSignal} signal
 * @returns {Promise<[before: Neighbour, after: Neighbour]>}
 */
async function beyond(at, signal) {
  const { numbers, hash } = listing;
  const params = new URLSearchParams(hash.split("?")[1] ?? "");
  const page = Number(params.get("page") ?? 1);
  const numbersOf = async (/** @type {number} */ other) => {
    /** @type {RowsAnswer} */
    const { rows } = await get("api/rows", { ...Object.fromEntries(params), page: other }, { signal });
    return rows.map((row) => row.number);
  };
  const before = at > 0 ? numbers[at - 1] : page > 1 ? (await numbersOf(page - 1)).at(-1) : null;
  const after = at + 1 < numbers.length ? numbers[at + 1] : (await numbersOf(page + 1))[0];
  return [before ?? null, after ?? null];
}
