import assert from "node:assert/strict";
import { test } from "node:test";
import {
  areUnnamed,
  asksTheSame,
  columnOf,
  isSame,
  keyOf,
  paramsOf,
  questionOf,
  stateOf,
  toggled,
  untouchedState,
  withProtected,
  withoutProtected,
} from "../../src/butfor/_web/static/state.js";

const read = (query) => stateOf(new URLSearchParams(query));
const write = (state) => String(new URLSearchParams(paramsOf(state)));

test("an address holds the whole state, in one order", () => {
  const state = read("removed=7,3&protected=free&protected=a%2Cb&search=sedc");
  assert.deepEqual(state, { removed: new Set([7, 3]), protected: ["free", "a,b"], search: "sedc" });
  assert.equal(write(state), "removed=3%2C7&protected=free&protected=a%2Cb&search=sedc");
  assert.equal(write(read(write(state))), write(state));
  assert.equal(write(untouchedState()), "");
});

test("what an address cannot mean is left out", () => {
  assert.deepEqual(read("removed=1,x,-2,,3.5,99999999999,4&protected=a&protected=a"), {
    removed: new Set([1, 4]),
    protected: ["a"],
    search: "",
  });
});

test("states are the same whatever the order of places", () => {
  assert.ok(isSame(read("removed=1,2"), read("removed=2,1")));
  assert.ok(!isSame(read("removed=1"), read("removed=2")));
  assert.equal(keyOf(new Set([10, 9])), "9,10");
});

test("only what is protected and which search is chosen matters to the searches", () => {
  assert.ok(asksTheSame(read("removed=1&protected=a"), read("removed=2&protected=a")));
  assert.ok(!asksTheSame(read("protected=a"), read("protected=b")));
  assert.ok(!asksTheSame(read("search=sedc"), read("")));
});

test("units are taken away and put back", () => {
  const state = read("removed=1");
  assert.deepEqual(toggled(state, 2).removed, new Set([1, 2]));
  assert.deepEqual(toggled(state, 1).removed, new Set());
  assert.deepEqual(state.removed, new Set([1]));
});

test("what is protected is put back wherever it stands, and can be allowed again", () => {
  const units = ["free", "prize", "free"].map((name) => ({ name }));
  const change = withProtected(read("removed=0,1,2"), "free", units);
  assert.deepEqual(change, { removed: new Set([1]), protected: ["free"] });
  assert.deepEqual(withoutProtected({ ...untouchedState(), ...change }, "free"), { protected: [] });
});

test("features without names are asked for by column", () => {
  assert.ok(areUnnamed(["feature 0", "feature 12"]));
  assert.ok(!areUnnamed(["feature 0", "free"]));
  assert.ok(!areUnnamed([]));
  assert.equal(columnOf("feature 12"), 12);
  assert.deepEqual(questionOf({ row: 1 }, ["feature 12"], true), { row: 1, protected: [12] });
  assert.deepEqual(questionOf({ row: 1 }, ["free"], false), { row: 1, protected: ["free"] });
});
