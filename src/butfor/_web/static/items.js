// The items of a row in two lists.

import { el } from "./dom.js";
import { counted } from "./numbers.js";

const UNFOLDED = 60;

/** The items of a row: those that matter first, the others after them, folded where there are many. */
export class Items {
  #first = el("ul", { class: "chips" });
  #rest = el("ul", { class: "chips" });
  #summary = el("summary");
  /** @type {HTMLDetailsElement | null} */
  fold = null;

  /**
   * @param {HTMLElement[]} chips
   * @param {Noun} noun
   * @param {string} label
   */
  constructor(chips, noun, label) {
    this.chips = chips;
    this.noun = noun;
    if (chips.length > UNFOLDED) this.fold = el("details", { class: "rest" }, this.#summary, this.#rest);
    const parts = [this.#first, this.fold ?? this.#rest];
    this.element = el("div", { class: "items", role: "group", "aria-label": label }, parts);
  }

  /**
   * Put the places that matter before the others.
   * @param {(place: number) => boolean} matters
   */
  arrange(matters) {
    const active = document.activeElement;
    const focused = active instanceof HTMLElement && this.element.contains(active) ? active : null;
    this.#first.replaceChildren(...this.chips.filter((_, place) => matters(place)));
    this.#rest.replaceChildren(...this.chips.filter((_, place) => !matters(place)));
    if (focused !== document.activeElement) focused?.focus({ preventScroll: true });
    const left = counted(this.#rest.childElementCount, ...this.noun);
    this.#summary.textContent = this.#first.childElementCount === 0 ? left : `and ${left} more`;
  }

  /**
   * Hide all other places; return how many are left.
   * @param {(place: number) => boolean} fits
   */
  filter(fits) {
    this.chips.forEach((chip, place) => (chip.hidden = !fits(place)));
    return this.chips.filter((chip) => !chip.hidden).length;
  }

  /** Show the items that are folded. */
  unfold() {
    if (this.fold) this.fold.open = true;
  }
}
