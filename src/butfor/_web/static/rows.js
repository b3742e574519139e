// All rows as a table that never holds more than a page of them. Its whole state is in the address.

import { get } from "./api.js";
import { announce, byId, el, failure, isAbort } from "./dom.js";
import { filters } from "./filters.js";
import { link } from "./links.js";
import { listing } from "./listing.js";
import { count, counted } from "./numbers.js";
import { pager } from "./pager.js";
import { Table } from "./table.js";
import { workspace } from "./workspace.js";

const FIELDS = ["q", "decision", "status", "size", "proven", "feature", "sort", "page"];
const PER_PAGE = 50;
const PAUSE = 1500;
const PAUSE_AFTER_FAILURE = 6000;

/** @type {Rows | null} */
let view = null;

/**
 * Draw the view: filters, what is known so far, the table, the pages.
 * @param {HTMLElement} main
 * @param {Context} context
 */
export async function render(main, context) {
  if (!workspace.n_rows) return location.replace(link("own"));
  view = new Rows(context.go);
  main.append(...view.elements);
  await view.update(context.params);
}

/**
 * Show another state: after a click, or on the way back.
 * @param {Context} context
 */
export async function update({ params }) {
  await view?.update(params);
}

/** Stop asking. */
export function leave() {
  view?.stop();
  view = null;
}

class Rows {
  /** @type {import("./outcomes.js").Listed} */
  #state = {};
  #asking = new AbortController();
  /** @type {number | undefined} */
  #timer;
  #problem = el("div");
  #matching = el("p", { class: "matching" });
  #known = el("p", { class: "known soft" });
  #latest = el(
    "button",
    { type: "button", class: "small", hidden: true, onclick: () => this.#reorder() },
    "Show the new order",
  );
  #bar = el("progress", { class: "thin", max: 1, value: 0, "aria-label": "Rows explained" });
  #filters = filters((part, how) => this.#change(part, how));
  #table = new Table({ sort: (sort) => this.#change({ sort: sort === "number" ? null : sort }) });
  #pager = pager((page) => link("rows", { ...this.#state, page: page > 1 ? page : null }));

  /** @param {Context["go"]} go */
  constructor(go) {
    this.go = go;
    this.#table.expect(Math.min(PER_PAGE, workspace.n_rows));
    const parts = [this.#matching, this.#filters.chips, this.#known, this.#latest, this.#bar];
    const line = el("div", { class: "status-line" }, parts);
    this.elements = [
      heading(),
      this.#filters.element,
      line,
      this.#problem,
      this.#table.element,
      this.#pager.element,
    ];
  }

  /** @param {URLSearchParams} params */
  async update(params) {
    const turned = (params.get("page") ?? "1") !== (this.#state.page ?? "1");
    const table = this.#table.element;
    this.#state = Object.fromEntries(
      FIELDS.map((name) => [name, params.get(name) ?? ""]).filter(([, value]) => value),
    );
    this.#filters.show(this.#state);
    this.#table.sorted(this.#state.sort ?? "number");
    if (turned && table.getBoundingClientRect().top < 0) table.scrollIntoView();
    await this.#load();
  }

  /** Stop asking. */
  stop() {
    this.#asking.abort();
    clearTimeout(this.#timer);
  }

  /**
   * @param {Params} part
   * @param {How} [how]
   */
  #change(part, how) {
    // A search box that was left tells what was typed a moment later.
    if (view === this) this.go("rows", { ...this.#state, page: null, ...part }, how);
  }

  #reorder() {
    this.#load();
    byId("search").focus();
  }

  /** @returns {Promise<RowsAnswer>} */
  #ask() {
    return get("api/rows", { sort: "number", page: 1, per_page: PER_PAGE, ...this.#state }, this.#asking);
  }

  async #load() {
    this.stop();
    this.#asking = new AbortController();
    this.#table.wait(true);
    try {
      const answer = await this.#ask();
      if (view === this) this.#show(answer);
    } catch (error) {
      if (view === this && !isAbort(error)) this.#fail(error);
    }
  }

  /** @param {RowsAnswer} answer */
  #show(answer) {
    const { rows, matching, page } = answer;
    const n_pages = Math.max(1, Math.ceil(matching / answer.per_page));
    if (!rows.length && matching)
      return this.go("rows", { ...this.#state, page: n_pages }, { replace: true });
    this.#problem.replaceChildren();
    this.#table.wait(false);
    this.#table.show(rows, nothing(answer.progress));
    this.#pager.show(page, n_pages);
    Object.assign(listing, { numbers: rows.map((row) => row.number), hash: location.hash || "#/rows" });
    this.#showProgress(answer, false);
    announce(`${counted(matching, "row")}, page ${page} of ${n_pages}`);
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#table.wait(false);
    this.#table.show([], [el("p", {}, "The rows could not be read.")]);
    this.#problem.replaceChildren(failure(error, () => this.#load()));
  }

  /**
   * Say how far the server is; ask again while it is not done.
   * @param {RowsAnswer} answer
   * @param {boolean} moved whether rows would be in another order by now
   */
  #showProgress({ total, matching, progress }, moved) {
    const pending = isPending(progress);
    const all = counted(total, "row");
    this.#matching.textContent = matching === total ? all : `${count(matching)} of ${all}`;
    this.#known.textContent = pending ? howFar(progress) : "";
    this.#bar.value = progress.total ? progress.explained / progress.total : 1;
    this.#bar.classList.toggle("done", !pending);
    this.#latest.hidden = !moved;
    if (pending) this.#timer = setTimeout(() => this.#poll(), PAUSE);
  }

  /** Bring what is shown up to date, cell by cell: no row moves and nothing loses focus. */
  async #poll() {
    try {
      const answer = await this.#ask();
      if (view !== this) return;
      const moved = answer.rows.map((row) => row.number).join() !== listing.numbers.join();
      this.#table.refresh(answer.rows);
      this.#showProgress(answer, moved);
    } catch (error) {
      if (view !== this || isAbort(error)) return;
      this.#timer = setTimeout(() => this.#poll(), PAUSE_AFTER_FAILURE);
    }
  }
}

function heading() {
  const [, several] = workspace.unit;
  const lead = workspace.can_explain
    ? `What the model decides for each row, and how few ${several} that hangs on.`
    : `What the model decided for each row, and how few ${several} that hangs on: the results of a batch run.`;
  return el("header", { class: "heading" }, el("h1", {}, "Rows"), el("p", { class: "lead" }, lead));
}

/** @param {Progress} progress */
function isPending({ total, scored, explained }) {
  return explained < total || scored < total;
}

/** @param {Progress} progress */
function howFar({ total, scored, explained }) {
  if (scored < total) return `scoring: ${count(scored)} of ${count(total)}`;
  return `explaining: ${count(explained)} of ${count(total)}`;
}

/** @param {Progress} progress */
function nothing({ explained, total }) {
  const told =
    explained < total
      ? "Rows are still being explained: more may match in a moment."
      : "Take away a filter, or search for something else.";
  return [
    el("p", {}, "No row matches."),
    el("p", { class: "soft" }, told),
    el("a", { class: "button", href: link("rows") }, "Show all rows"),
  ];
}
