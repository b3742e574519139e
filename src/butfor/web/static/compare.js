// All searches on one row, side by side. Each is asked by itself, so that the table fills while one looks at it.

import { desk, post } from "./api.js";
import { announce, busy, count, decimals, el, failure, isAbort, named, seconds } from "./dom.js";
import { nameOf, scoreOf } from "./words.js";

const HEADINGS = ["Search", "Size", "Score after", "Scorings", "Time", "Proven", "What it takes away"];
const NUMERIC = new Set(["Size", "Score after", "Scorings", "Time"]);

/** Which search answers, and a table of all; `onTake(places, search)` is called for the set that a reader wants to see. */
export class Comparison {
  constructor({ search, onTake, onChoose }) {
    this.onTake = onTake;
    const options = desk.searches.map(({ name, about }) => el("option", { value: name, title: about }, name));
    this.search = el("select", { onchange: () => onChoose(this.search.value) }, el("option", { value: "" }, "the usual search"), options);
    this.search.value = search;
    this.button = el("button", { type: "button", onclick: () => this.run() }, "Compare searches");
    this.told = el("span", { class: "note" }, "Every search on this row, side by side.");
    this.place = el("div", { class: "table-box", hidden: true, tabindex: "0", role: "region", "aria-label": "Comparison of searches" });
    this.problem = el("div");
    this.element = el("section", { class: "panel compare", "aria-label": "Searches compared" }, el("h2", {}, "Searches"),
      el("label", { class: "line" }, "The answer comes from", this.search), el("p", { class: "line" }, this.button, this.told), this.problem, this.place);
  }

  /** Tell which row is meant, and whose score it has; what was found for another one goes. */
  about(question, signal, positive) {
    this.question = question;
    this.positive = positive;
    this.signal = signal;
    this.place.hidden = true;
    this.told.textContent = "Every search on this row, side by side.";
    this.problem.replaceChildren();
  }

  async run() {
    if (this.button.getAttribute("aria-disabled") === "true") return;
    const about = this.signal;
    this.#start();
    try {
      await busy((signal) => this.#fill(signal), this.button, "Comparing searches", about);
    } catch (error) {
      if (about.aborted) return;
      if (!isAbort(error)) this.problem.replaceChildren(failure(error, () => this.run()));
      this.told.textContent = "Stopped.";
    }
    this.#markSmallest();
  }

  #start() {
    this.results = [];
    this.problem.replaceChildren();
    this.rows = new Map(desk.searches.map(({ name, about }) => [name, emptyRow(name, about)]));
    const titles = { "Score after": `S${scoreOf(this.positive).slice(1)} after` };
    const heads = HEADINGS.map((name) => el("th", { scope: "col", class: NUMERIC.has(name) ? "number" : null }, titles[name] ?? name));
    this.place.replaceChildren(el("table", { class: "plain searches" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, ...this.rows.values())));
    this.place.hidden = false;
  }

  async #fill(signal) {
    const names = desk.searches.map(({ name }) => name);
    const limits = { max_seconds: desk.limits.max_seconds / names.length, max_size: desk.limits.max_size };
    for (const [i, name] of names.entries()) {
      this.told.textContent = `${i + 1} of ${names.length}: ${name}`;
      const { searches } = await post("api/compare", { ...this.question, ...limits, searches: [name] }, { signal });
      for (const result of searches) this.#show(result);
    }
    this.told.textContent = `${names.length} searches compared.`;
    announce(this.told.textContent);
  }

  #show(result) {
    this.results.push(result);
    const found = result.status === "found";
    const take = el("button", { type: "button", class: "small", onclick: () => this.onTake(result.places, result.search) }, result.search);
    const about = desk.searches.find(({ name }) => name === result.search)?.about ?? "";
    const cells = [
      el("th", { scope: "row", title: about }, found ? take : result.search),
      el("td", { class: "number size" }, found ? count(result.size) : "–"),
      number(found ? decimals(result.score_without)[0] : "–"),
      number(count(result.n_scored ?? 0)),
      number(seconds(result.seconds ?? 0)),
      el("td", {}, proven(result)),
      el("td", { class: "features" }, found ? list(result.features) : nameOf(result.error ?? result.reason ?? "nothing found")),
    ];
    this.rows.get(result.search)?.replaceChildren(...cells);
  }

  #markSmallest() {
    const found = this.results.filter(({ status }) => status === "found");
    const least = Math.min(...found.map(({ size }) => size));
    for (const { search, size } of found) {
      if (size !== least) continue;
      const row = this.rows.get(search);
      row.classList.add("smallest");
      row.children[1].prepend(el("span", { class: "badge" }, "smallest"), " ");
    }
  }
}

function emptyRow(name, about) {
  const rest = HEADINGS.slice(1).map((heading) => el("td", { class: NUMERIC.has(heading) ? "number" : null }, "…"));
  return el("tr", {}, el("th", { scope: "row", title: about }, name), rest);
}

function number(text) {
  return el("td", { class: "number" }, text);
}

function proven(result) {
  if (result.error) return "failed";
  if (result.status === "found") return result.proven ? "yes" : result.lower_bound > 1 ? `no, at least ${result.lower_bound} needed` : "no";
  return result.status === "none" ? "yes: none possible" : "no";
}

function list(features) {
  const shown = features.slice(0, 10).flatMap((name, i) => [i ? ", " : "", named(name, 60)]);
  return features.length > 10 ? [...shown, ` and ${features.length - 10} more`] : shown;
}
