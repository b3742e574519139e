// What the searches say about a row: the answer, and one alternative after the other.

import { post } from "./api.js";
import { keyOf } from "./state.js";

const AT_ONCE = 10;
const INCLUDE = ["letter", "page"];

/** The answers to one question: a row with what is protected. Another question needs another object. */
export class Answers {
  /** The explanations by their sets of places.
   * @type {Map<string, Explained>} */
  known = new Map();
  #smallest = "";
  /** @type {Explained[]} */
  #others = [];
  #received = 0;
  #at = -1;
  /** @type {{ upTo: number, reason: string } | null} */
  #ended = null;

  /**
   * @param {Question} question
   * @param {string} several what units are called
   */
  constructor(question, several) {
    this.question = question;
    this.several = several;
  }

  /**
   * Ask a search, or the server's own, for the smallest explanation.
   * @param {string} search
   * @param {AbortSignal} [signal]
   */
  async smallest(search, signal) {
    const body = { ...this.question, ...(search && { search }), include: INCLUDE };
    const why = this.#keep(await post("api/explain", body, { signal }), "The answer of the search");
    this.#smallest = keyOf(why.places);
    return why;
  }

  /**
   * Return the next explanation besides the smallest, and what to say about it; after the last the first again.
   * @param {AbortSignal} [signal]
   */
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

  /** @param {AbortSignal} [signal] */
  async #more(signal) {
    const body = { ...this.question, limit: AT_ONCE, skip: this.#received, include: INCLUDE };
    /** @type {AlternativesAnswer} */
    const { explanations, complete_up_to, reason } = await post("api/alternatives", body, { signal });
    this.#received += explanations.length;
    const kept = explanations.map((why) => this.#keep(why, "An alternative"));
    this.#others.push(...kept.filter((why) => keyOf(why.places) !== this.#smallest));
    if (explanations.length < AT_ONCE) this.#ended = { upTo: complete_up_to, reason };
  }

  #end() {
    const { upTo, reason } = this.#ended ?? { upTo: 0, reason: "" };
    const all = `all of at most ${upTo} ${this.several} have been shown`;
    if (reason) return `No more were found in time${upTo > 0 ? `; ${all}` : ""}.`;
    if (this.#others.length) return `No more: ${all}.`;
    return `There is no other of at most ${upTo} ${this.several}.`;
  }

  /**
   * Remember an explanation by its set; where the same set was found twice, the one that is proven stays.
   * @param {ExplanationAnswer} found
   * @param {string} origin
   * @returns {Explained}
   */
  #keep(found, origin) {
    const why = { ...found, origin };
    if (why.status !== "found") return why;
    const key = keyOf(why.places);
    const before = this.known.get(key);
    if (before?.proven) return before;
    this.known.set(key, why);
    return why;
  }
}
