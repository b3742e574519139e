// What is seen of a row in a what-if: the sentence, the scale, the buttons, the words, what is never used.

import { el, named, unseen } from "./dom.js";
import { Evidence } from "./evidence.js";
import { counted } from "./numbers.js";
import { Scale } from "./scale.js";
import { classOf, nameOf } from "./text.js";
import { positiveOf, verdict } from "./words.js";
import { workspace } from "./workspace.js";

const HINT = `Click any ${workspace.unit[0]} to take it away or to put it back. With keys: arrows move, Enter takes away, u undoes.`;
const LONGEST_ON_BUTTON = 24;

/** The parts of the page, and how each is brought up to date. `acts` has a function for everything that a reader can do. */
export class Sheet {
  problem = el("div", { class: "what-if-problem" });
  notice = el("p", { class: "notice", role: "status" });
  verdict = el("p", { class: "verdict" });
  #decided = el("p", { class: "decided" });
  #sentence = el("p", { class: "sentence", dir: "auto" }, "…");
  #proof = el("p", { class: "proof" });
  #facts = el("p", { class: "facts" });
  #taken = el("p", { class: "taken" });
  #box = el("div", { class: "box" });
  #reasons = el("div", { class: "listed" });
  #never = el("div", { class: "listed" });
  #scale = new Scale({ nClasses: workspace.n_classes, classes: workspace.classes });
  /** @type {UnitAnswer[]} */
  #units = [];
  /** @type {Set<number>} */
  #locked = new Set();
  /** @type {Evidence | null} */
  #evidence = null;

