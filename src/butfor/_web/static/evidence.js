// The words of a text where they stand, or the items of a row, each a button that takes it away or puts it back.

import { el, named } from "./dom.js";
import { Items } from "./items.js";
import { count, counted } from "./numbers.js";
import { cut } from "./pieces.js";
import { printable } from "./text.js";
import { next } from "./walking.js";

const DIRECTIONS = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/u;
const KEPT = "\n\r\t\u00ad\ufeff\u200b\u2060";

/** @typedef {{ name: string, spans: Span[], marks?: Mark[], removable?: boolean }} ShownUnit */
/** @typedef {(place: number) => void} OnPlace */

/** All units of a row. `onToggle(place)` is called by click and key; `onFocus(place)` where a unit gets the focus. */
export class Evidence {
  /** @type {Marks} */
  #marks = { removed: new Set(), evidence: new Set(), locked: new Set() };
  element = el("div", { class: "evidence" });
  /** The items in two lists, where the row is no text; the second may be folded.
   * @type {Items | null} */
  #items = null;
  /** The units in the order of the arrow keys.
   * @type {HTMLElement[]} */
  #inOrder = [];
  /** The one unit that Tab reaches.
   * @type {HTMLElement | undefined} */
  #stop;
  #touched = false;

  /**
   * @param {{
   *   text: string | null,
   *   table?: Cell[],
   *   units: ShownUnit[],
   *   noun: Noun,
   *   onToggle?: OnPlace | null,
   *   onFocus?: OnPlace,
   * }} options
   */
  constructor({ text, table = [], units, noun, onToggle = null, onFocus = () => {} }) {
    this.units = units;
    this.noun = noun;
    /** @type {HTMLElement[][]} */
    this.parts = units.map(() => []);
    this.isLive = onToggle !== null;
    if (table.length) this.#drawTable(table);
    else if (text === null) this.#drawItems();
    else this.#drawText(text);
    if (onToggle) this.#listen(onToggle, onFocus);
    this.#order();
  }

  /**
   * Show what is taken away, what is evidence and what may not be used; items that matter come first.
   * @param {Marks} marks
   */
  show(marks) {
    const before = this.#marks;
    this.#marks = marks;
    const places = new Set([...Object.values(before), ...Object.values(marks)].flatMap((set) => [...set]));
    for (const place of places) for (const part of this.parts[place] ?? []) this.#paint(part, place);
    if (this.#items && !isSameSet(before.evidence, marks.evidence)) this.#arrange();
  }

  /** The unit that has the focus, or had it last. */
  get current() {
    return this.#touched && this.#stop ? placeOf(this.#stop) : null;
  }

  /**
   * @param {HTMLElement} part
   * @param {number} place
   */
  #paint(part, place) {
    const { removed, evidence, locked } = this.#marks;
    part.classList.toggle("removed", removed.has(place));
    part.classList.toggle("mark", evidence.has(place));
    part.classList.toggle("locked", locked.has(place));
    part.title = locked.has(place) ? "never used" : evidence.has(place) ? "evidence" : "";
    if (!this.isLive) return;
    part.setAttribute("aria-pressed", String(removed.has(place)));
    if (locked.has(place)) part.setAttribute("aria-disabled", "true");
    else part.removeAttribute("aria-disabled");
  }

