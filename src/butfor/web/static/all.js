// All rows at a glance: bars that are links to their rows, with every count written.

import { desk, get } from "./api.js";
import { count, counted, el, failure, isAbort, named, unseen } from "./dom.js";
import { link } from "./links.js";

const PAUSE = 2000;
const STATUSES = [
  ["found", "found"],
  ["none", "none possible"],
  ["budget", "not found in time"],
  ["error", "error"],
  ["pending", "not explained yet"],
];

let view = null;

/** Draw the view: a switch between decisions, and the plots. */
export async function render(main, context) {
  if (!desk.n_rows) return location.replace(link("own"));
  const known = el("p", { class: "known soft" });
  const bar = el("progress", { class: "thin", max: 1, value: 0, "aria-label": "Rows explained" });
  const all = plots();
  const box = el("div", { class: "plots" }, Object.values(all).map((plot) => plot.element));
  view = { known, bar, box, choices: switches(), plots: all, problem: el("div"), asking: null, timer: null };
  main.append(
    el("header", { class: "heading" }, el("h1", {}, "All rows"),
      el("p", { class: "lead" }, "What the model's decisions hang on, over all rows. Every bar is a link to its rows.")),
    el("div", { class: "status-line" }, view.choices, known, bar), view.problem,
    view.box);
  await update(context);
}

/** Show the rows of another decision. */
export async function update({ params }) {
  view.decision = params.get("decision") ?? "";
  for (const choice of view.choices.querySelectorAll("a")) {
    if (choice.dataset.decision === view.decision) choice.setAttribute("aria-current", "true");
    else choice.removeAttribute("aria-current");
  }
  await load();
}

/** Stop asking. */
export function leave() {
  view?.asking?.abort();
  clearTimeout(view?.timer);
  view = null;
}

function switches() {
  const choices = [["", "all decisions"], ...desk.classes.map((name) => [name, name])];
  const links = choices.map(([decision, text]) => el("a", { href: link("all", { decision }), "data-decision": decision }, decision ? named(text, 40) : text));
  return el("nav", { class: "switch", "aria-label": "Decision", hidden: desk.classes.length < 2 }, links);
}

function plots() {
  const [, several] = desk.unit;
  return {
    features: plot("features", `The ${several} that decisions hang on`, `How many explanations have each among their ${several}.`, 12),
    statuses: plot("statuses", "How it went", "Whether an explanation was found.", 3),
    proven: plot("proven", "Proven smallest", "Whether it is proven that no smaller explanation exists.", 2),
    sizes: plot("sizes", "How many it takes", `How many ${several} an explanation has.`, 4),
  };
}

function plot(name, title, about, expected) {
  const list = el("ol", { class: "bars", "aria-labelledby": `plot-${name}` }, Array.from({ length: expected }, () => el("li", { class: "skeleton" }, el("span", { class: "bone" }))));
  const element = el("section", { class: `card plot plot-${name}`, "aria-labelledby": `plot-${name}` },
    el("h2", { id: `plot-${name}` }, title), el("p", { class: "soft" }, about), list);
  return { element, list };
}

async function load(isAsked = true) {
  const here = view;
  here.asking?.abort();
  clearTimeout(here.timer);
  here.asking = new AbortController();
  here.box.setAttribute("aria-busy", isAsked);
  try {
    const answer = await get("api/rows/summary", { decision: here.decision }, here.asking);
    if (view === here) showAnswer(answer, isAsked);
  } catch (error) {
    if (view === here && !isAbort(error)) here.problem.replaceChildren(failure(error, () => load()));
  }
}

function showAnswer(answer, isAsked) {
  const { total, scored, explained } = answer.progress;
  const pending = explained < total || scored < total;
  view.problem.replaceChildren();
  view.box.setAttribute("aria-busy", false);
  view.known.textContent = pending ? `explaining: ${count(explained)} of ${count(total)}` : counted(answer.total, "row");
  view.bar.value = total ? explained / total : 1;
  view.bar.classList.toggle("done", !pending);
  const bars = Object.entries(barsOf(answer));
  // A link must not become another while somebody is about to follow it.
  const held = ([name]) => !isAsked && view.plots[name].list.matches(":hover, :focus-within");
  for (const [name, lines] of bars.filter((plot) => !held(plot))) showBars(view.plots[name].list, lines);
  if (pending || bars.some(held)) view.timer = setTimeout(() => load(false), PAUSE);
}

/** What each plot shows: a name, a count, and what its rows are asked for with. */
function barsOf({ features, sizes, statuses, n_found, n_proven }) {
  const some = Object.keys(sizes).map(Number);
  const range = some.length ? Array.from({ length: Math.max(...some) }, (_, i) => i + 1) : [];
  const shown = range.length <= 30 ? range : some.sort((a, b) => a - b);
  return {
    features: features.map(({ name, count: n }) => [named(name, 60), n, { feature: name }]),
    sizes: shown.map((size) => [String(size), sizes[size] ?? 0, { size }]),
    statuses: STATUSES.filter(([status]) => statuses[status]).map(([status, text]) => [text, statuses[status], { status }]),
    proven: [["proven smallest", n_proven, { proven: true }], ["not proven", n_found - n_proven, { proven: false }]],
  };
}

/** Bring the bars up to date in place, so that a link that has the focus keeps it. */
function showBars(list, bars) {
  const most = Math.max(1, ...bars.map(([, n]) => n));
  const all = Math.max(1, bars.reduce((sum, [, n]) => sum + n, 0));
  while (list.children.length > Math.max(bars.length, 1)) list.lastChild.remove();
  bars.forEach((bar, i) => {
    const line = list.children[i] ?? list.appendChild(el("li"));
    if (!line.firstChild?.matches?.("a")) line.replaceChildren(lineOf());
    line.classList.remove("skeleton");
    fill(line.firstChild, bar, { most, all });
  });
  if (!bars.length) list.replaceChildren(el("li", { class: "soft" }, "Nothing yet."));
}

function lineOf() {
  return el("a", { class: "bar-line" }, el("span", { class: "bar-name" }), el("span", { class: "bar-track", "aria-hidden": "true" }, el("span", { class: "bar-length" })), el("span", { class: "bar-count" }));
}

function fill(line, [name, n, params], { most, all }) {
  const [label, track, written] = line.children;
  label.replaceChildren(name, unseen(": "));
  track.firstChild.style.width = `${(100 * n) / most}%`;
  written.replaceChildren(count(n), unseen(n === 1 ? " row" : " rows"), " ", line.closest(".plot-features") ? "" : share(n / all));
  if (n) line.setAttribute("href", link("rows", { ...params, decision: view.decision }));
  else line.removeAttribute("href");
}

function share(part) {
  return el("span", { class: "share" }, `${Math.round(100 * part)} %`);
}
