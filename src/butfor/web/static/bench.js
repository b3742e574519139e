// One decision made tangible: take something away, and see what the model would have decided. Rows and texts of
// one's own are looked at with the same bench.

import { Answers } from "./answers.js";
import { Problem, desk } from "./api.js";
import { Comparison } from "./compare.js";
import { announce, busy, counted, failure, isAbort } from "./dom.js";
import { Export } from "./export.js";
import { Sheet } from "./sheet.js";
import { SEARCH, Steps, areUnnamed, columnOf, inOrder, keyOf, paramsOf, stepAsked } from "./state.js";
import { lockedOf, readRow, tryWithout, untouched } from "./trials.js";
import { nameOf, positiveOf, proofOf } from "./words.js";

/**
 * A bench for `subject`, what is asked about: { row: 17 }, { text } or { items }. `keep(params)` writes the state into
 * the address; `signal` ends everything when the view is left.
 */
export class Bench {
  constructor({ subject, state, keep, name, signal }) {
    Object.assign(this, { subject, keep, signal });
    this.steps = new Steps(state);
    const onTake = (places, search) => this.#take(places, `What ${search} takes away.`);
    this.comparison = new Comparison({ search: state.search, onTake, onChoose: (search) => this.#step({ search }) });
    this.export = new Export({ explained: (inner) => this.#whole(inner), name });
    this.sheet = new Sheet({ acts: this.#acts(), below: this.comparison.element, side: this.export.element });
    this.element = this.sheet.element;
    document.addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  get state() {
    return this.steps.now;
  }

  get #question() {
    const names = this.state.protected;
    return { ...this.subject, protected: this.isUnnamed ? names.map(columnOf) : names };
  }

  /** Score the row, draw it, then ask for its explanation. */
  async open() {
    this.sheet.problem.replaceChildren();
    try {
      await this.#read();
    } catch (error) {
      if (!this.signal.aborted) this.#fail(error, () => this.open());
      return;
    }
    await this.#explain();
  }

  async #read() {
    const wanted = inOrder(this.state.removed);
    const { trial, removed } = await this.#patiently((signal) => readRow(this.subject, wanted, this.state.protected, signal), null, "Scoring");
    if (removed.length < wanted.length) this.sheet.notice.textContent = `Some ${desk.unit[1]} of the link cannot be taken away here.`;
    this.trial = trial;
    this.units = trial.units;
    this.isUnnamed = desk.kind === "items" && areUnnamed(this.units.map(({ name }) => name));
    this.steps.now = { ...this.state, removed: new Set(removed) };
    this.sheet.draw(trial.text, this.units);
    this.#showTrial();
  }

  #patiently(work, button, label, ...signals) {
    return busy(work, button, label, AbortSignal.any([this.signal, ...signals]));
  }

  #fail(error, again) {
    if (!isAbort(error)) this.sheet.problem.replaceChildren(failure(error, again));
    else this.sheet.notice.textContent = "Stopped.";
  }

  // What a reader does.

  #acts() {
    return {
      toggle: (place) => this.#toggle(place),
      smallest: () => this.#smallest(),
      another: () => this.#another(),
      undo: () => this.#move("undo"),
      redo: () => this.#move("redo"),
      reset: () => this.#reset(),
      protect: (name) => this.#protect(name),
      release: (name) => this.#release(name),
    };
  }

  #key(event) {
    const way = this.units ? stepAsked(event) : null;
    if (way === null) return;
    event.preventDefault();
    this.#move(way);
  }

  #toggle(place) {
    const removed = new Set(this.state.removed);
    if (!removed.delete(place)) removed.add(place);
    this.sheet.notice.textContent = "";
    this.#step({ removed });
  }

