// The row under trial: its units, and what the model says without those that are taken away.

import { busy } from "./busy.js";
import { Latest } from "./latest.js";
import { inOrder } from "./state.js";
import { readRow, tryWithout, untouched } from "./trials.js";

/** Scores a row anew at every step. `trial` is what the model said last. */
export class Scoring {
  /** @type {UnitAnswer[]} */
  units = [];
  /** @type {ScoreAnswer | null} */
  trial = null;
  #latest;

  /**
   * @param {Subject} subject
   * @param {AbortSignal} signal
   */
  constructor(subject, signal) {
    this.subject = subject;
    this.signal = signal;
    this.#latest = new Latest(signal);
  }

  /**
   * Read the units of the row; return the places that could be taken away of those that are wanted.
   * @param {State} state
   */
  async read(state) {
    const wanted = inOrder(state.removed);
    const work = (/** @type {AbortSignal} */ inner) => readRow(this.subject, wanted, state.protected, inner);
    const { trial, removed } = await busy(work, null, "Scoring", this.signal);
    this.trial = trial;
    this.units = trial.units;
    return new Set(removed);
  }

  /**
   * Score what is left. Return whether that was done: not where the reader took another step meanwhile. Where it fails,
   * the trial is that of the untouched row.
   * @param {Question} question
   * @param {Set<number>} removed
   */
  async score(question, removed) {
    const signal = this.#latest.begin();
    try {
      const trial = await this.#trial(question, inOrder(removed), signal);
      if (signal.aborted) return false;
      this.trial = trial;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.trial = this.trial && untouched(this.trial);
      throw error;
    }
  }

  /**
   * @param {Question} question
   * @param {number[]} removed
   * @param {AbortSignal} signal
   */
  #trial(question, removed, signal) {
    if (!removed.length) return this.trial && untouched(this.trial);
    return busy((inner) => tryWithout(question, removed, [], inner), null, "Scoring", signal);
  }
}
