// The steps of a reader, which go back and forth.

import { isSame } from "./state.js";

/** A state with the ones before it, and those that were undone. */
export class Steps {
  /** @type {State[]} */
  #before = [];
  /** @type {State[]} */
  #after = [];

  /** @param {State} state */
  constructor(state) {
    this.now = state;
  }

  get canUndo() {
    return this.#before.length > 0;
  }

  get canRedo() {
    return this.#after.length > 0;
  }

  /**
   * Change some of the state; return whether that made a difference.
   * @param {Partial<State>} change
   */
  take(change) {
    const next = { ...this.now, ...change };
    if (isSame(next, this.now)) return false;
    this.#before.push(this.now);
    this.#after = [];
    this.now = next;
    return true;
  }

  /** Go back to the state before. */
  undo() {
    this.#move(this.#before, this.#after);
  }

  /** Do again what was undone. */
  redo() {
    this.#move(this.#after, this.#before);
  }

  /**
   * @param {State[]} from
   * @param {State[]} to
   */
  #move(from, to) {
    const next = from.pop();
    if (!next) return;
    to.push(this.now);
    this.now = next;
  }
}

/**
 * Which way a key leads: "undo" (u, Ctrl+Z), "redo" (Shift+U, Ctrl+Y), or null where it is for somebody else.
 * @param {KeyboardEvent} event
 */
export function stepAsked(event) {
  const { altKey, ctrlKey, metaKey, shiftKey, key, target } = event;
  if (altKey || /** @type {Element} */ (target).closest?.("input, textarea, select")) return null;
  const control = ctrlKey || metaKey;
  const letter = key.toLowerCase();
  if (control ? letter === "y" || (letter === "z" && shiftKey) : key === "U") return "redo";
  return letter === (control ? "z" : "u") ? "undo" : null;
}
