// One row of the data: what the model decided, and without what it would have decided otherwise.

import { desk, get } from "./api.js";
import { Bench } from "./bench.js";
import { count, el, entitle, failure, isAbort, named, printable, shortened } from "./dom.js";
import { link } from "./links.js";
import { listing } from "./rows.js";
import { stateOf } from "./state.js";
import { Stored } from "./stored.js";

let leaving = null;

/** Draw the view of one row. */
export async function render(main, { path, params, note }) {
  leaving = new AbortController();
  const { signal } = leaving;
  const number = Number(path[0]);
  const title = el("h1", {}, `Row ${path[0] ?? ""}`);
  const way = el("nav", { class: "way", "aria-label": "Other rows" });
  main.append(el("div", { class: "row-head" }, title, way));
  if (!/^\d+$/.test(path[0] ?? "")) {
    main.append(failure({ title: "There is no such row", detail: "Rows have whole numbers from 0 on." }));
    return;
  }
  showWay(way, number, signal);
  const keep = (state) => note(`row/${number}`, new URLSearchParams(state));
  const view = desk.can_explain ? new Bench({ subject: { row: number }, state: stateOf(params), keep, name: `row-${number}`, signal }) : new Stored();
  main.append(view.element);
  const known = get(`api/rows/${number}`, {}, { signal }).then((row) => {
    head(title, row);
    if (!desk.can_explain) view.show(row);
  });
  const shown = desk.can_explain ? view.open() : null;
  await Promise.all([known.catch((error) => isAbort(error) || desk.can_explain || main.append(failure(error))), shown]);
}

/** Leave the view: what is still being asked is not wanted any more. */
export function leave() {
  leaving?.abort();
}

/** Name the row, where the data have a name for it. */
function head(title, row) {
  if (String(row.id) === String(row.number)) return;
  title.append(" · ", named(String(row.id), 60));
  entitle(`Row ${row.number} · ${printable(shortened(String(row.id), 40))}`);
}

/** Links to the rows before and after, in the order of the list that the reader came from. */
async function showWay(way, number, signal) {
  const part = (text, other, rel) => {
    if (other === null) return el("span", { class: "soft", "aria-disabled": "true" }, text);
    return el("a", { href: link(`row/${other}`), rel }, text);
  };
  const draw = ([before, after]) => way.replaceChildren(part("← Previous", before, "prev"), el("a", { href: listing.hash }, "Back to the rows"), part("Next →", after, "next"));
  const at = listing.numbers.indexOf(number);
  if (at < 0) return draw([number > 0 && number <= desk.n_rows ? number - 1 : null, number + 1 < desk.n_rows ? number + 1 : null]);
  draw([listing.numbers[at - 1] ?? null, listing.numbers[at + 1] ?? null]);
  if (at > 0 && at + 1 < listing.numbers.length) return;
  try {
    draw(await beyond(at, signal));
  } catch (error) {
    if (!isAbort(error)) way.append(el("span", { class: "soft" }, `of ${count(desk.n_rows)}`));
  }
}

/** The neighbours of a row that is the first or the last of its page: they are on the page before or after. */
async function beyond(at, signal) {
  const { numbers, hash } = listing;
  const params = new URLSearchParams(hash.split("?")[1] ?? "");
  const page = Number(params.get("page") ?? 1);
  const numbersOf = async (other) => {
    const { rows } = await get("api/rows", { ...Object.fromEntries(params), page: other }, { signal });
    return rows.map((row) => row.number);
  };
  const before = at > 0 ? numbers[at - 1] : page > 1 ? (await numbersOf(page - 1)).at(-1) : null;
  const after = at + 1 < numbers.length ? numbers[at + 1] : (await numbersOf(page + 1))[0];
  return [before ?? null, after ?? null];
}
