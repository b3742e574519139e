// All rows as a table that never holds more than a page of them. Its whole state is in the address.

import { desk, get } from "./api.js";
import { announce, count, counted, el, failure, isAbort } from "./dom.js";
import { filters } from "./filters.js";
import { link } from "./links.js";
import { pager } from "./pager.js";
import { table } from "./table.js";

const FIELDS = ["q", "decision", "status", "size", "proven", "feature", "sort", "page"];
const PER_PAGE = 50;
const PAUSE = 1500;
const PAUSE_AFTER_FAILURE = 6000;

/** The list that was looked at last: the numbers on its page in their order, and its address. */
export const listing = { numbers: [], hash: "#/rows" };

let view = null;

/** Draw the view: filters, what is known so far, the table, the pages. */
export async function render(main, context) {
  if (!desk.n_rows) return location.replace(link("own"));
  view = { ...parts(), go: context.go, state: {}, asking: null, timer: null };
  main.append(heading(), view.filters.element, view.line, view.problem, view.table.element, view.pager.element);
  view.table.expect(Math.min(PER_PAGE, desk.n_rows));
  await update(context);
}

/** Show another state: after a click, or on the way back. */
export async function update({ params }) {
  const turned = (params.get("page") ?? "1") !== (view.state.page ?? "1");
  view.state = Object.fromEntries(FIELDS.filter((name) => params.get(name)).map((name) => [name, params.get(name)]));
  view.filters.show(view.state);
  view.table.sorted(view.state.sort ?? "number");
  if (turned && view.table.element.getBoundingClientRect().top < 0) view.table.element.scrollIntoView();
  await load();
}

/** Stop asking. */
export function leave() {
  view?.asking?.abort();
  clearTimeout(view?.timer);
  view = null;
}

function heading() {
  const [, several] = desk.unit;
  const lead = desk.can_explain
    ? `What the model decides for each row, and how few ${several} that hangs on.`
    : `What the model decided for each row, and how few ${several} that hangs on: the results of a batch run.`;
  return el("header", { class: "heading" }, el("h1", {}, "Rows"), el("p", { class: "lead" }, lead));
}

function parts() {
  const change = (part, how) => view?.go("rows", { ...view.state, page: null, ...part }, how);
  const matching = el("p", { class: "matching" });
  const known = el("p", { class: "known soft" });
  const latest = el("button", { type: "button", class: "small", hidden: true, onclick: () => (load(), document.getElementById("search").focus()) }, "Show the new order");
  const bar = el("progress", { class: "thin", max: 1, value: 0, "aria-label": "Rows explained" });
  const form = filters(change);
  return {
    filters: form,
    table: table({ sort: (sort) => change({ sort: sort === "number" ? null : sort }) }),
    pager: pager((page) => link("rows", { ...view.state, page: page > 1 ? page : null })),
    problem: el("div"),
    line: el("div", { class: "status-line" }, matching, form.chips, known, latest, bar),
    matching, known, latest, bar,
  };
}

function query() {
  return { sort: "number", page: 1, per_page: PER_PAGE, ...view.state };
}

async function load() {
  const here = view;
  here.asking?.abort();
  clearTimeout(here.timer);
  here.asking = new AbortController();
  here.table.wait(true);
  try {
    const answer = await get("api/rows", query(), here.asking);
    if (view === here) showAnswer(answer);
  } catch (error) {
    if (view === here && !isAbort(error)) showFailure(error);
  }
}

function showAnswer(answer) {
  const n_pages = Math.max(1, Math.ceil(answer.matching / answer.per_page));
  if (!answer.rows.length && answer.matching) return view.go("rows", { ...view.state, page: n_pages }, { replace: true });
  view.problem.replaceChildren();
  view.table.wait(false);
  view.table.show(answer.rows, nothing(answer));
  view.pager.show(answer.page, n_pages);
  Object.assign(listing, { numbers: answer.rows.map((row) => row.number), hash: location.hash || "#/rows" });
  showProgress(answer, false);
  announce(`${counted(answer.matching, "row")}, page ${answer.page} of ${n_pages}`);
}

function showFailure(error) {
  view.table.wait(false);
  view.table.show([], el("p", {}, "The rows could not be read."));
  view.problem.replaceChildren(failure(error, load));
}

/** Say how far the server is; ask again while it is not done. */
function showProgress({ total, matching, progress }, moved) {
  const pending = progress.explained < progress.total || progress.scored < progress.total;
  view.matching.textContent = matching === total ? counted(total, "row") : `${count(matching)} of ${counted(total, "row")}`;
  view.known.textContent = pending ? howFar(progress) : "";
  view.bar.value = progress.total ? progress.explained / progress.total : 1;
  view.bar.classList.toggle("done", !pending);
  view.latest.hidden = !moved;
  if (pending) view.timer = setTimeout(poll, PAUSE);
}

function howFar({ total, scored, explained }) {
  if (scored < total) return `scoring: ${count(scored)} of ${count(total)}`;
  return `explaining: ${count(explained)} of ${count(total)}`;
}

/** Bring what is shown up to date, cell by cell: no row moves and nothing loses focus. */
async function poll() {
  const here = view;
  try {
    const answer = await get("api/rows", query(), here.asking);
    if (view !== here) return;
    const moved = answer.rows.map((row) => row.number).join() !== listing.numbers.join();
    here.table.refresh(answer.rows);
    showProgress(answer, moved);
  } catch (error) {
    if (view === here && !isAbort(error)) here.timer = setTimeout(poll, PAUSE_AFTER_FAILURE);
  }
}

function nothing({ progress }) {
  const pending = progress.explained < progress.total;
  return [
    el("p", {}, "No row matches."),
    el("p", { class: "soft" }, pending ? "Rows are still being explained: more may match in a moment." : "Take away a filter, or search for something else."),
    el("a", { class: "button", href: link("rows") }, "Show all rows"),
  ];
}
