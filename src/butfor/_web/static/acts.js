// What a reader does to a row: each act is a step, which can be undone.

import * as states from "./state.js";
import { Steps, stepAsked } from "./steps.js";
import { nameOf } from "./text.js";

/** The acts on one row. `tell` shows a line about the act; `onStep` is called with the state before each step. */
export class Acts {
  /** @type {UnitAnswer[]} */
  units = [];

  /**
   * @param {{ state: State, tell: (text: string) => void, onStep: (before: State) => void }} options
   */
  constructor({ state, tell, onStep }) {
    this.steps = new Steps(state);
    this.tell = tell;
    this.onStep = onStep;
  }

  get state() {
    return this.steps.now;
  }

  /**
   * Begin with the units of a row, of which some are taken away already.
   * @param {UnitAnswer[]} units
   * @param {Set<number>} removed
   */
  begin(units, removed) {
    this.units = units;
    this.steps.now = { ...this.state, removed };
  }

  /**
   * Take a unit away, or put it back.
   * @param {number} place
   */
  toggle(place) {
    this.#act(states.toggled(this.state, place));
  }

  /**
   * Take exactly these units away.
   * @param {Iterable<number>} places
   * @param {string} told
   */
  take(places, told) {
    this.#act({ removed: new Set(places) }, told);
  }

  /**
   * Never use units of a name.
   * @param {string} name
   */
  protect(name) {
    if (this.state.protected.includes(name)) return;
    const change = states.withProtected(this.state, name, this.units);
    this.#act(change, `Never used from now on: ${nameOf(name)}.`);
  }

  /**
   * Allow units of a name again.
   * @param {string} name
   */
  release(name) {
    this.#act(states.withoutProtected(this.state, name));
  }

  /**
   * Have another search answer.
   * @param {string} search
   */
  choose(search) {
    this.#step({ search });
  }

  /** Put everything back. */
  reset() {
    this.#act(states.untouchedState());
  }

  /**
   * Go back or forth.
   * @param {"undo" | "redo"} way
   */
  move(way) {
    const before = this.state;
    this.tell("");
    this.steps[way]();
    if (this.state !== before) this.onStep(before);
  }

  /**
   * Go back or forth where a key says so.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const way = stepAsked(event);
    if (way === null) return;
    event.preventDefault();
    this.move(way);
  }

  /** @param {Partial<State>} change */
  #act(change, told = "") {
    this.tell(told);
    this.#step(change);
  }

  /** @param {Partial<State>} change */
  #step(change) {
    const before = this.state;
    if (this.steps.take(change)) this.onStep(before);
  }
}
