// What the cells of a row of the table show.

import { el, named, unseen } from "./dom.js";
import { link } from "./links.js";
import { amount, count, decimals } from "./numbers.js";
import { printable } from "./text.js";
import { workspace } from "./workspace.js";

/** @type {Record<string, [short: string, long: string]>} */
const STATUSES = {
  pending: ["…", "not explained yet"],
  none: ["none possible", "proven: no set within the size limit turns the decision"],
  error: ["error", "the model failed on this row"],
};
const CONTRADICTED =
  "It holds for the model's columns. With these words deleted from the text itself the decision stays.";

/** @typedef {{ low: number, high: number }} Range */
/** The cells of a row that change. @typedef {{ score: HTMLElement, decision: HTMLElement, size: HTMLElement }} Cells */

/**
 * Make a cell of a column.
 * @param {string} name
 * @param {...Child} children
 */
export function cell(name, ...children) {
  return el("td", { role: "cell", class: `col-${name}` }, children);
}

/**
 * Make the cell that names the row, and leads to it.
 * @param {RowAnswer} row
 */
export function numberCell({ number, id }) {
  const name = String(id) === String(number) ? String(number) : named(String(id), 40);
  const anchor = el("a", { href: link(`row/${number}`), "data-number": number }, unseen("Row "), name);
  return el("th", { scope: "row", role: "rowheader", class: "col-number" }, anchor);
}

/**
 * Show the beginning of a row.
 * @param {RowAnswer} row
 */
export function previewOf({ preview }) {
  const nothing = workspace.can_explain ? unseen("empty") : "not stored";
  return el("span", { class: "preview", dir: "auto" }, preview ? printable(preview) : nothing);
}

/**
 * Bring the cells of a row up to date.
 * @param {Cells} cells
 * @param {RowAnswer} row
 * @param {Range} range
 */
export function fill(cells, row, range) {
  cells.score.replaceChildren(...scoreOf(row, range));
  cells.decision.replaceChildren(row.decision ? named(row.decision, 40) : "");
  cells.size.replaceChildren(...sizeOf(row));
}

/**
 * @param {RowAnswer} row
 * @param {Range} range
 */
function scoreOf({ score }, range) {
  const { threshold } = workspace;
  if (score === null) return [el("span", { class: "soft" }, "…", unseen(" not scored yet"))];
  if (threshold === null) return [figure(decimals(score)[0])];
  return [figure(decimals(score, threshold)[0]), bar(score, threshold, range)];
}

/**
 * Draw how far a score is from the threshold, and on which side.
 * @param {number} score
 * @param {number} threshold
 * @param {Range} range
 */
function bar(score, threshold, { low, high }) {
  const place = (/** @type {number} */ value) =>
    100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const [at, turn] = [place(score), place(threshold)];
  const length = el("span", { class: score >= threshold ? "length over" : "length under" });
  length.style.left = `${Math.min(at, turn)}%`;
  length.style.width = `${Math.abs(at - turn)}%`;
  const tick = el("span", { class: "tick" });
  tick.style.left = `${turn}%`;
  return el("span", { class: "scale", "aria-hidden": "true" }, length, tick);
}

/**
 * From where to where the scores of rows are drawn: from 0 to 1 where they are probabilities.
 * @param {RowAnswer[]} rows
 * @returns {Range}
 */
export function rangeOf(rows) {
  const scores = rows.flatMap(({ score }) => (score === null ? [] : [score]));
  const values = [workspace.threshold ?? 0, ...scores];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return workspace.n_classes <= 2 && low >= 0 && high <= 1 ? { low: 0, high: 1 } : { low, high };
}

/**
 * Say how large the explanation is, and whether it is proven to be the smallest, or holds for columns only.
 * @param {RowAnswer} row
 */
function sizeOf({ status, size, lower_bound, proven, contradicted }) {
  const bound = lower_bound ?? 1;
  if (status === "found") {
    const shown = figure(count(size ?? 0));
    if (contradicted) return [shown, " ", el("span", { class: "tag", title: CONTRADICTED }, "columns only")];
    if (proven) return [shown, " ", el("span", { class: "tag" }, "proven")];
    return [shown, " ", el("span", { class: "soft" }, `≥ ${amount(bound)} needed`)];
  }
  if (status === "budget") {
    const told = bound > 1 ? `not found, ≥ ${amount(bound)}` : "not found in time";
    return [el("span", { class: "soft" }, told)];
  }
  const [short, long] = STATUSES[status] ?? STATUSES.pending;
  const heard = status === "pending" && unseen(` ${long}`);
  return [el("span", { class: `status-${status} soft`, title: long }, short, heard)];
}

/** @param {string} written */
function figure(written) {
  return el("span", { class: "figure" }, written);
}
