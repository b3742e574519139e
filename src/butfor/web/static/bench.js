// One decision made tangible: take something away, and see what the model would have decided. Rows and texts of
// one's own are looked at with the same bench.

import { Answers } from "./answers.js";
import { desk, post } from "./api.js";
import { Comparison } from "./compare.js";
import { announce, busy, counted, el, failure, isAbort, named } from "./dom.js";
import { Evidence } from "./evidence.js";
import { Export } from "./export.js";
import { Scale } from "./scale.js";
import { SEARCH, Steps, inOrder, keyOf, paramsOf } from "./state.js";
import { nameOf, verdict } from "./words.js";

/**
 * A bench for `subject`, what is asked about: { row: 17 }, { text } or { items }. `keep(params)` writes the state into
 * the address; `signal` ends everything when the view is left.
 */
export class Bench {
  constructor({ subject, state, keep, name, signal }) {
    this.subject = subject;
    this.keep = keep;
    this.signal = signal;
    this.steps = new Steps(state);
    this.evidence = null;
    this.#build(name);
    this.#listen();
  }

  get state() {
    return this.steps.now;
  }

  get #question() {
    return { ...this.subject, protected: this.state.protected };
  }

  /** Score the row, draw it, then ask for its explanation. */
  async open() {
    try {
      await this.#read();
    } catch (error) {
      if (!isAbort(error)) this.problem.replaceChildren(failure(error, () => this.#again()));
      return;
    }
    await this.#explain();
  }

  #again() {
    this.problem.replaceChildren();
    return this.open();
  }

  async #read() {
    const ask = (removed) => busy((signal) => post("api/score", { ...this.#question, removed, units: true }, { signal }), null, "Scoring", this.signal);
    try {
      this.trial = await ask(inOrder(this.state.removed));
    } catch (error) {
      if (error.status !== 422 || !this.state.removed.size) throw error;
      this.steps.now = { ...this.state, removed: new Set() };
      this.trial = await ask([]);
      this.notice.textContent = `The link took away ${desk.unit[1]} that are not here any more: nothing is taken away now.`;
    }
    this.units = this.trial.units;
    this.#drawUnits();
    this.#showTrial();
    this.body.hidden = false;
  }

  #build(name) {
    this.problem = el("div", { class: "bench-problem" });
    this.sentence = el("p", { class: "sentence", dir: "auto" }, "…");
    this.proof = el("p", { class: "proof" });
    this.facts = el("p", { class: "facts" });
    this.reasons = el("ul", { class: "reasons", "aria-label": "The evidence" });
    this.scale = new Scale({ nClasses: desk.n_classes, classes: desk.classes });
    this.verdict = el("p", { class: "verdict" });
    this.taken = el("p", { class: "taken" });
    this.notice = el("p", { class: "notice", role: "status" });
    this.protectedList = el("div", { class: "protected" });
    this.box = el("div", { class: "box" });
    this.comparison = new Comparison({ onTake: (places, search) => this.#takeSet(places, `What ${search} takes away.`) });
    this.export = new Export({ explained: (signal) => this.#whole(signal), name });
    this.body = el("div", { class: "bench-body", hidden: true }, this.#main(), el("div", { class: "bench-side" }, this.export.element, this.comparison.element));
    this.element = el("div", { class: "bench" }, this.problem, this.body);
  }

  #main() {
    const answer = el("div", { class: "answer" }, this.sentence, this.proof, this.facts);
    const now = el("div", { class: "now" }, this.scale.element, this.verdict, this.taken);
    const hint = `Click a ${desk.unit[0]} to take it away or put it back. With keys: arrows move, Enter takes away, u undoes.`;
    return el("div", { class: "bench-main" }, answer, now, this.#tools(), this.notice, this.box,
      el("p", { class: "note" }, hint), this.reasons, this.protectedList);
  }

  #tools() {
    const button = (label, act, more = {}) => el("button", { type: "button", onclick: act, ...more }, label);
    this.smallestButton = button("Smallest explanation", () => this.#smallest(), { class: "primary" });
    this.anotherButton = button("Another one", () => this.#another());
    this.undoButton = button("Undo", () => this.#move("undo"), { "aria-keyshortcuts": "u Control+Z" });
    this.redoButton = button("Redo", () => this.#move("redo"), { "aria-keyshortcuts": "Shift+U Control+Y" });
    this.resetButton = button("Reset", () => this.#reset());
    this.protectButton = button("Never use this", () => this.#protect(this.units[this.evidence.current].name), { disabled: true, class: "protect" });
    const options = desk.searches.map(({ name, about }) => el("option", { value: name, title: about }, name));
    this.search = el("select", { onchange: () => this.#choose(this.search.value) }, options);
    this.search.value = this.state.search;
    return el("div", { class: "tools" }, this.smallestButton, this.anotherButton, el("span", { class: "pair" }, this.undoButton, this.redoButton, this.resetButton),
      this.protectButton, el("label", { class: "search" }, "Search ", this.search));
  }

  #listen() {
    const keys = (event) => {
      if (event.target.closest?.("input, textarea, select") || event.altKey || !this.units) return;
      const control = event.ctrlKey || event.metaKey;
      const key = event.key.toLowerCase();
      const redo = control ? key === "y" || (key === "z" && event.shiftKey) : event.key === "U";
      const undo = !redo && (control ? key === "z" : key === "u");
      if (!undo && !redo) return;
      event.preventDefault();
      this.#move(redo ? "redo" : "undo");
    };
    document.addEventListener("keydown", keys, { signal: this.signal });
  }

  #drawUnits() {
    this.evidence = new Evidence({
      text: this.trial.text,
      units: this.units,
      noun: desk.unit,
      onToggle: (place) => this.#toggle(place),
      onFocus: (place) => this.#pick(place),
    });
    this.box.replaceChildren(this.evidence.element);
    if (!this.units.length) this.box.append(el("p", { class: "note" }, `There is nothing here that the model knows: no ${desk.unit[1]} to take away.`));
  }

  #pick(place) {
    this.protectButton.disabled = this.#locked.has(place);
    this.protectButton.textContent = `Never use “${[...nameOf(this.units[place].name)].slice(0, 24).join("")}”`;
  }

  get #locked() {
    const never = new Set(this.state.protected);
    return new Set(this.units.flatMap((unit, place) => (unit.removable && !never.has(unit.name) ? [] : [place])));
  }

  // What a reader does.

  #toggle(place) {
    const removed = new Set(this.state.removed);
    if (!removed.delete(place)) removed.add(place);
    this.#step({ removed });
  }

  #takeSet(places, told) {
    this.notice.textContent = told;
    this.#step({ removed: new Set(places) });
  }

  #reset() {
    this.notice.textContent = "";
    this.#step({ removed: new Set(), protected: [], search: SEARCH });
  }

  #protect(name) {
    const removed = new Set([...this.state.removed].filter((place) => this.units[place]?.name !== name));
    announce(`${nameOf(name)} is never used from now on.`);
    this.#step({ removed, protected: [...this.state.protected, name] });
  }

  #release(name) {
    this.#step({ protected: this.state.protected.filter((other) => other !== name) });
    this.smallestButton.focus();
  }

  #choose(search) {
    this.#step({ search });
  }

  #step(change) {
    const before = this.state;
    if (this.steps.take(change)) this.#changed(before);
  }

  #move(way) {
    const before = this.state;
    this.steps[way]();
    this.#changed(before);
  }

  /** Bring the page up to date after a step; ask again only what the step made uncertain. */
  #changed(before) {
    this.keep(paramsOf(this.state));
    this.#mark();
    const asksAnew = before.search !== this.state.search || String(before.protected) !== String(this.state.protected);
    this.search.value = this.state.search;
    if (keyOf(before.removed) !== keyOf(this.state.removed)) this.#score();
    if (asksAnew) this.#explain();
  }

  // What the page shows.

  #mark() {
    const evidence = new Set(this.answer?.places ?? []);
    this.evidence.show({ removed: this.state.removed, evidence, locked: this.#locked });
    this.undoButton.disabled = !this.steps.canUndo;
    this.redoButton.disabled = !this.steps.canRedo;
    this.#showProtected();
  }

  #showTrial() {
    const { score, score_without, threshold, flipped } = this.trial;
    const n = this.state.removed.size;
    this.scale.show({ score, without: score_without, threshold, changed: n > 0 });
    this.verdict.textContent = verdict(this.trial, n);
    this.verdict.classList.toggle("flipped", flipped);
    this.taken.textContent = `${n} of ${counted(this.units.length, ...desk.unit)} taken away`;
    this.#mark();
    this.#showExport();
  }

  #showAnswer() {
    this.sentence.textContent = this.answer.sentence;
    this.proof.textContent = this.answer.proof;
    this.facts.textContent = this.answer.facts;
    const never = (name) => el("button", { type: "button", class: "small", onclick: () => this.#protect(name) }, "never use", el("span", { class: "unseen" }, ` ${nameOf(name)}`));
    this.reasons.replaceChildren(...this.answer.features.map((name) => el("li", { class: "chip" }, named(name, 60), never(name))));
    this.#mark();
    this.#showExport();
  }

  #showProtected() {
    const chip = (name) => el("li", { class: "chip" }, named(name, 60), el("button", { type: "button", class: "small", onclick: () => this.#release(name) }, "allow again", el("span", { class: "unseen" }, ` ${nameOf(name)}`)));
    const names = this.state.protected;
    this.protectedList.replaceChildren(...(names.length ? [el("span", { class: "note" }, "Never used:"), el("ul", { class: "reasons", "aria-label": "Never used" }, names.map(chip))] : []));
  }

  /** What is on the page now, as an explanation: that of a search, or one's own set where it flips the decision. */
  get #shown() {
    const { removed } = this.state;
    if (!removed.size) return this.answer?.status === "found" ? this.answers.known.get(keyOf(this.answer.places)) : null;
    return this.answers?.known.get(keyOf(removed)) ?? (this.trial.flipped ? this.trial.explanation : null);
  }

  #showExport() {
    const whyNot = this.state.removed.size
      ? `without what you took away, the decision stays. Take more away, or press Smallest explanation.`
      : this.answer ? this.answer.sentence : "the search has not answered yet.";
    this.export.show(this.#shown, whyNot);
  }

  /** The explanation on the page with its letter and its page. */
  async #whole(signal) {
    const shown = this.#shown;
    if (shown.page) return shown;
    const body = { ...this.#question, removed: inOrder(this.state.removed), include: ["letter", "page"] };
    return (await post("api/score", body, { signal })).explanation;
  }

  // What the server is asked.

  /** Score what is left; of several clicks in a row the last one counts. */
  async #score() {
    this.scoring?.abort();
    this.scoring = new AbortController();
    const { signal } = this.scoring;
    this.problem.replaceChildren();
    try {
      const trial = await this.#trial(signal);
      if (signal.aborted) return;
      this.trial = { ...trial, units: null };
      this.#showTrial();
      announce(this.verdict.textContent);
    } catch (error) {
      if (signal.aborted) return;
      if (isAbort(error)) this.notice.textContent = "Stopped: the score is that of before.";
      else this.problem.replaceChildren(failure(error, () => this.#score()));
    }
  }

  async #trial(signal) {
    const { score, decision } = this.trial;
    if (!this.state.removed.size) return { ...this.trial, score_without: score, decision_without: decision, flipped: false, explanation: null };
    const body = { ...this.#question, removed: inOrder(this.state.removed) };
    return busy((inner) => post("api/score", body, { signal: inner }), null, "Scoring", AbortSignal.any([signal, this.signal]));
  }

  /** Ask the search; nothing is taken away. Gives whether there is an answer. */
  async #explain() {
    this.searching?.abort();
    this.searching = new AbortController();
    const signal = AbortSignal.any([this.searching.signal, this.signal]);
    const answers = new Answers(this.#question);
    this.comparison.about(this.#question, signal);
    this.sentence.classList.add("waiting");
    try {
      const answer = await busy((inner) => answers.smallest(this.state.search, inner), this.smallestButton, "Searching", signal);
      if (signal.aborted) return false;
      Object.assign(this, { answers, answer, first: answer });
      this.#showAnswer();
      announce(answer.sentence);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#explainFailed(error);
      return false;
    } finally {
      if (!signal.aborted) this.sentence.classList.remove("waiting");
    }
  }

  #explainFailed(error) {
    this.answer = null;
    this.sentence.textContent = isAbort(error) ? "Stopped. Press Smallest explanation to search again." : "There is no explanation yet.";
    for (const part of [this.proof, this.facts, this.reasons]) part.replaceChildren();
    if (!isAbort(error)) this.problem.replaceChildren(failure(error, () => this.#explain()));
    this.#mark();
    this.#showExport();
  }

  async #smallest() {
    if (!this.first && !(await this.#explain())) return;
    this.answer = this.first;
    this.#showAnswer();
    if (this.answer.status === "found") this.#takeSet(this.answer.places, this.answer.proof);
    else this.notice.textContent = this.answer.sentence;
  }

  async #another() {
    if (!this.answers && !(await this.#explain())) return;
    const answers = this.answers;
    const shown = this.answer?.status === "found" ? keyOf(this.answer.places) : "";
    try {
      const { why, told } = await busy((signal) => answers.another(shown, signal), this.anotherButton, "Searching", this.signal);
      if (answers !== this.answers) return;
      this.notice.textContent = told;
      if (!why) return;
      this.answer = why;
      this.#showAnswer();
      this.#takeSet(why.places, told);
    } catch (error) {
      if (!isAbort(error)) this.problem.replaceChildren(failure(error, () => this.#another()));
    }
  }
}
