// What is seen of a row on the bench: the sentence, the scale, the buttons, the words, what is never used.

import { desk } from "./api.js";
import { counted, el, named, unseen } from "./dom.js";
import { Evidence } from "./evidence.js";
import { Scale } from "./scale.js";
import { classOf, nameOf, positiveOf, shortName, verdict } from "./words.js";

/** The parts of the page, and how each is brought up to date. `acts` has a function for everything that a reader can do. */
export class Sheet {
  constructor({ acts, below, side }) {
    this.acts = acts;
    this.problem = el("div", { class: "bench-problem" });
    this.notice = el("p", { class: "notice", role: "status" });
    this.box = el("div", { class: "box" });
    this.body = el("div", { class: "bench-body", hidden: true },
      el("div", { class: "bench-main" }, this.#answer(), this.#now(), this.#tools(), this.notice, this.box, this.#below()),
      el("div", { class: "bench-side" }, side), el("div", { class: "bench-below" }, below));
    this.element = el("div", { class: "bench" }, this.problem, this.body);
  }

  /** Draw the units of a row; before that there is nothing to see. */
  draw(text, units) {
    this.units = units;
    const { toggle } = this.acts;
    this.evidence = new Evidence({ text, units, noun: desk.unit, onToggle: toggle, onFocus: (place) => this.#pick(place) });
    this.box.replaceChildren(this.evidence.element);
    if (!units.length) this.box.append(el("p", { class: "note" }, `The model knows no ${desk.unit[1]} of this: there is nothing to take away.`));
    this.body.hidden = false;
  }

  /** Mark what is taken away, what is evidence and what is never used, and which steps there are. */
  mark({ removed, evidence, locked, canUndo, canRedo }) {
    this.locked = locked;
    this.evidence.show({ removed, evidence, locked });
    rest(this.undoButton, !canUndo);
    rest(this.redoButton, !canRedo);
  }

  /** Show what the model decides without what is taken away. */
  showTrial(trial, n) {
    const { score, score_without, threshold, flipped } = trial;
    this.scale.show({ score, without: score_without, threshold, changed: n > 0, positive: positiveOf(trial) });
    this.decided.replaceChildren(...(trial.decision ? ["Decided: ", el("strong", {}, named(classOf(trial.decision)))] : []));
    this.verdict.textContent = verdict(trial, n);
    this.verdict.classList.toggle("flipped", flipped && n > 0);
    this.#showTaken(n);
  }

  /** Show that the model did not say what it decides without what is taken away. */
  showUnscored(n) {
    this.verdict.textContent = "Without what is taken away: not scored.";
    this.verdict.classList.remove("flipped");
    this.#showTaken(n);
  }

  #showTaken(n) {
    this.taken.textContent = `${n} of ${counted(this.units.length, ...desk.unit)} taken away`;
  }

  /** Show what a search found. */
  showAnswer(why) {
    this.sentence.textContent = why.sentence;
    this.proof.textContent = why.proof;
    this.facts.textContent = why.facts;
    const hadFocus = this.reasons.contains(document.activeElement);
    const chips = why.features.map((name) => chip(name, "never use", () => this.acts.protect(name)));
    this.reasons.replaceChildren(...(chips.length ? [el("p", {}, "Evidence"), el("ul", { class: "reasons", "aria-label": "Evidence" }, chips)] : []));
    if (hadFocus) this.smallestButton.focus();
  }

  /** Show that there is no answer. */
  showNoAnswer(told) {
    this.sentence.textContent = told;
    for (const part of [this.proof, this.facts, this.reasons]) part.replaceChildren();
  }

  /** List what is never used, with a way to allow it again. */
  showProtected(names) {
    const chips = names.map((name) => chip(name, "allow again", () => this.acts.release(name)));
    this.never.replaceChildren(...(chips.length ? [el("p", {}, "Never used"), el("ul", { class: "reasons", "aria-label": "Never used" }, chips)] : []));
    if (this.evidence.current !== null) this.#pick(this.evidence.current);
  }

  #answer() {
    this.decided = el("p", { class: "decided" });
    this.sentence = el("p", { class: "sentence", dir: "auto" }, "…");
    this.proof = el("p", { class: "proof" });
    this.facts = el("p", { class: "facts" });
    return el("div", { class: "answer" }, this.decided, this.sentence, this.proof, this.facts);
  }

  #now() {
    this.scale = new Scale({ nClasses: desk.n_classes, classes: desk.classes });
    this.verdict = el("p", { class: "verdict" });
    this.taken = el("p", { class: "taken" });
    return el("div", { class: "now" }, this.scale.element, this.verdict, this.taken);
  }

  #tools() {
    const { smallest, another, undo, redo, reset, protect } = this.acts;
    this.smallestButton = button("Smallest explanation", smallest, { class: "primary" });
    this.anotherButton = button("Another one", another);
    this.undoButton = button("Undo", undo, { "aria-keyshortcuts": "u Control+Z" });
    this.redoButton = button("Redo", redo, { "aria-keyshortcuts": "Shift+U Control+Y" });
    this.protectButton = button("Never use this", () => protect(this.units[this.evidence.current].name), { class: "protect" });
    rest(this.protectButton, true);
    return el("div", { class: "tools", role: "group", "aria-label": "What to do" }, this.smallestButton, this.anotherButton,
      el("span", { class: "pair" }, this.undoButton, this.redoButton, button("Reset", reset)), this.protectButton);
  }

  #below() {
    const hint = `Click any ${desk.unit[0]} to take it away or to put it back. With keys: arrows move, Enter takes away, u undoes.`;
    this.reasons = el("div", { class: "listed" });
    this.never = el("div", { class: "listed" });
    return [el("p", { class: "note" }, hint), this.reasons, this.never];
  }

  #pick(place) {
    rest(this.protectButton, this.locked?.has(place));
    this.protectButton.textContent = `Never use “${shortName(this.units[place].name)}”`;
  }
}

function button(label, act, more = {}) {
  const run = () => made.getAttribute("aria-disabled") === "true" || act();
  const made = el("button", { type: "button", onclick: run, ...more }, label);
  return made;
}

/** A button that rests can still have the focus, so that nobody who uses keys loses the place. */
function rest(made, resting) {
  if (resting) made.setAttribute("aria-disabled", "true");
  else made.removeAttribute("aria-disabled");
}

function chip(name, label, act) {
  return el("li", { class: "chip" }, named(name, 60), el("button", { type: "button", class: "small", onclick: act }, label, unseen(` ${nameOf(name)}`)));
}
