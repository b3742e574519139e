// All searches on one row, side by side. Each is asked by itself, so that the table fills while one looks at it.

import { post } from "./api.js";
import { busy } from "./busy.js";
import { announce, el, failure, isAbort, named } from "./dom.js";
import { amount, count, decimals, seconds } from "./numbers.js";
import { nameOf } from "./text.js";
import { scoreOf } from "./words.js";
import { workspace } from "./workspace.js";

const HEADINGS = ["Search", "Size", "Score after", "Scorings", "Time", "Proven", "What it takes away"];
const NUMERIC = new Set(["Size", "Score after", "Scorings", "Time"]);
const ABOUT = new Map(workspace.searches.map(({ name, about }) => [name, about]));
const HINT = "Every search on this row, side by side.";
const LISTED = 10;

/** Which search answers, and a table of all; `onTake(places, search)` is called for the set that a reader wants to see. */
export class Comparison {
  search = el("select");
  #button = el("button", { type: "button", onclick: () => this.run() }, "Compare searches");
  #told = el("span", { class: "note" }, HINT);
  #place = el("div", {
    class: "table-box",
    hidden: true,
    tabindex: "0",
    role: "region",
    "aria-label": "Comparison of searches",
  });
  #problem = el("div");
  /** @type {SearchAnswer[]} */
  #results = [];
  /** @type {Map<string, HTMLElement>} */
  #rows = new Map();
  /** @type {Question | null} */
  #question = null;
  #signal = AbortSignal.abort();
  #positive = "";

  /**
   * @param {{
   *   search: string,
   *   onTake: (places: number[], search: string) => void,
   *   onChoose: (search: string) => void,
   * }} options
   */
  constructor({ search, onTake, onChoose }) {
    this.onTake = onTake;
    const usual = el("option", { value: "" }, "the usual search");
    this.search.append(
      usual,
      ...Array.from(ABOUT, ([name, title]) => el("option", { value: name, title }, name)),
    );
    this.search.addEventListener("change", () => onChoose(this.search.value));
    this.search.value = search;
    this.element = el(
      "section",
      { class: "panel compare", "aria-label": "Searches compared" },
      el("h2", {}, "Searches"),
      el("label", { class: "line" }, "The answer comes from", this.search),
      el("p", { class: "line" }, this.#button, this.#told),
      this.#problem,
      this.#place,
    );
  }

  /**
   * Take the row that is meant, and whose score it has; what was found for another one goes.
   * @param {Question} question
   * @param {AbortSignal} signal
   * @param {string} positive
   */
  about(question, signal, positive) {
    this.#question = question;
    this.#signal = signal;
    this.#positive = positive;
    this.#place.hidden = true;
    this.#told.textContent = HINT;
    this.#problem.replaceChildren();
  }

  /** Ask all searches, one after the other. */
  async run() {
    if (this.#button.getAttribute("aria-disabled") === "true") return;
    const about = this.#signal;
    this.#start();
    try {
      await busy((signal) => this.#fill(signal), this.#button, "Comparing searches", about);
    } catch (error) {
      if (about.aborted) return;
      if (!isAbort(error)) this.#problem.replaceChildren(failure(error, () => this.run()));
      this.#told.textContent = "Stopped.";
    }
    this.#markSmallest();
  }

  #start() {
    this.#results = [];
    this.#problem.replaceChildren();
    this.#rows = new Map(Array.from(ABOUT, ([name, about]) => [name, emptyRow(name, about)]));
    const after = `S${scoreOf(this.#positive).slice(1)} after`;
    const heads = HEADINGS.map((name) =>
      el("th", { scope: "col", class: numeric(name) }, name === "Score after" ? after : name),
    );
    const body = el("tbody", {}, ...this.#rows.values());
    this.#place.replaceChildren(
      el("table", { class: "plain searches" }, el("thead", {}, el("tr", {}, heads)), body),
    );
    this.#place.hidden = false;
  }

  /** @param {AbortSignal} signal */
  async #fill(signal) {
    const names = [...ABOUT.keys()];
    const { max_seconds, max_size } = workspace.limits;
    const limits = { max_seconds: max_seconds / names.length, max_size };
    for (const [i, name] of names.entries()) {
      this.#told.textContent = `${i + 1} of ${names.length}: ${name}`;
      const body = { ...this.#question, ...limits, searches: [name] };
      /** @type {{ searches: SearchAnswer[] }} */
      const { searches } = await post("api/compare", body, { signal });
      for (const result of searches) this.#show(result);
    }
    this.#told.textContent = `${names.length} searches compared.`;
    announce(this.#told.textContent);
  }

  /** @param {SearchAnswer} result */
  #show(result) {
    this.#results.push(result);
    const { search, places } = result;
    const onclick = () => this.onTake(places, search);
    const take = el("button", { type: "button", class: "small", onclick }, search);
    const name = result.status === "found" ? take : search;
    const title = ABOUT.get(search) ?? "";
    this.#rows.get(search)?.replaceChildren(el("th", { scope: "row", title }, name), ...cellsOf(result));
  }

  #markSmallest() {
    const found = this.#results.filter(({ status }) => status === "found");
    const least = Math.min(...found.map(({ size }) => size));
    for (const { search, size } of found) {
      const row = this.#rows.get(search);
      if (size !== least || !row) continue;
      row.classList.add("smallest");
      row.children[1].prepend(el("span", { class: "badge" }, "smallest"), " ");
    }
  }
}

/** @param {string} heading */
function numeric(heading) {
  return NUMERIC.has(heading) ? "number" : null;
}

/**
 * @param {string} name
 * @param {string} about
 */
function emptyRow(name, about) {
  const rest = HEADINGS.slice(1).map((heading) => el("td", { class: numeric(heading) }, "…"));
  return el("tr", {}, el("th", { scope: "row", title: about }, name), rest);
}

/** @param {SearchAnswer} result */
function cellsOf(result) {
  const { size, score_without: score, features, n_scored, seconds: time, error, reason } = result;
  const found = result.status === "found";
  return [
    el("td", { class: "number size" }, found ? count(size) : "–"),
    el("td", { class: "number" }, found && score !== null ? decimals(score)[0] : "–"),
    el("td", { class: "number" }, count(n_scored)),
    el("td", { class: "number" }, seconds(time)),
    el("td", {}, provenOf(result)),
    el("td", { class: "features" }, found ? list(features) : nameOf(error ?? reason)),
  ];
}

/** @param {SearchAnswer} result */
function provenOf({ status, error, proven, lower_bound }) {
  if (error) return "failed";
  if (status === "none") return "yes: none possible";
  if (status !== "found") return "no";
  if (proven) return "yes";
  return lower_bound !== null && lower_bound > 1 ? `no, at least ${amount(lower_bound)} needed` : "no";
}

/** @param {string[]} features */
function list(features) {
  const shown = features.slice(0, LISTED).flatMap((name, i) => [i ? ", " : "", named(name, 60)]);
  return features.length > LISTED ? [...shown, ` and ${features.length - LISTED} more`] : shown;
}
