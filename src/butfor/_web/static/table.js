// The table of rows: real rows and cells, of fixed widths and heights, whose contents are replaced in place.

import { cell, fill, numberCell, previewOf, rangeOf } from "./cells.js";
import { el } from "./dom.js";
import { decimals } from "./numbers.js";
import { classOf } from "./text.js";
import { positiveOf } from "./words.js";
import { workspace } from "./workspace.js";

/** @type {{ name: string, title: string, sorts?: [first: string, second: string] }[]} */
const COLUMNS = [
  { name: "number", title: "Row", sorts: ["number", "-number"] },
  { name: "preview", title: { texts: "Text", items: "Items", records: "Row" }[workspace.kind] },
  { name: "score", title: "Score", sorts: ["-score", "score"] },
  { name: "decision", title: "Decision" },
  { name: "size", title: "Explanation", sorts: ["size", "-size"] },
];

/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./cells.js").Range} Range */

/** The table; `sort` is called with the order that a heading asks for. */
export class Table {
  #body = el("tbody", { role: "rowgroup", onkeydown: walk });
  #empty = el("div", { class: "empty", hidden: true });
  /** @type {Map<number, Cells>} */
  #shown = new Map();

  /** @param {{ sort: (order: string) => void }} options */
  constructor({ sort }) {
    this.headings = COLUMNS.map((column) => new Heading(column, sort));
    const cells = this.headings.map((heading) => heading.cell);
    const head = el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, cells));
    this.inner = el("table", { class: "rows", role: "table", "aria-label": "Rows" }, head, this.#body);
    this.inner.style.setProperty("--decision", `${decisionWidth()}rem`);
    this.element = el("div", { class: "rows-box" }, this.inner, this.#empty);
  }

  /**
   * Show the places of rows that are not there yet.
   * @param {number} n_rows
   */
  expect(n_rows) {
    this.#body.replaceChildren(...Array.from({ length: n_rows }, skeleton));
  }

  /**
   * Show that other rows are on their way.
   * @param {boolean} waiting
   */
  wait(waiting) {
    this.inner.setAttribute("aria-busy", String(waiting));
  }

  /**
   * Show the order of the rows.
   * @param {string} order
   */
  sorted(order) {
    for (const heading of this.headings) heading.mark(order);
  }

  /**
   * Show other rows, or `nothing` where there are none.
   * @param {RowAnswer[]} rows
   * @param {Node[]} nothing
   */
  show(rows, nothing) {
    this.#tellScore(rows);
    this.#shown.clear();
    const range = rangeOf(rows);
    this.#body.replaceChildren(...rows.map((row) => this.#row(row, range)));
    this.#empty.replaceChildren(...(rows.length ? [] : nothing));
    this.#empty.hidden = rows.length > 0;
    this.inner.hidden = rows.length === 0;
  }

  /**
   * Bring the cells of rows up to date that are shown already.
   * @param {RowAnswer[]} rows
   */
  refresh(rows) {
    this.#tellScore(rows);
    const known = rows.filter((row) => this.#shown.has(row.number));
    const range = rangeOf(known);
    for (const row of known) fill(/** @type {Cells} */ (this.#shown.get(row.number)), row, range);
  }

  /**
   * @param {RowAnswer} row
   * @param {Range} range
   */
  #row(row, range) {
    const cells = { score: cell("score"), decision: cell("decision"), size: cell("size") };
    this.#shown.set(row.number, cells);
    fill(cells, row, range);
    return el("tr", { role: "row" }, numberCell(row), cell("preview", previewOf(row)), Object.values(cells));
  }

  /**
   * Say of which class the scores are, as soon as a row tells.
   * @param {RowAnswer[]} rows
   */
  #tellScore(rows) {
    const { threshold, classes } = workspace;
    const heading = this.headings[COLUMNS.findIndex(({ name }) => name === "score")];
    const row = rows.find(({ score, decision }) => score !== null && decision);
    if (!row || heading.of.textContent || threshold === null || classes.length !== 2) return;
    const positive = classOf(
      positiveOf({ score: row.score ?? 0, decision: row.decision, threshold }, classes),
      24,
    );
    heading.of.textContent = ` of ${positive}`;
    heading.cell.title = `Decided ${positive} from ${decimals(threshold)[0]} on`;
  }
}

/** The heading of a column; a button where rows can be sorted by it. */
class Heading {
  of = el("span", { class: "of" });
  #arrow = el("span", { class: "arrow", "aria-hidden": "true" });

  /**
   * @param {{ name: string, title: string, sorts?: [first: string, second: string] }} column
   * @param {(order: string) => void} sort
   */
  constructor({ name, title, sorts }, sort) {
    this.sorts = sorts;
    this.cell = el("th", { scope: "col", role: "columnheader", class: `col-${name}` }, sorts ? null : title);
    if (!sorts) return;
    const onclick = () => sort(this.cell.dataset.order === sorts[0] ? sorts[1] : sorts[0]);
    const shown = el("span", {}, title, this.of);
    this.cell.append(el("button", { type: "button", class: "sort", onclick }, shown, this.#arrow));
  }

  /**
   * Show whether the rows are in an order of this column.
   * @param {string} order
   */
  mark(order) {
    if (!this.sorts) return;
    const chosen = this.sorts.includes(order);
    const isDown = order.startsWith("-");
    this.cell.dataset.order = chosen ? order : "";
    this.cell.setAttribute("aria-sort", !chosen ? "none" : isDown ? "descending" : "ascending");
    this.#arrow.textContent = !chosen ? "" : isDown ? "↓" : "↑";
  }
}

/** As wide as the longest name of a class, within limits, so that the text has the rest. */
function decisionWidth() {
  const longest = Math.max(0, ...workspace.classes.map((name) => name.length));
  return Math.min(16, Math.max(6.6, 2.5 + 0.55 * longest));
}

function skeleton() {
  const cells = COLUMNS.map(({ name }) => cell(name, el("span", { class: "bone" })));
  return el("tr", { role: "row", class: "skeleton" }, cells);
}

/**
 * Arrow keys, j and k go from row to row.
 * @param {KeyboardEvent} event
 */
function walk(event) {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const table = /** @type {Element} */ (event.currentTarget);
  /** @type {HTMLAnchorElement[]} */
  const anchors = [...table.querySelectorAll("a[data-number]")].filter((a) => a instanceof HTMLAnchorElement);
  const here = anchors.findIndex((anchor) => anchor === document.activeElement);
  const next = here < 0 ? undefined : anchors[here + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
