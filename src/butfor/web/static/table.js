// The table of rows: real rows and cells, of fixed widths and heights, whose contents are replaced in place.

import { desk } from "./api.js";
import { count, decimals, el, named, printable, unseen } from "./dom.js";
import { link } from "./links.js";
import { classOf, positiveOf } from "./words.js";

const COLUMNS = [
  { name: "number", title: "Row", sorts: ["number", "-number"] },
  { name: "preview", title: desk.kind === "texts" ? "Text" : "Items" },
  { name: "score", title: "Score", sorts: ["-score", "score"] },
  { name: "decision", title: "Decision" },
  { name: "size", title: "Explanation", sorts: ["size", "-size"] },
];
const STATUSES = {
  pending: ["…", "not explained yet"],
  none: ["none possible", "proven: no set within the size limit turns the decision"],
  error: ["error", "the model failed on this row"],
};

/** Make the table: `sort` is called with the order that a heading asks for. */
export function table({ sort }) {
  const body = el("tbody", { role: "rowgroup", onkeydown: walk });
  const headings = COLUMNS.map((column) => headingOf(column, sort));
  const head = el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, headings.map(({ cell }) => cell)));
  const scores = headings[COLUMNS.findIndex(({ name }) => name === "score")];
  const empty = el("div", { class: "empty", hidden: true });
  const inner = el("table", { class: "rows", role: "table", "aria-label": "Rows" }, head, body);
  inner.style.setProperty("--decision", `${decisionWidth()}rem`);
  const element = el("div", { class: "rows-box" }, inner, empty);
  const shown = new Map();
  return {
    element,
    expect: (n_rows) => body.replaceChildren(...Array.from({ length: n_rows }, skeleton)),
    wait: (waiting) => inner.setAttribute("aria-busy", waiting),
    sorted: (order) => headings.forEach((heading) => heading.mark(order)),
    show: (rows, nothing) => (tellScore(rows, scores), showRows(rows, nothing, { body, empty, inner, shown })),
    refresh: (rows) => (tellScore(rows, scores), refreshRows(rows, shown)),
  };
}

/** As wide as the longest name of a class, within limits, so that the text has the rest. */
function decisionWidth() {
  const longest = Math.max(0, ...desk.classes.map((name) => name.length));
  return Math.min(16, Math.max(6.6, 2.5 + 0.55 * longest));
}

function headingOf({ name, title, sorts }, sort) {
  const cell = el("th", { scope: "col", role: "columnheader", class: `col-${name}` });
  if (!sorts) {
    cell.append(title);
    return { cell, mark: () => {} };
  }
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" });
  const [first, second] = sorts;
  const of = el("span", { class: "of" });
  cell.append(el("button", { type: "button", class: "sort", onclick: () => sort(cell.dataset.order === first ? second : first) }, el("span", {}, title, of), arrow));
  const mark = (order) => {
    const chosen = sorts.includes(order);
    cell.dataset.order = chosen ? order : "";
    cell.setAttribute("aria-sort", !chosen ? "none" : order.startsWith("-") ? "descending" : "ascending");
    arrow.textContent = !chosen ? "" : order.startsWith("-") ? "↓" : "↑";
  };
  return { cell, mark, of };
}

function skeleton() {
  const cells = COLUMNS.map(({ name }) => el("td", { role: "cell", class: `col-${name}` }, el("span", { class: "bone" })));
  return el("tr", { role: "row", class: "skeleton" }, cells);
}

function showRows(rows, nothing, { body, empty, inner, shown }) {
  shown.clear();
  const range = rangeOf(rows);
  body.replaceChildren(...rows.map((row) => {
    const cells = { score: cell("score"), decision: cell("decision"), size: cell("size") };
    shown.set(row.number, { cells, range });
    fill(cells, row, range);
    return el("tr", { role: "row" }, numberCell(row), cell("preview", previewOf(row)), Object.values(cells));
  }));
  empty.replaceChildren(...(rows.length ? [] : [nothing].flat()));
  empty.hidden = rows.length > 0;
  inner.hidden = rows.length === 0;
}

