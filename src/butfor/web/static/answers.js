// What the searches say about a row: the answer, and one alternative after the other.

import { desk, post } from "./api.js";
import { keyOf } from "./state.js";

const AT_ONCE = 10;
const INCLUDE = ["letter", "page"];

/** The answers to one question: a row with what is protected. Another question needs another object. */
export class Answers {
  #others = [];
  #at = -1;
  #ended = "";

  constructor(question) {
    this.question = question;
    this.known = new Map();
  }

  /** Ask a search, or the server's own, for the smallest explanation. */
  async smallest(search, signal) {
    const limits = { max_size: desk.limits.max_size, max_seconds: desk.limits.max_seconds };
    const body = { ...this.question, ...(search && { search }), ...limits, include: INCLUDE };
    return this.#keep(await post("api/explain", body, { signal }), "The answer of the search");
  }

  /** Give the next explanation that is not `shown`, and what to say about it; null where there is none left. */
  async another(shown, signal) {
    let at = this.#at + 1;
    if (at >= this.#others.length && !this.#ended) await this.#more(signal);
    if (this.#others[at] && keyOf(this.#others[at].places) === shown) at += 1;
    if (at >= this.#others.length && !this.#ended) await this.#more(signal);
    if (at >= this.#others.length) return { why: null, told: this.#end() };
    this.#at = at;
    const total = this.#others.length;
    const of = this.#ended ? total : `at least ${total}`;
    const last = at + 1 === total && this.#ended;
    return { why: this.#others[at], told: `${at + 1} of ${of}.${last ? ` ${this.#end()}` : ""}` };
  }

  async #more(signal) {
    const skip = this.#others.length;
    const limits = { max_size: desk.limits.max_size, max_seconds: desk.limits.max_seconds };
    const body = { ...this.question, ...limits, limit: AT_ONCE, skip, include: INCLUDE };
    const { explanations, complete_up_to, reason } = await post("api/alternatives", body, { signal });
    explanations.forEach((why) => this.#others.push(this.#keep(why, "An alternative")));
    if (explanations.length < AT_ONCE) this.#ended = { upTo: complete_up_to, reason };
  }

  #end() {
    const { upTo, reason } = this.#ended;
    const [, several] = desk.unit;
    const all = `all of at most ${upTo} ${several} have been shown`;
    if (reason) return `No more were found in time${upTo > 0 ? `; ${all}` : ""}.`;
    return this.#others.length ? `No more: ${all}.` : `There is none of at most ${upTo} ${several}.`;
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
