// A row of stored results: there is no model to ask, so nothing can be taken away.

import { desk } from "./api.js";
import { el, named } from "./dom.js";
import { Evidence } from "./evidence.js";
import { Export } from "./export.js";
import { Scale } from "./scale.js";
import { classOf, positiveOf } from "./words.js";

/** The view of one stored explanation. */
export class Stored {
  constructor() {
    this.element = el("div", { class: "bench" });
  }

  /** Show what is stored of a row. */
  show(row) {
    const why = row.explanation;
    const told = `These are stored results, without the model: ${desk.unit[1]} cannot be taken away here. Start butfor serve with the model to do that.`;
    this.element.replaceChildren(el("p", { class: "stored" }, told), why ? this.#explained(why, row) : this.#nothing(row));
  }

  #nothing(row) {
    return el("p", { class: "sentence" }, row.error ? `This row failed: ${row.error}` : "There is no stored explanation of this row.");
  }

  #explained(why, row) {
    const answer = el("div", { class: "answer" }, row.decision && el("p", { class: "decided" }, "Decided: ", el("strong", {}, named(classOf(row.decision)))), el("p", { class: "sentence", dir: "auto" }, why.sentence), el("p", { class: "proof" }, why.proof), el("p", { class: "facts" }, why.facts));
    const scale = new Scale({ nClasses: why.n_classes, classes: desk.classes });
    scale.show({ score: why.score, without: why.score_without, threshold: why.threshold, changed: why.status === "found", positive: positiveOf(why) });
    const panel = new Export({ explained: async () => why, name: `row-${row.number}` });
    panel.show({ ...why, origin: "The stored answer" }, "");
    for (const [i, part] of [why.sentence, why.letter, why, why.page].entries()) if (!part) panel.buttons[i].hidden = true;
    return el("div", { class: "bench-body" }, el("div", { class: "bench-main" }, answer, el("div", { class: "now" }, scale.element), el("div", { class: "box" }, this.#units(why, row.text))),
      el("div", { class: "bench-side" }, panel.element));
  }

  #units(why, text) {
    const hasPlaces = text !== null && why.spans.some((spans) => spans.length);
    const names = !hasPlaces && why.items.length ? why.items : why.features;
    const units = names.map((name, place) => ({ name, spans: hasPlaces ? (why.spans[place] ?? []) : [] }));
    const evidence = new Evidence({ text: text ?? null, units, noun: desk.unit });
    const marked = names === why.items ? why.places : why.features.map((_, place) => place);
    evidence.show({ removed: new Set(), evidence: new Set(marked), locked: new Set() });
    return text === null && !names.length ? el("p", { class: "note" }, named("Nothing is stored of what the row holds.")) : evidence.element;
  }
}