  /** @param {{ acts: Buttons, below: HTMLElement, side: HTMLElement }} options */
  constructor({ acts, below, side }) {
    this.acts = acts;
    this.smallestButton = button("Smallest explanation", acts.smallest, { class: "primary" });
    this.anotherButton = button("Another one", acts.another);
    this.undoButton = button("Undo", acts.undo, { "aria-keyshortcuts": "u Control+Z" });
    this.redoButton = button("Redo", acts.redo, { "aria-keyshortcuts": "Shift+U Control+Y" });
    this.protectButton = button("Never use this", () => this.#protect(), { class: "protect" });
    rest(this.protectButton, true);
    this.body = el(
      "div",
      { class: "what-if-body", hidden: true },
      el("div", { class: "what-if-main" }, this.#main()),
      el("div", { class: "what-if-side" }, side),
      el("div", { class: "what-if-below" }, below),
    );
    this.element = el("div", { class: "what-if" }, this.problem, this.body);
  }

  #main() {
    return [
      el("div", { class: "answer" }, this.#decided, this.#sentence, this.#proof, this.#facts),
      el("div", { class: "now" }, this.#scale.element, this.verdict, this.#taken),
      this.#tools(),
      this.notice,
      this.#box,
      el("p", { class: "note" }, HINT),
      this.#reasons,
      this.#never,
    ];
  }

  #tools() {
    const steps = [this.undoButton, this.redoButton, button("Reset", this.acts.reset)];
    return el(
      "div",
      { class: "tools", role: "group", "aria-label": "What to do" },
      this.smallestButton,
      this.anotherButton,
      el("span", { class: "pair" }, steps),
      this.protectButton,
    );
  }

  /**
   * Draw the units of a row; before that there is nothing to see.
   * @param {string | null} text
   * @param {UnitAnswer[]} units
   * @param {Cell[]} table
   */
  draw(text, units, table = []) {
    this.#units = units;
    const onFocus = (/** @type {number} */ place) => this.#pick(place);
    const { toggle: onToggle } = this.acts;
    this.#evidence = new Evidence({ text, table, units, noun: workspace.unit, onToggle, onFocus });
    this.#box.replaceChildren(this.#evidence.element);
    const nothing = `The model knows no ${workspace.unit[1]} of this: there is nothing to take away.`;
    if (!units.length) this.#box.append(el("p", { class: "note" }, nothing));
    this.body.hidden = false;
  }

  /**
   * Mark what is taken away, what is evidence and what is never used, and which steps there are.
   * @param {Marks} marks
   * @param {{ canUndo: boolean, canRedo: boolean }} steps
   */
  mark(marks, { canUndo, canRedo }) {
    this.#locked = marks.locked;
    this.#evidence?.show(marks);
    rest(this.undoButton, !canUndo);
    rest(this.redoButton, !canRedo);
  }

  /**
   * Show what the model decides without what is taken away: n units.
   * @param {ScoreAnswer} trial
   * @param {number} n
   */
  showTrial(trial, n) {
    const { score, score_without: without, threshold, flipped, decision } = trial;
    const positive = positiveOf(trial, workspace.classes);
    this.#scale.show({ score, without, threshold, changed: n > 0, positive });
    this.#decided.replaceChildren(...decidedFor(decision));
    this.verdict.textContent = verdict(trial, n, workspace.classes);
    this.verdict.classList.toggle("flipped", flipped && n > 0);
    this.#showTaken(n);
  }

  /**
   * Show that the model did not say what it decides without what is taken away.
   * @param {number} n
   */
  showUnscored(n) {
    this.verdict.textContent = "Without what is taken away: not scored.";
    this.verdict.classList.remove("flipped");
    this.#showTaken(n);
  }

  /** @param {number} n */
  #showTaken(n) {
    this.#taken.textContent = `${n} of ${counted(this.#units.length, ...workspace.unit)} taken away`;
  }

  /**
   * Show that the answer is being looked for, or that it is there.
   * @param {boolean} waiting
   */
  wait(waiting) {
    this.#sentence.classList.toggle("waiting", waiting);
  }

  /**
   * Show what a search found.
   * @param {ExplanationAnswer} why
   */
  showAnswer(why) {
    this.#sentence.textContent = why.sentence;
    this.#proof.textContent = why.proof;
    this.#facts.textContent = why.facts;
    const hadFocus = this.#reasons.contains(document.activeElement);
    const chips = why.features.map((name) => chip(name, "never use", () => this.acts.protect(name)));
    this.#reasons.replaceChildren(...listed("Evidence", chips));
    if (hadFocus) this.smallestButton.focus();
  }

  /**
   * Show that there is no answer.
   * @param {string} told
   */
  showNoAnswer(told) {
    this.#sentence.textContent = told;
    for (const part of [this.#proof, this.#facts, this.#reasons]) part.replaceChildren();
  }

  /**
   * List what is never used, with a way to allow it again.
   * @param {string[]} names
   */
  showProtected(names) {
    const chips = names.map((name) => chip(name, "allow again", () => this.acts.release(name)));
    this.#never.replaceChildren(...listed("Never used", chips));
    const current = this.#evidence?.current ?? null;
    if (current !== null) this.#pick(current);
  }

  #protect() {
    const current = this.#evidence?.current ?? null;
    if (current !== null) this.acts.protect(this.#units[current].name);
  }

  /** @param {number} place */
  #pick(place) {
    rest(this.protectButton, this.#locked.has(place));
    this.protectButton.textContent = `Never use “${nameOf(this.#units[place].name, LONGEST_ON_BUTTON)}”`;
  }
}

/**
 * A line that says what was decided, where that has a name.
 * @param {string | null} decision
 */
export function decidedFor(decision) {
  return decision ? ["Decided: ", el("strong", {}, named(classOf(decision)))] : [];
}

/**
 * @param {string} label
 * @param {() => void} act
 * @param {Attributes} more
 */
function button(label, act, more = {}) {
  const made = el("button", { type: "button", ...more }, label);
  made.addEventListener("click", () => made.getAttribute("aria-disabled") === "true" || act());
  return made;
}

/**
 * A button that rests can still have the focus, so that nobody who uses keys loses the place.
 * @param {HTMLElement} made
 * @param {boolean} resting
 */
function rest(made, resting) {
  if (resting) made.setAttribute("aria-disabled", "true");
  else made.removeAttribute("aria-disabled");
}

/**
 * @param {string} name
 * @param {string} label
 * @param {() => void} act
 */
function chip(name, label, act) {
  const does = el(
    "button",
    { type: "button", class: "small", onclick: act },
    label,
    unseen(` ${nameOf(name)}`),
  );
  return el("li", { class: "chip" }, named(name, 60), does);
}

/**
 * @param {string} title
 * @param {HTMLElement[]} chips
 */
function listed(title, chips) {
  return chips.length ? [el("p", {}, title), el("ul", { class: "reasons", "aria-label": title }, chips)] : [];
}
