// All rows at a glance: bars that are links to their rows, with every count written.

import { get } from "./api.js";
import { Plot } from "./bars.js";
import { el, failure, isAbort, named } from "./dom.js";
import { link } from "./links.js";
import { count, counted } from "./numbers.js";
import { STATUSES, sizesShown } from "./outcomes.js";
import { workspace } from "./workspace.js";

const PAUSE = 2000;
const LEAD = "What the model's decisions hang on, over all rows. Every bar is a link to its rows.";

/** @typedef {"features" | "statuses" | "proven" | "sizes"} PlotName */

/** @type {AllRows | null} */
let view = null;

/**
 * Draw the view: a switch between decisions, and the plots.
 * @param {HTMLElement} main
 * @param {Context} context
 */
export async function render(main, context) {
  if (!workspace.n_rows) return location.replace(link("own"));
  view = new AllRows();
  main.append(...view.elements);
  await view.update(context.params);
}

/**
 * Show the rows of another decision.
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

class AllRows {
  #decision = "";
  #asking = new AbortController();
  /** @type {number | undefined} */
  #timer;
  #known = el("p", { class: "known soft" });
  #bar = el("progress", { class: "thin", max: 1, value: 0, "aria-label": "Rows explained" });
  #problem = el("div");
  #choices = choices();
  #plots = plots();
  #box = el(
    "div",
    { class: "plots" },
    Object.values(this.#plots).map((plot) => plot.element),
  );

  constructor() {
    const heading = el(
      "header",
      { class: "heading" },
      el("h1", {}, "All rows"),
      el("p", { class: "lead" }, LEAD),
    );
    const hidden = workspace.classes.length < 2;
    const choice = el("nav", { class: "switch", "aria-label": "Decision", hidden }, [
      ...this.#choices.values(),
    ]);
    const line = el("div", { class: "status-line" }, choice, this.#known, this.#bar);
    this.elements = [heading, line, this.#problem, this.#box];
  }

  /** @param {URLSearchParams} params */
  async update(params) {
    this.#decision = params.get("decision") ?? "";
    for (const [decision, choice] of this.#choices) {
      if (decision === this.#decision) choice.setAttribute("aria-current", "true");
      else choice.removeAttribute("aria-current");
    }
    await this.#load();
  }

  /** Stop asking. */
  stop() {
    this.#asking.abort();
    clearTimeout(this.#timer);
  }

  async #load(isAsked = true) {
    this.stop();
    this.#asking = new AbortController();
    this.#box.setAttribute("aria-busy", String(isAsked));
    try {
      const answer = await get("api/rows/summary", { decision: this.#decision }, this.#asking);
      if (view === this) this.#show(answer, isAsked);
    } catch (error) {
      if (view === this && !isAbort(error)) this.#problem.replaceChildren(failure(error, () => this.#load()));
    }
  }

  /**
   * @param {SummaryAnswer} answer
   * @param {boolean} isAsked whether the reader asked for it
   */
  #show(answer, isAsked) {
    const pending = this.#showProgress(answer);
    this.#problem.replaceChildren();
    this.#box.setAttribute("aria-busy", "false");
    const bars = barsOf(answer);
    // A link must not become another while somebody is about to follow it.
    const held = Object.values(this.#plots).filter((plot) => !isAsked && plot.isHeld);
    for (const name of /** @type {PlotName[]} */ (Object.keys(bars))) {
      const plot = this.#plots[name];
      if (!held.includes(plot)) plot.show(bars[name], this.#decision);
    }
    if (pending || held.length) this.#timer = setTimeout(() => this.#load(false), PAUSE);
  }

  /** @param {SummaryAnswer} answer */
  #showProgress({ total: n_rows, progress: { total, scored, explained } }) {
    const pending = explained < total || scored < total;
    const howFar = `explaining: ${count(explained)} of ${count(total)}`;
    this.#known.textContent = pending ? howFar : counted(n_rows, "row");
    this.#bar.value = total ? explained / total : 1;
    this.#bar.classList.toggle("done", !pending);
    return pending;
  }
}

/** The links to the rows of each decision, and to all. */
function choices() {
  const all = el("a", { href: link("all") }, "all decisions");
  const ofClass = (/** @type {string} */ name) =>
    el("a", { href: link("all", { decision: name }) }, named(name, 40));
  return new Map([
    ["", all],
    ...workspace.classes.map((name) => /** @type {const} */ ([name, ofClass(name)])),
  ]);
}

/** @returns {Record<PlotName, Plot>} */
function plots() {
  const [, several] = workspace.unit;
  return {
    features: new Plot({
      name: "features",
      title: `The ${several} that decisions hang on`,
      about: `How many explanations have each among their ${several}.`,
      expected: 12,
      shares: false,
    }),
    statuses: new Plot({
      name: "statuses",
      title: "How it went",
      about: "Whether an explanation was found.",
      expected: 3,
    }),
    proven: new Plot({
      name: "proven",
      title: "Proven smallest",
      about: "Whether it is proven that no smaller explanation exists.",
      expected: 2,
    }),
    sizes: new Plot({
      name: "sizes",
      title: "How many it takes",
      about: `How many ${several} an explanation has.`,
      expected: 4,
    }),
  };
}

/**
 * What each plot shows.
 * @param {SummaryAnswer} answer
 * @returns {Record<PlotName, import("./bars.js").Bar[]>}
 */
function barsOf({ features, sizes, statuses, n_found, n_proven }) {
  const there = STATUSES.filter(([status]) => statuses[status]);
  return {
    features: features.map(({ name, count: n }) => ({ name: named(name, 60), n, params: { feature: name } })),
    statuses: there.map(([status, name]) => ({ name, n: statuses[status], params: { status } })),
    proven: [
      { name: "proven smallest", n: n_proven, params: { proven: true } },
      { name: "not proven", n: n_found - n_proven, params: { proven: false } },
    ],
    sizes: sizesShown(sizes).map((size) => ({ name: String(size), n: sizes[size] ?? 0, params: { size } })),
  };
}
