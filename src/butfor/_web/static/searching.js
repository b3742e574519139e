// The searches on the row under trial: the smallest explanation, then one alternative after the other.

import { Answers } from "./answers.js";
import { busy } from "./busy.js";
import { Latest } from "./latest.js";
import { keyOf } from "./state.js";

/** Asks the searches. `first` is the answer to the question that stands, null before there is one. */
export class Searching {
  /** @type {Explained | null} */
  first = null;
  /** @type {Answers | null} */
  #answers = null;
  #latest;

  /**
   * @param {string} several what units are called
   * @param {AbortSignal} signal
   */
  constructor(several, signal) {
    this.several = several;
    this.#latest = new Latest(signal);
  }

  /** Begin a new question: what is known of the one before goes. Return the signal that ends this one. */
  begin() {
    this.#answers = null;
    this.first = null;
    return this.#latest.begin();
  }

  /**
   * Ask a search for the smallest explanation.
   * @param {Question} question
   * @param {string} search
   * @param {HTMLElement} button
   * @param {AbortSignal} signal from `begin`
   */
  async smallest(question, search, button, signal) {
    const answers = new Answers(question, this.several);
    const first = await busy((inner) => answers.smallest(search, inner), button, "Searching", signal);
    this.#answers = answers;
    this.first = first;
    return first;
  }

  /**
   * Ask for the next alternative. Return null where the question has become another meanwhile.
   * @param {HTMLElement} button
   */
  async another(button) {
    const answers = this.#answers;
    const signal = this.#latest.signal;
    if (!answers) return null;
    try {
      return await busy((inner) => answers.another(inner), button, "Searching", signal);
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  /**
   * The explanation with exactly these places, if a search found it.
   * @param {Set<number>} places
   */
  known(places) {
    return this.#answers?.known.get(keyOf(places)) ?? null;
  }
}
