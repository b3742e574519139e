// The words of a text where they stand, or the items of a row, each a button that takes it away or puts it back.

import { count, counted, el, named, printable } from "./dom.js";

const UNFOLDED = 60;
const DIRECTIONS = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/u;
const KEPT = "\n\r\t\u00ad\ufeff\u200b\u2060";

/**
 * Cut a text at the units' spans, which count code points as Python does: pieces of [text, place], where place is the
 * number of the unit or null. Joined, the pieces are the text.
 */
export function cut(text, units) {
  const at = unitsOfUtf16(text);
  const spans = units.flatMap((unit, place) => unit.spans.map(([start, stop]) => [at(start), at(stop), place]));
  spans.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const pieces = [];
  let end = 0;
  for (const [from, stop, place] of spans) {
    const start = Math.max(from, end);
    if (start >= stop) continue;
    if (end < start) pieces.push([text.slice(end, start), null]);
    pieces.push([text.slice(start, stop), place]);
    end = stop;
  }
  if (end < text.length) pieces.push([text.slice(end), null]);
  return pieces;
}

/** Give a function from code points to JavaScript's own units, of which an emoji has two. */
function unitsOfUtf16(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (point) => Math.min(point, text.length);
  const starts = [];
  let next = 0;
  for (const character of text) {
    starts.push(next);
    next += character.length;
  }
  return (point) => starts[point] ?? text.length;
}

