// What the page says of a row as the reader left it: which explanation the sentence and the exports are about.

import { lockedOf } from "./trials.js";

const STAYS =
  "without what you took away, the decision stays. Take more away, or press Smallest explanation.";
const NOTHING_YET = "there is no answer yet.";
const NO_ANSWER = "There is no explanation yet. Press Smallest explanation to search.";

/** Brings the sheet and the exports up to date with what the reader did and what the server said. */
export class Showing {
  /** The explanation that the sentence on the page is about.
   * @type {Explained | null} */
  #answer = null;

  /**
   * @param {{
   *   sheet: import("./sheet.js").Sheet,
   *   exports: import("./export.js").Export,
   *   acts: import("./acts.js").Acts,
   *   scoring: import("./scoring.js").Scoring,
   *   searching: import("./searching.js").Searching,
   * }} parts
   */
  constructor({ sheet, exports, acts, scoring, searching }) {
    this.sheet = sheet;
    this.exports = exports;
    this.acts = acts;
    this.scoring = scoring;
    this.searching = searching;
  }

  /** What is on the page now, as an explanation: that of a search, or one's own set where it flips the decision. */
  get explanation() {
    const { removed } = this.acts.state;
    if (!removed.size) return this.#answer;
    const { trial } = this.scoring;
    return this.searching.known(removed) ?? (trial?.flipped ? trial.explanation : null);
  }

  /** Show what the model says without what is taken away. */
  trial() {
    if (this.scoring.trial) this.sheet.showTrial(this.scoring.trial, this.acts.state.removed.size);
    this.mark();
    this.#export();
  }

  /** Show that the model did not answer. */
  unscored() {
    this.sheet.showUnscored(this.acts.state.removed.size);
    this.#export();
  }

  /**
   * Show what a search found.
   * @param {Explained} answer
   */
  answer(answer) {
    this.#answer = answer;
    this.sheet.showAnswer(answer);
    this.mark();
    this.#export();
  }

  /** Show that no search has an answer. */
  noAnswer() {
    this.#answer = null;
    this.sheet.showNoAnswer(NO_ANSWER);
    this.mark();
    this.#export();
  }

  /** Speak of the explanation that a step leads to, as on the way back through alternatives. */
  follow() {
    const { removed } = this.acts.state;
    const known = removed.size ? this.searching.known(removed) : this.searching.first;
    if (known && known !== this.#answer) this.answer(known);
  }

  /** Mark what is taken away, what is evidence, what is never used, and which steps there are. */
  mark() {
    const { removed, protected: never } = this.acts.state;
    const evidence = new Set(this.#answer?.places ?? []);
    this.sheet.mark({ removed, evidence, locked: lockedOf(this.scoring.units, never) }, this.acts.steps);
    this.sheet.showProtected(never);
  }

  #export() {
    this.exports.show(this.explanation, this.acts.state.removed.size ? STAYS : NOTHING_YET);
  }
}
