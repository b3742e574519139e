// What the searches say about a row: the answer, and one alternative after the other.

import { desk, post } from "./api.js";
import { keyOf } from "./state.js";

const AT_ONCE = 10;
const INCLUDE = ["letter", "page"];

/** The answers to one question: a row with what is protected. Another question needs another object. */
export class Answers {
  #smallest = "";
  #others = [];
  #received = 0;
  #at = -1;
  #ended = null;

  constructor(question) {
    this.question = question;
    this.known = new Map();
  }

  /** Ask a search, or the server's own, for the smallest explanation. */
  async smallest(search, signal) {
    const body = { ...this.question, ...(search && { search }), include: INCLUDE };
    const why = this.#keep(await post("api/explain", body, { signal }), "The answer of the search");
    this.#smallest = keyOf(why.places);
    return why;
  }

  /** Give the next explanation besides the smallest, and what to say about it; after the last the first again. */
  async another(signal) {
    let at = this.#at + 1;
    while (at >= this.#others.length && !this.#ended) await this.#more(signal);
    if (!this.#others.length) return { why: null, told: this.#end() };
    const again = at >= this.#others.length ? ", from the start again" : "";
    if (again) at = 0;
    this.#at = at;
    const last = at + 1 === this.#others.length && this.#ended;
    const number = at + 1 + this.#received - this.#others.length; // the smallest counts as the first of them
    const of = `${this.#ended ? "" : "at least "}${this.#received}`;
    return { why: this.#others[at], told: `${number} of ${of}${again}.${last ? ` ${this.#end()}` : ""}` };
  }

  async #more(signal) {
    const body = { ...this.question, limit: AT_ONCE, skip: this.#received, include: INCLUDE };
    const { explanations, complete_up_to, reason } = await post("api/alternatives", body, { signal });
    this.#received += explanations.length;
    const kept = explanations.map((why) => this.#keep(why, "An alternative"));
    this.#others.push(...kept.filter((why) => keyOf(why.places) !== this.#smallest));
    if (explanations.length < AT_ONCE) this.#ended = { upTo: complete_up_to, reason };
  }

  #end() {
    const { upTo, reason } = this.#ended;
    const [, several] = desk.unit;
    const all = `all of at most ${upTo} ${several} have been shown`;
    if (reason) return `No more were found in time${upTo > 0 ? `; ${all}` : ""}.`;
    if (this.#others.length) return `No more: ${all}.`;
    return `There is no other of at most ${upTo} ${several}.`;
  }

  /** Remember an explanation by its set; where the same set was found twice, the one that is proven stays. */
  #keep(found, origin) {
    const why = { ...found, origin };
    const key = keyOf(why.places);
    if (why.status !== "found") return why;
    if (!this.known.get(key)?.proven) this.known.set(key, why);
    return this.known.get(key);
  }
}
