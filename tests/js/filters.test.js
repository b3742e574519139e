import assert from "node:assert/strict";
import { test } from "node:test";
import {
  OUTCOMES,
  STATUSES,
  filterOf,
  outcomeOf,
  sizesShown,
  statusText,
} from "../../src/butfor/_web/static/outcomes.js";

test("every choice leads to a filter, and back", () => {
  for (const [choice] of OUTCOMES) {
    const state = Object.fromEntries(Object.entries(filterOf(choice)).filter(([, value]) => value !== null));
    assert.equal(outcomeOf(state), choice);
  }
});

test("a choice takes the place of the one before", () => {
  assert.deepEqual(filterOf("proven=true"), { status: null, proven: "true" });
  assert.deepEqual(filterOf(null), { status: null, proven: null });
});

test("outcomes are called the same everywhere", () => {
  for (const [status, text] of STATUSES) {
    assert.equal(statusText(status), text);
    assert.equal(OUTCOMES.find(([choice]) => choice === `status=${status}`)?.[1], text);
  }
  assert.equal(statusText("of another version"), "of another version");
});

test("sizes are shown without gaps, unless there are too many", () => {
  assert.deepEqual(sizesShown({}), []);
  assert.deepEqual(sizesShown({ 4: 1, 2: 7 }), [1, 2, 3, 4]);
  assert.deepEqual(sizesShown({ 200: 1, 9: 7 }), [9, 200]);
});