  #take(places, told) {
    this.sheet.notice.textContent = told;
    this.#step({ removed: new Set(places) });
  }

  #reset() {
    this.sheet.notice.textContent = "";
    this.#step({ removed: new Set(), protected: [], search: SEARCH });
  }

  #protect(name) {
    if (this.state.protected.includes(name)) return;
    const removed = new Set([...this.state.removed].filter((place) => this.units[place].name !== name));
    this.sheet.notice.textContent = `Never used from now on: ${nameOf(name)}.`;
    this.#step({ removed, protected: [...this.state.protected, name] });
    if (document.activeElement === document.body) this.sheet.smallestButton.focus();
  }

  #release(name) {
    this.sheet.notice.textContent = "";
    this.#step({ protected: this.state.protected.filter((other) => other !== name) });
    this.sheet.smallestButton.focus();
  }

  #step(change) {
    const before = this.state;
    if (this.steps.take(change)) this.#changed(before);
  }

  #move(way) {
    const before = this.state;
    this.sheet.notice.textContent = "";
    this.steps[way]();
    if (this.state !== before) this.#changed(before);
  }

  /** Bring the page up to date after a step; ask again only what the step made uncertain. */
  #changed(before) {
    this.keep(paramsOf(this.state));
    this.comparison.search.value = this.state.search;
    this.#follow();
    this.#mark();
    if (keyOf(before.removed) !== keyOf(this.state.removed)) this.scored = this.#score();
    const asksAnew = before.search !== this.state.search || before.protected.join("\n") !== this.state.protected.join("\n");
    if (asksAnew) this.#explain();
  }

  // What the page shows.

  /** Speak of the explanation that a step leads to, as on the way back through alternatives. */
  #follow() {
    const { removed } = this.state;
    const known = removed.size ? this.answers?.known.get(keyOf(removed)) : this.first;
    if (known && known !== this.answer) this.#showAnswer(known);
  }

  #mark() {
    const evidence = new Set(this.answer?.places ?? []);
    const { canUndo, canRedo } = this.steps;
    this.sheet.mark({ removed: this.state.removed, evidence, locked: lockedOf(this.units, this.state.protected), canUndo, canRedo });
    this.sheet.showProtected(this.state.protected);
  }

  #showTrial() {
    this.sheet.showTrial(this.trial, this.state.removed.size);
    this.#mark();
    this.#showExport();
  }

  #showAnswer(answer) {
    this.answer = answer;
    this.sheet.showAnswer(answer);
    this.#mark();
    this.#showExport();
  }

  /** What is on the page now, as an explanation: that of a search, or one's own set where it flips the decision. */
  get #shown() {
    const { removed } = this.state;
    if (!removed.size) return this.answer;
    return this.answers?.known.get(keyOf(removed)) ?? (this.trial.flipped ? this.trial.explanation : null);
  }

  #showExport() {
    const stays = "without what you took away, the decision stays. Take more away, or press Smallest explanation.";
    this.export.show(this.#shown, this.state.removed.size ? stays : "there is no answer yet.");
  }

  /** The explanation on the page with its letter and its page. */
  async #whole(signal) {
    await this.scored;
    const shown = this.#shown;
    if (!shown) throw new Problem({ title: "Nothing to export", detail: "Without what you took away, the decision stays." });
    if (shown.page) return shown;
    return (await tryWithout(this.#question, inOrder(this.state.removed), ["letter", "page"], signal)).explanation;
  }

  // What the server is asked.

  /** Score what is left; of several clicks in a row the last one counts. */
  async #score() {
    this.scoring?.abort();
    const { signal } = (this.scoring = new AbortController());
    this.sheet.problem.replaceChildren();
    try {
      const trial = await this.#trial(signal);
      if (signal.aborted) return;
      this.trial = trial;
      this.#showTrial();
      announce(this.sheet.verdict.textContent);
    } catch (error) {
      if (signal.aborted || this.signal.aborted) return;
      this.trial = untouched(this.trial);
      this.sheet.showUnscored(this.state.removed.size);
      this.#showExport();
      this.#fail(error, () => (this.scored = this.#score()));
    }
  }

  #trial(signal) {
    const removed = inOrder(this.state.removed);
    if (!removed.length) return untouched(this.trial);
    return this.#patiently((inner) => tryWithout(this.#question, removed, [], inner), null, "Scoring", signal);
  }

  /** Ask the search; nothing is taken away. Gives whether there is an answer. */
  async #explain() {
    this.searching?.abort();
    const { signal } = (this.searching = new AbortController());
    const answers = new Answers(this.#question);
    this.comparison.about(this.#question, AbortSignal.any([signal, this.signal]), positiveOf(this.trial));
    Object.assign(this, { answers: null, first: null });
    this.sheet.sentence.classList.add("waiting");
    try {
      const answer = await this.#patiently((inner) => answers.smallest(this.state.search, inner), this.sheet.smallestButton, "Searching", signal);
      Object.assign(this, { answers, first: answer });
      this.sheet.sentence.classList.remove("waiting");
      this.#showAnswer(answer);
      announce(answer.sentence);
      return true;
    } catch (error) {
      if (!signal.aborted && !this.signal.aborted) this.#explainFailed(error);
      return false;
    }
  }

  #explainFailed(error) {
    this.answer = null;
    this.sheet.sentence.classList.remove("waiting");
    this.sheet.showNoAnswer("There is no explanation yet. Press Smallest explanation to search.");
    this.#fail(error, () => this.open());
    this.#mark();
    this.#showExport();
  }

  async #smallest() {
    if (!this.first && !(await this.#explain())) return;
    this.#showAnswer(this.first);
    const { status, places, reason, size } = this.first;
    if (status === "found") this.#take(places, `Taken away: ${counted(size, ...desk.unit)}, ${proofOf(this.first)}.`);
    else this.sheet.notice.textContent = `There is nothing to take away${reason ? `: ${nameOf(reason)}` : ""}.`;
  }

  async #another() {
    if (!this.first && !(await this.#explain())) return;
    const answers = this.answers;
    try {
      const { why, told } = await this.#patiently((signal) => answers.another(signal), this.sheet.anotherButton, "Searching", this.searching.signal);
      this.sheet.notice.textContent = told;
      if (!why) return;
      this.#showAnswer(why);
      this.#take(why.places, told);
    } catch (error) {
      if (!this.searching.signal.aborted && !this.signal.aborted) this.#fail(error, () => this.#another());
    }
  }
}
