import assert from "node:assert/strict";
import { test } from "node:test";
import { targets } from "../../src/butfor/_web/static/pager.js";

test("links lead to the first, previous, next and last page", () => {
  assert.deepEqual(targets(3, 9), [1, 2, 4, 9]);
});

test("links that lead to no other page lead nowhere", () => {
  assert.deepEqual(targets(1, 9), [null, null, 2, 9]);
  assert.deepEqual(targets(9, 9), [1, 8, null, null]);
  assert.deepEqual(targets(1, 1), [null, null, null, null]);
});
