// One decision made tangible: take something away, and see what the model would have decided. Rows and texts of
// one's own are looked at in the same way.

import { Acts } from "./acts.js";
import { Problem } from "./api.js";
import { Comparison } from "./compare.js";
import { announce, failure, isAbort } from "./dom.js";
import { Export } from "./export.js";
import { counted } from "./numbers.js";
import { Scoring } from "./scoring.js";
import { Searching } from "./searching.js";
import { Sheet } from "./sheet.js";
import { Showing } from "./showing.js";
import { areUnnamed, asksTheSame, inOrder, keyOf, paramsOf, questionOf } from "./state.js";
import { nameOf } from "./text.js";
import { tryWithout } from "./trials.js";
import { positiveOf, proofOf } from "./words.js";
import { workspace } from "./workspace.js";

const NOTHING = { title: "Nothing to export", detail: "Without what you took away, the decision stays." };

/**
 * A what-if on one row: `Acts` is what the reader does, `Scoring` and `Searching` ask the server, `Showing` brings the
 * page up to date.
 */
export class WhatIf {
  /** Done once what is left has been scored.
   * @type {Promise<void>} */
  #scored = Promise.resolve();

  /**
   * `subject` is what is asked about: { row: 17 }, { text }, { items } or { record }. `keep(params)` writes the state into the
   * address; `signal` ends everything when the view is left.
   * @param {{
   *   subject: Subject,
   *   state: State,
   *   keep: (params: [name: string, value: string][]) => void,
   *   name: string,
   *   signal: AbortSignal,
   * }} options
   */
  constructor({ subject, state, keep, name, signal }) {
    this.keep = keep;
    this.signal = signal;
    this.scoring = new Scoring(subject, signal);
    this.searching = new Searching(workspace.unit[1], signal);
    this.acts = new Acts({
      state,
      tell: (text) => this.#tell(text),
      onStep: (before) => this.#changed(before),
    });
    this.comparison = new Comparison({
      search: state.search,
      onTake: (places, search) => this.acts.take(places, `What ${search} takes away.`),
      onChoose: (search) => this.acts.choose(search),
    });
    const exports = new Export({ explained: (inner) => this.#whole(inner), name });
    this.sheet = new Sheet({ acts: this.#buttons(), below: this.comparison.element, side: exports.element });
    this.showing = new Showing({ ...this, exports });
    this.element = this.sheet.element;
    document.addEventListener("keydown", (event) => this.scoring.trial && this.acts.key(event), { signal });
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
    const { removed: wanted } = this.acts.state;
    const removed = await this.scoring.read(this.acts.state);
    if (removed.size < wanted.size)
      this.#tell(`Some ${workspace.unit[1]} of the link cannot be taken away here.`);
    this.acts.begin(this.scoring.units, removed);
    const { text = null, table = null } = this.scoring.trial ?? {};
    this.sheet.draw(text, this.scoring.units, table ?? []);
    this.showing.trial();
  }

  /** @returns {Buttons} */
  #buttons() {
    return {
      toggle: (place) => this.acts.toggle(place),
      smallest: () => this.#smallest(),
      another: () => this.#another(),
      undo: () => this.acts.move("undo"),
      redo: () => this.acts.move("redo"),
      reset: () => this.acts.reset(),
      protect: (name) => {
        this.acts.protect(name);
        if (document.activeElement === document.body) this.sheet.smallestButton.focus();
      },
      release: (name) => {
        this.acts.release(name);
        this.sheet.smallestButton.focus();
      },
    };
  }

  /** @param {string} text */
  #tell(text) {
    this.sheet.notice.textContent = text;
  }

  /**
   * @param {unknown} error
   * @param {() => unknown} again
   */
  #fail(error, again) {
    if (isAbort(error)) this.#tell("Stopped.");
    else this.sheet.problem.replaceChildren(failure(error, again));
  }

  /**
   * Bring the page up to date after a step; ask again only what the step made uncertain.
   * @param {State} before
   */
  #changed(before) {
    const now = this.acts.state;
    this.keep(paramsOf(now));
    this.comparison.search.value = now.search;
    this.showing.follow();
    this.showing.mark();
    if (keyOf(before.removed) !== keyOf(now.removed)) this.#scored = this.#score();
    if (!asksTheSame(before, now)) this.#explain();
  }

  get #question() {
    const { subject, units } = this.scoring;
    const isUnnamed = workspace.kind === "items" && areUnnamed(units.map(({ name }) => name));
    return questionOf(subject, this.acts.state.protected, isUnnamed);
  }

  /** Score what is left; of several clicks in a row the last one counts. */
  async #score() {
    this.sheet.problem.replaceChildren();
    try {
      if (!(await this.scoring.score(this.#question, this.acts.state.removed))) return;
      this.showing.trial();
      announce(this.sheet.verdict.textContent ?? "");
    } catch (error) {
      this.showing.unscored();
      this.#fail(error, () => (this.#scored = this.#score()));
    }
  }

  /** Ask the search; nothing is taken away. Return its answer, or null where there is none. */
  async #explain() {
    const signal = this.searching.begin();
    const question = this.#question;
    const { trial } = this.scoring;
    this.comparison.about(question, signal, trial ? positiveOf(trial, workspace.classes) : "");
    this.sheet.wait(true);
    try {
      const { search } = this.acts.state;
      const answer = await this.searching.smallest(question, search, this.sheet.smallestButton, signal);
      this.sheet.wait(false);
      this.showing.answer(answer);
      announce(answer.sentence);
      return answer;
    } catch (error) {
      if (signal.aborted) return null;
      this.sheet.wait(false);
      this.showing.noAnswer();
      this.#fail(error, () => this.open());
      return null;
    }
  }

  async #smallest() {
    const first = this.searching.first ?? (await this.#explain());
    if (!first) return;
    this.showing.answer(first);
    const { status, places, reason, size } = first;
    if (status === "found")
      this.acts.take(places, `Taken away: ${counted(size, ...workspace.unit)}, ${proofOf(first)}.`);
    else this.#tell(`There is nothing to take away${reason ? `: ${nameOf(reason)}` : ""}.`);
  }

  async #another() {
    if (!this.searching.first && !(await this.#explain())) return;
    try {
      const next = await this.searching.another(this.sheet.anotherButton);
      if (!next) return;
      this.#tell(next.told);
      if (!next.why) return;
      this.showing.answer(next.why);
      this.acts.take(next.why.places, next.told);
    } catch (error) {
      this.#fail(error, () => this.#another());
    }
  }

  /**
   * The explanation on the page with its letter and its page.
   * @param {AbortSignal} signal
   */
  async #whole(signal) {
    await this.#scored;
    const shown = this.showing.explanation;
    if (shown?.page) return shown;
    const removed = inOrder(this.acts.state.removed);
    const trial = shown && (await tryWithout(this.#question, removed, ["letter", "page"], signal));
    if (trial?.explanation) return trial.explanation;
    throw new Problem(NOTHING);
  }
}
