// Of several requests in a row the last one counts.

/** Ends the work before when new work begins, and all of it when `outer` aborts. */
export class Latest {
  #stopper = new AbortController();

  /** @param {AbortSignal} outer */
  constructor(outer) {
    this.outer = outer;
  }

  /** Begin new work; return the signal that ends it. */
  begin() {
    this.#stopper.abort();
    this.#stopper = new AbortController();
    return this.signal;
  }

  /** The signal of the work that goes on. */
  get signal() {
    return AbortSignal.any([this.#stopper.signal, this.outer]);
  }
}