/** Text as nodes: what would turn the direction of writing is shown, not obeyed. */
export function written(text) {
  return text.split(DIRECTIONS).map((part, i) => {
    if (i % 2 === 0) return printable(part, KEPT);
    const title = `direction mark U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    return el("span", { class: "turn", title }, "⇄");
  });
}

/** All units of a row. `onToggle(place)` is called by click and key; `onFocus(place)` where a unit gets the focus. */
export class Evidence {
  #marks = { removed: new Set(), evidence: new Set(), locked: new Set() };

  constructor({ text, units, noun, onToggle = null, onFocus = () => {} }) {
    this.units = units;
    this.noun = noun;
    this.parts = units.map(() => []);
    this.isLive = onToggle !== null;
    this.element = el("div", { class: "evidence" });
    if (text === null) this.#drawItems();
    else this.#drawText(text);
    if (this.isLive) this.#listen(onToggle, onFocus);
    this.#order();
  }

  /** Show what is taken away, what is evidence and what may not be used; items that matter come first. */
  show(marks) {
    const before = this.#marks;
    this.#marks = marks;
    const places = new Set([...Object.values(before), ...Object.values(marks)].flatMap((set) => [...set]));
    for (const place of places) for (const part of this.parts[place] ?? []) this.#paint(part, place);
    if (this.rest && !isSameSet(before.evidence, marks.evidence)) this.#arrange();
  }

  /** The unit that has the focus, or had it last. */
  get current() {
    return this.touched ? Number(this.stop.dataset.place) : null;
  }

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

  #unit(place, nodes) {
    const live = this.isLive ? { role: "button", tabindex: "-1", "aria-pressed": "false" } : {};
    const part = el("span", { class: "unit", "data-place": place, ...live }, nodes);
    this.parts[place].push(part);
    return part;
  }

  #drawText(text) {
    const pieces = cut(text, this.units);
    const nodes = pieces.map(([part, place]) => (place === null ? written(part) : this.#unit(place, written(part))));
    const label = this.isLive ? "The text. Arrow keys move from word to word, Enter takes one away." : "The text";
    this.group = el("div", { class: "text", dir: "auto", role: "group", "aria-label": label }, nodes);
    if (!this.isLive) this.group.setAttribute("tabindex", "0");
    this.element.append(this.group);
    const elsewhere = this.units.flatMap((unit, place) => (this.parts[place].length || unit.removable === false ? [] : [place]));
    if (elsewhere.length) this.#drawElsewhere(elsewhere);
  }

  /** What has no place in the text can be taken away too. */
  #drawElsewhere(places) {
    const chips = places.map((place) => el("li", {}, this.#unit(place, named(this.units[place].name))));
    this.element.append(
      el("p", { class: "note" }, "Used by the model too, but the text does not tell where:"),
      el("ul", { class: "chips" }, chips),
    );
  }

  #drawItems() {
    const label = this.isLive ? "The items. Arrow keys move from one to the next, Enter takes one away." : "The items";
    this.group = el("div", { class: "items", role: "group", "aria-label": label });
    this.chips = this.units.map((unit, place) => el("li", {}, this.#unit(place, named(unit.name))));
    this.first = el("ul", { class: "chips" });
    this.rest = el("ul", { class: "chips" });
    if (this.units.length > UNFOLDED) {
      this.summary = el("summary");
      this.fold = el("details", { class: "rest" }, this.summary, this.rest);
      this.element.append(this.#filter());
      this.group.append(this.first, this.fold);
    } else this.group.append(this.first, this.rest);
    this.element.append(this.group);
    this.#arrange();
  }

  /** Put what is evidence or taken away before the others; done when the evidence changes, not at every click. */
  #arrange() {
    const { removed, evidence } = this.#marks;
    const matters = (place) => removed.has(place) || evidence.has(place);
    const places = this.units.map((_, place) => place);
    const focused = this.group.contains(document.activeElement) ? document.activeElement : null;
    this.first.replaceChildren(...places.filter(matters).map((place) => this.chips[place]));
    this.rest.replaceChildren(...places.filter((place) => !matters(place)).map((place) => this.chips[place]));
    if (focused !== document.activeElement) focused?.focus({ preventScroll: true });
    if (!this.fold) return;
    const nothing = this.first.childElementCount === 0;
    this.summary.textContent = `${nothing ? "" : "and "}${counted(this.rest.childElementCount, ...this.noun)}${nothing ? "" : " more"}`;
    this.#order();
  }

  #filter() {
    const told = el("span", { class: "note", role: "status" });
    const filter = () => {
      const query = input.value.trim().toLowerCase();
      let left = 0;
      this.units.forEach((unit, place) => {
        this.chips[place].hidden = !unit.name.toLowerCase().includes(query);
        left += !this.chips[place].hidden;
      });
      if (query) this.fold.open = true;
      told.textContent = query ? `${count(left)} of ${count(this.units.length)}` : "";
      this.#order();
    };
    const input = el("input", { type: "search", placeholder: `Find among ${counted(this.units.length, ...this.noun)}`, oninput: filter });
    return el("label", { class: "find" }, el("span", { class: "unseen" }, "Find an item"), input, told);
  }

  /** Take the order in which the arrow keys go, and see that exactly one unit can be reached with Tab. */
  #order() {
    this.inOrder = [...this.element.querySelectorAll(".unit")];
    if (!this.isLive) return;
    if (!this.stop || !this.#isSeen(this.stop)) this.#stopAt(this.inOrder.find((part) => this.#isSeen(part)));
  }

  #isSeen(part) {
    const chip = part.closest("li");
    if (chip?.hidden) return false;
    return !this.fold || this.fold.open || !this.fold.contains(part);
  }

  #stopAt(part) {
    this.stop?.setAttribute("tabindex", "-1");
    part?.setAttribute("tabindex", "0");
    this.stop = part;
  }

  #listen(onToggle, onFocus) {
    const act = (part) => {
      if (part && part.getAttribute("aria-disabled") !== "true") onToggle(Number(part.dataset.place));
    };
    this.element.addEventListener("click", (event) => {
      const part = event.target.closest(".unit");
      if (part && getSelection().isCollapsed) act(part);
    });
    this.element.addEventListener("mousedown", (event) => {
      // A second quick click puts the word back; it does not select it.
      if (event.detail > 1 && event.target.closest(".unit")) event.preventDefault();
    });
    this.element.addEventListener("focusin", (event) => {
      const part = event.target.closest(".unit");
      if (!part) return;
      this.touched = true;
      this.#stopAt(part);
      onFocus(Number(part.dataset.place));
    });
    this.element.addEventListener("keydown", (event) => this.#key(event, act));
    this.fold?.addEventListener("toggle", () => this.#order());
  }

  #key(event, act) {
    const part = event.target.closest(".unit");
    if (!part || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") act(part);
    else {
      const next = this.#next(part, event.key);
      if (next === null) return;
      next?.focus();
    }
    event.preventDefault();
  }

  /** Where a key leads: a unit, undefined at an end, null where the key is none of ours. */
  #next(part, key) {
    const seen = this.inOrder.filter((other) => this.#isSeen(other));
    const here = seen.indexOf(part);
    const forward = getComputedStyle(part).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (key === "Home") return seen[0];
    if (key === "End") return seen.at(-1);
    if (key === "ArrowDown") return nearestInNextLine(seen.slice(here), part);
    if (key === "ArrowUp") return nearestInNextLine(seen.slice(0, here + 1).reverse(), part);
    if (key !== "ArrowLeft" && key !== "ArrowRight") return null;
    return seen[here + (key === forward ? 1 : -1)];
  }
}

/** Of the units after the first, the one in the next line that is nearest to it. */
function nearestInNextLine(others, part) {
  const { top, bottom, left } = part.getClientRects()[0];
  let [best, distance, line] = [undefined, Infinity, null];
  for (const other of others) {
    const frame = other.getClientRects()[0];
    if (!frame || (frame.top < bottom - 2 && frame.bottom > top + 2)) continue;
    if (line !== null && Math.abs(frame.top - line) > 2) break;
    line = frame.top;
    if (Math.abs(frame.left - left) < distance) [best, distance] = [other, Math.abs(frame.left - left)];
  }
  return best;
}

function isSameSet(one, other) {
  return one.size === other.size && [...one].every((place) => other.has(place));
}
