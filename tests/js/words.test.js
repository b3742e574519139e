// Names and numbers are written as Python writes them: the same cases are run by test_same_words.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { amount, counted, decimals, seconds } from "../../src/butfor/_web/static/numbers.js";
import { cut } from "../../src/butfor/_web/static/pieces.js";
import { classOf, printable, shortened } from "../../src/butfor/_web/static/text.js";
import { proofOf, verdict } from "../../src/butfor/_web/static/words.js";
import { trial } from "./answers_of_a_server.js";

const cases = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf-8"));
const LONGEST_IN_PYTHON = 80;

for (const { numbers, written } of cases.decimals)
  test(`decimals of ${numbers.join(", ")}`, () => {
    assert.deepEqual(
      decimals(...numbers).map((text) => text.replaceAll("−", "-")),
      written,
    );
  });

test("amounts", () => {
  for (const { value, written } of cases.amount) assert.equal(amount(value), written);
});

test("counts with their nouns", () => {
  for (const { n, noun, written } of cases.counted) assert.equal(counted(n, ...noun), written);
});

test("long texts are cut", () => {
  for (const { text, longest, written } of cases.shortened) assert.equal(shortened(text, longest), written);
});

test("control and direction characters are shown, not obeyed", () => {
  const escape = (part) => (typeof part === "string" ? part : `\\u{${part.toString(16)}}`);
  for (const { text, shown } of cases.printable) assert.equal(printable(text), shown.map(escape).join(""));
  assert.equal(printable("a\nb\u0000", "\n"), "a\nb\\u{0}");
});

test("classes that are numbers say that they are classes", () => {
  for (const { name, written } of cases.classes) assert.equal(classOf(name, LONGEST_IN_PYTHON), written);
});

test("texts are cut at their units, which count code points", () => {
  for (const { text, spans, pieces } of cases.pieces)
    assert.deepEqual(
      cut(
        text,
        spans.map((each) => ({ spans: each })),
      ),
      pieces,
    );
});

test("a minus is a minus", () => {
  assert.deepEqual(decimals(-0.25), ["−0.25"]);
  assert.deepEqual(decimals(-3e-9, -1e-9), ["−3e−09", "−1e−09"]);
});

test("times", () => {
  assert.deepEqual([0, 0.0124, 0.994, 0.995, 12.34].map(seconds), [
    "0 ms",
    "12 ms",
    "994 ms",
    "1.0 s",
    "12.3 s",
  ]);
});

test("how a decision stands", () => {
  const classes = ["ham", "spam"];
  const flipped = trial({ score_without: 0.31, decision_without: "ham", flipped: true });
  assert.equal(verdict(trial(), 0, classes), "As it is: spam (score of spam: 0.93, threshold 0.50).");
  assert.equal(verdict(trial(), 1, classes), "Still spam (score of spam: 0.93, threshold 0.50).");
  assert.equal(
    verdict(flipped, 2, classes),
    "The decision flips: now ham (score of spam: 0.31, threshold 0.50).",
  );
});

test("a flip that deletion contradicts says so", () => {
  const explanation = { status: "found", survives_deletion: false };
  const told = verdict(trial({ score_without: 0.31, flipped: true, explanation }), 1, ["ham", "spam"]);
  assert.match(told, /But with the same deleted from the text itself, the decision stays\.$/);
});

test("of many classes the score is a lead, and a class may have no name", () => {
  const many = trial({ n_classes: 3, score_without: 0.2, threshold: 0 });
  assert.equal(verdict(many, 1, ["a", "b", "c"]), "Still spam (lead 0.20, flips below 0).");
  assert.equal(verdict(trial({ decision: "" }), 1, []), "The decision stays (score: 0.93, threshold 0.50).");
});

test("what is proven", () => {
  const why = { status: "found", proven: false, costs: false, lower_bound: 1200 };
  assert.equal(proofOf({ ...why, proven: true }), "proven smallest");
  assert.equal(proofOf({ ...why, proven: true, costs: true }), "proven cheapest");
  assert.equal(proofOf(why), "at least 1,200 needed");
  assert.equal(proofOf({ ...why, costs: true, lower_bound: 0.1 + 0.2 }), "at least a cost of 0.3 needed");
  assert.equal(proofOf({ ...why, status: "none" }), "");
});