function refreshRows(rows, shown) {
  const known = rows.filter((row) => shown.has(row.number));
  const range = rangeOf(known);
  for (const row of known) fill(shown.get(row.number).cells, row, range);
}

/** Say of which class the scores are, as soon as a row tells. */
function tellScore(rows, { cell, of }) {
  const row = rows.find(({ score, decision }) => Number.isFinite(score) && decision);
  if (!row || of.textContent || desk.threshold === null || desk.classes.length !== 2) return;
  const positive = classOf(positiveOf({ ...row, threshold: desk.threshold }), 24);
  of.textContent = ` of ${positive}`;
  cell.title = `Decided ${positive} from ${decimals(desk.threshold)[0]} on`;
}

function cell(name, ...children) {
  return el("td", { role: "cell", class: `col-${name}` }, children);
}

function numberCell({ number, id }) {
  const own = String(id ?? number) === String(number) ? null : named(String(id), 40);
  const anchor = el("a", { href: link(`row/${number}`), "data-number": number }, unseen("Row "), own ?? String(number));
  return el("th", { scope: "row", role: "rowheader", class: "col-number" }, anchor);
}

function previewOf({ preview }) {
  return el("span", { class: "preview", dir: "auto" }, preview ? printable(preview) : desk.can_explain ? unseen("empty") : "not stored");
}

function fill(cells, row, range) {
  cells.score.replaceChildren(...scoreOf(row, range));
  cells.decision.replaceChildren(row.decision ? named(row.decision, 40) : "");
  cells.size.replaceChildren(...sizeOf(row));
}

function scoreOf({ score }, range) {
  if (score === null || score === undefined) return [el("span", { class: "soft" }, "…", unseen(" not scored yet"))];
  if (desk.threshold === null) return [el("span", { class: "figure" }, decimals(score)[0])];
  return [el("span", { class: "figure" }, decimals(score, desk.threshold)[0]), bar(score, range)];
}

/** Draw how far a score is from the threshold, and on which side. */
function bar(score, { low, high }) {
  const place = (value) => 100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const [at, turn] = [place(score), place(desk.threshold)];
  const length = el("span", { class: score >= desk.threshold ? "length over" : "length under" });
  length.style.left = `${Math.min(at, turn)}%`;
  length.style.width = `${Math.abs(at - turn)}%`;
  const tick = el("span", { class: "tick" });
  tick.style.left = `${turn}%`;
  return el("span", { class: "scale", "aria-hidden": "true" }, length, tick);
}

function rangeOf(rows) {
  const values = [desk.threshold ?? 0, ...rows.map((row) => row.score).filter(Number.isFinite)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return desk.n_classes <= 2 && low >= 0 && high <= 1 ? { low: 0, high: 1 } : { low, high };
}

const CONTRADICTED = "It holds for the model's columns. With these words deleted from the text itself the decision stays.";

/** Say how large the explanation is, and whether it is proven to be the smallest, or holds for columns only. */
function sizeOf({ status, size, lower_bound, proven, contradicted }) {
  if (status === "found") {
    if (contradicted) return [figure(size), " ", el("span", { class: "tag", title: CONTRADICTED }, "columns only")];
    return [figure(size), " ", proven ? el("span", { class: "tag" }, "proven") : el("span", { class: "soft" }, `≥ ${count(lower_bound ?? 1)} needed`)];
  }
  if (status === "budget") return [el("span", { class: "soft" }, lower_bound > 1 ? `not found, ≥ ${count(lower_bound)}` : "not found in time")];
  const [short, long] = STATUSES[status] ?? STATUSES.pending;
  return [el("span", { class: `status-${status} soft`, title: long }, short, status === "pending" && unseen(` ${long}`))];
}

function figure(size) {
  return el("span", { class: "figure" }, count(size));
}

/** Arrow keys, j and k go from row to row. */
function walk(event) {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const anchors = [...event.currentTarget.querySelectorAll("a[data-number]")];
  const next = anchors[anchors.indexOf(document.activeElement) + step];
  if (!next || !anchors.includes(document.activeElement)) return;
  event.preventDefault();
  next.focus();
}
