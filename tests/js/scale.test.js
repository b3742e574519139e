import assert from "node:assert/strict";
import { test } from "node:test";
import { collide, frameOf, labelsOf, placeOf, sidesOf, widened } from "../../src/butfor/_web/static/scale.js";

const SCORES = { score: 0.93, without: 0.31, threshold: 0.5, changed: true, positive: "spam" };

test("labels say what was and what is", () => {
  assert.deepEqual(labelsOf(SCORES, false), {
    first: "was 0.93",
    now: "now 0.31",
    threshold: "threshold 0.50",
    told: "The score of spam was 0.93 and is now 0.31; threshold 0.50.",
  });
  const still = labelsOf({ ...SCORES, changed: false }, false);
  assert.deepEqual(
    [still.first, still.told],
    ["score of spam 0.93", "The score of spam is 0.93; threshold 0.50."],
  );
});

test("of many classes the score is a lead", () => {
  const { threshold, told } = labelsOf({ ...SCORES, threshold: 0, positive: "" }, true);
  assert.equal(threshold, "0: no lead");
  assert.equal(told, "The lead was 0.93 and is now 0.31; below 0 the decision flips.");
});

test("probabilities go from 0 to 1, other scores as far as they reach", () => {
  assert.deepEqual(widened(null, [0.9, 0.2, 0.5], 0.5), [0, 1]);
  assert.deepEqual(widened(null, [4, 0, 2], 2), [-1, 5]);
  assert.deepEqual(widened(null, [1, 1, 1], 1), [0.75, 1.25]);
});

test("a range only grows", () => {
  assert.deepEqual(widened([-1, 5], [4, 1, 2], 2), [-1, 5]);
  assert.deepEqual(widened([-1, 5], [4, 8, 2], 2), [-1, 9.5]);
  assert.deepEqual(widened([-1, 5], [0.9, 0.2, 0.5], 0.5), [-1, 5]);
});

test("values have their places, with a margin at both ends", () => {
  assert.deepEqual([0, 0.5, 1].map((value) => placeOf(value, [0, 1], 200)), [14, 100, 186]); // prettier-ignore
});

test("labels stay inside and tell when they are too close", () => {
  assert.deepEqual(frameOf(100, 40, 200), [80, 120]);
  assert.deepEqual(frameOf(5, 40, 200), [0, 40]);
  assert.deepEqual(frameOf(195, 40, 200), [160, 200]);
  assert.ok(collide([0, 40], [45, 80]));
  assert.ok(!collide([0, 40], [50, 80]));
});

test("the sides of the threshold are named after the classes", () => {
  assert.deepEqual(sidesOf(["ham", "spam"], "ham"), ["spam", "ham"]);
  assert.deepEqual(sidesOf(["ham", "spam"], ""), ["ham", "spam"]);
  assert.deepEqual(sidesOf(["a", "b", "c"], "a"), ["", ""]);
});