  /**
   * @param {number} place
   * @param {Child} nodes
   */
  #unit(place, nodes) {
    const live = this.isLive ? { role: "button", tabindex: "-1", "aria-pressed": "false" } : {};
    const part = el("span", { class: "unit", "data-place": place, ...live }, nodes);
    this.parts[place].push(part);
    return part;
  }

  /** @param {string} text */
  #drawText(text) {
    const nodes = cut(text, this.units).map(([part, place]) =>
      place === null ? written(part) : this.#unit(place, written(part)),
    );
    const label = this.isLive
      ? "The text. Arrow keys move from word to word, Enter takes one away."
      : "The text";
    const group = el("div", { class: "text", dir: "auto", role: "group", "aria-label": label }, nodes);
    if (!this.isLive) group.setAttribute("tabindex", "0");
    this.element.append(group);
    const elsewhere = this.units.flatMap((unit, place) =>
      this.parts[place].length || unit.removable === false ? [] : [place],
    );
    if (elsewhere.length) this.#drawElsewhere(elsewhere);
  }

  /**
   * A record as its table: a line for each column.
   * @param {Cell[]} table
   */
  #drawTable(table) {
    const label = this.isLive
      ? "The row. Arrow keys move from one part to the next, Enter takes one away."
      : "The row";
    const lines = table.map(([name, shown], column) => {
      const units = this.units.map(({ marks = [] }) => ({
        spans: marks.flatMap((mark) => spanIn(mark, column)),
      }));
      const nodes = cut(shown, units).map(([part, place]) =>
        place === null ? written(part) : this.#unit(place, written(part)),
      );
      const cell = el(
        "div",
        { class: "cell", dir: "auto" },
        nodes.length ? nodes : el("span", { class: "soft" }, "–"),
      );
      return el("tr", {}, el("th", { scope: "row" }, named(name)), el("td", {}, cell));
    });
    const body = el("table", { class: "record" }, el("tbody", {}, lines));
    this.element.append(el("div", { class: "record-box", role: "group", "aria-label": label }, body));
  }

  /**
   * What has no place in the text can be taken away too.
   * @param {number[]} places
   */
  #drawElsewhere(places) {
    const chips = places.map((place) => el("li", {}, this.#unit(place, named(this.units[place].name))));
    this.element.append(
      el("p", { class: "note" }, "Used by the model too, but the text does not tell where:"),
      el("ul", { class: "chips" }, chips),
    );
  }

  #drawItems() {
    const label = this.isLive
      ? "The items. Arrow keys move from one to the next, Enter takes one away."
      : "The items";
    const chips = this.units.map((unit, place) => el("li", {}, this.#unit(place, named(unit.name))));
    this.#items = new Items(chips, this.noun, label);
    if (this.#items.fold) this.element.append(this.#filter(this.#items));
    this.element.append(this.#items.element);
    this.#arrange();
  }

  /** Put what is evidence or taken away before the others; done when the evidence changes, not at every click. */
  #arrange() {
    const { removed, evidence } = this.#marks;
    this.#items?.arrange((place) => removed.has(place) || evidence.has(place));
    this.#order();
  }

  /** @param {Items} items */
  #filter(items) {
    const told = el("span", { class: "note", role: "status" });
    const filter = () => {
      const query = input.value.trim().toLowerCase();
      const left = items.filter((place) => this.units[place].name.toLowerCase().includes(query));
      if (query) items.unfold();
      told.textContent = query ? `${count(left)} of ${count(this.units.length)}` : "";
      this.#order();
    };
    const placeholder = `Find among ${counted(this.units.length, ...this.noun)}`;
    const input = el("input", { type: "search", placeholder, oninput: filter });
    return el("label", { class: "find" }, el("span", { class: "unseen" }, "Find an item"), input, told);
  }

  /** Take the order in which the arrow keys go, and see that exactly one unit can be reached with Tab. */
  #order() {
    this.#inOrder = [...this.element.querySelectorAll(".unit")].filter((part) => part instanceof HTMLElement);
    if (!this.isLive) return;
    if (!this.#stop || !this.#isSeen(this.#stop))
      this.#stopAt(this.#inOrder.find((part) => this.#isSeen(part)));
  }

  /** @param {HTMLElement} part */
  #isSeen(part) {
    if (part.closest("li")?.hidden) return false;
    const fold = this.#items?.fold;
    return !fold || fold.open || !fold.contains(part);
  }

  /** @param {HTMLElement | undefined} part */
  #stopAt(part) {
    this.#stop?.setAttribute("tabindex", "-1");
    part?.setAttribute("tabindex", "0");
    this.#stop = part;
  }

  /**
   * @param {OnPlace} onToggle
   * @param {OnPlace} onFocus
   */
  #listen(onToggle, onFocus) {
    const act = (/** @type {HTMLElement} */ part) => {
      if (part.getAttribute("aria-disabled") !== "true") onToggle(placeOf(part));
    };
    this.element.addEventListener("click", (event) => {
      const part = unitAt(event);
      if (part && getSelection()?.isCollapsed) act(part);
    });
    this.element.addEventListener("mousedown", (event) => {
      // A second quick click puts the word back; it does not select it.
      if (event.detail > 1 && unitAt(event)) event.preventDefault();
    });
    this.element.addEventListener("focusin", (event) => {
      const part = unitAt(event);
      if (!part) return;
      this.#touched = true;
      this.#stopAt(part);
      onFocus(placeOf(part));
    });
    this.element.addEventListener("keydown", (event) => this.#key(event, act));
    this.#items?.fold?.addEventListener("toggle", () => this.#order());
  }

  /**
   * @param {KeyboardEvent} event
   * @param {(part: HTMLElement) => void} act
   */
  #key(event, act) {
    const part = unitAt(event);
    if (!part || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") act(part);
    else {
      const seen = this.#inOrder.filter((other) => this.#isSeen(other));
      const other = next(seen, part, event.key);
      if (other === null) return;
      other?.focus();
    }
    event.preventDefault();
  }
}

/**
 * Text as nodes: what would turn the direction of writing is shown, not obeyed.
 * @param {string} text
 */
function written(text) {
  return text.split(DIRECTIONS).map((part, i) => {
    if (i % 2 === 0) return printable(part, KEPT);
    const code = part.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return el("span", { class: "turn", title: `direction mark U+${code}` }, "⇄");
  });
}

/**
 * The span of a mark, if it is in this column.
 * @param {Mark} mark
 * @param {number} column
 * @returns {Span[]}
 */
function spanIn([where, start, stop], column) {
  return where === column ? [[start, stop]] : [];
}

/**
 * The unit to which an event happened.
 * @param {Event} event
 */
function unitAt(event) {
  return /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".unit"));
}

/** @param {HTMLElement} part */
function placeOf(part) {
  return Number(part.dataset.place);
}

/**
 * @param {Set<number>} one
 * @param {Set<number>} other
 */
function isSameSet(one, other) {
  return one.size === other.size && [...one].every((place) => other.has(place));
}
