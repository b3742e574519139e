// A row of stored results: there is no model to ask, so nothing can be taken away.

import { el, named } from "./dom.js";
import { Evidence } from "./evidence.js";
import { Export } from "./export.js";
import { Scale } from "./scale.js";
import { decidedFor } from "./sheet.js";
import { positiveOf } from "./words.js";
import { workspace } from "./workspace.js";

const TOLD = `These are stored results, without the model: ${workspace.unit[1]} cannot be taken away here. Start butfor serve with the model to do that.`;

/** The view of one stored explanation. */
export class Stored {
  element = el("div", { class: "what-if" });

  /**
   * Show what is stored of a row.
   * @param {OneRowAnswer} row
   */
  show(row) {
    const told = el("p", { class: "stored" }, TOLD);
    this.element.replaceChildren(told, row.explanation ? explained(row.explanation, row) : nothing(row));
  }
}

/** @param {OneRowAnswer} row */
function nothing({ error }) {
  const told = error ? `This row failed: ${error}` : "There is no stored explanation of this row.";
  return el("p", { class: "sentence" }, told);
}

/**
 * @param {ExplanationAnswer} why
 * @param {OneRowAnswer} row
 */
function explained(why, row) {
  const main = el(
    "div",
    { class: "what-if-main" },
    answerOf(why, row),
    el("div", { class: "now" }, scaleOf(why).element),
    el("div", { class: "box" }, unitsOf(why, row.text)),
  );
  const side = el("div", { class: "what-if-side" }, exportsOf(why, row).element);
  return el("div", { class: "what-if-body" }, main, side);
}

/**
 * @param {ExplanationAnswer} why
 * @param {OneRowAnswer} row
 */
function answerOf(why, row) {
  return el(
    "div",
    { class: "answer" },
    row.decision && el("p", { class: "decided" }, decidedFor(row.decision)),
    el("p", { class: "sentence", dir: "auto" }, why.sentence),
    el("p", { class: "proof" }, why.proof),
    el("p", { class: "facts" }, why.facts),
  );
}

/** @param {ExplanationAnswer} why */
function scaleOf(why) {
  const { score, score_without: without, threshold, status } = why;
  const scale = new Scale({ nClasses: why.n_classes, classes: workspace.classes });
  const positive = positiveOf(why, workspace.classes);
  scale.show({ score, without, threshold, changed: status === "found", positive });
  return scale;
}

/**
 * @param {ExplanationAnswer} why
 * @param {OneRowAnswer} row
 */
function exportsOf(why, row) {
  const panel = new Export({ explained: async () => why, name: `row-${row.number}` });
  panel.show({ ...why, origin: "The stored answer" }, "");
  for (const [i, part] of [why.sentence, why.letter, why, why.page].entries())
    if (!part) panel.buttons[i].hidden = true;
  return panel;
}

/**
 * @param {ExplanationAnswer} why
 * @param {string | null} text
 */
function unitsOf(why, text) {
  const hasPlaces = text !== null && why.spans.some((spans) => spans.length);
  const names = !hasPlaces && why.items.length ? why.items : why.features;
  if (text === null && !names.length)
    return el("p", { class: "note" }, named("Nothing is stored of what the row holds."));
  const units = names.map((name, place) => ({ name, spans: hasPlaces ? (why.spans[place] ?? []) : [] }));
  const evidence = new Evidence({ text, units, noun: workspace.unit });
  const marked = names === why.items ? why.places : why.features.map((_, place) => place);
  evidence.show({ removed: new Set(), evidence: new Set(marked), locked: new Set() });
  return evidence.element;
}
