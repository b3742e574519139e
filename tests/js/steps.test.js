import assert from "node:assert/strict";
import { test } from "node:test";
import { Acts } from "../../src/butfor/_web/static/acts.js";
import { untouchedState } from "../../src/butfor/_web/static/state.js";
import { Steps, stepAsked } from "../../src/butfor/_web/static/steps.js";

const places = (steps) => [...steps.now.removed];
const press = (key, more = {}) => stepAsked({ key, target: {}, ...more });

test("steps go back and forth, and a new one forgets what was undone", () => {
  const steps = new Steps(untouchedState());
  assert.deepEqual([steps.canUndo, steps.canRedo], [false, false]);
  assert.ok(steps.take({ removed: new Set([1]) }));
  assert.ok(steps.take({ removed: new Set([1, 2]) }));
  assert.ok(!steps.take({ removed: new Set([2, 1]) }), "the same again is no step");
  steps.undo();
  assert.deepEqual(places(steps), [1]);
  steps.redo();
  assert.deepEqual(places(steps), [1, 2]);
  steps.undo();
  steps.take({ removed: new Set([3]) });
  assert.deepEqual([steps.canUndo, steps.canRedo], [true, false]);
  steps.undo();
  steps.undo();
  steps.undo();
  assert.deepEqual(places(steps), []);
});

test("keys undo and redo", () => {
  assert.equal(press("u"), "undo");
  assert.equal(press("z", { ctrlKey: true }), "undo");
  assert.equal(press("z", { metaKey: true }), "undo");
  assert.equal(press("U", { shiftKey: true }), "redo");
  assert.equal(press("y", { ctrlKey: true }), "redo");
  assert.equal(press("Z", { ctrlKey: true, shiftKey: true }), "redo");
});

test("keys of others are left alone", () => {
  assert.equal(press("z"), null);
  assert.equal(press("u", { ctrlKey: true }), null);
  assert.equal(press("u", { altKey: true }), null);
  assert.equal(press("u", { target: { closest: () => ({}) } }), null, "what is typed into a field");
});

test("every act is a step, and says what it did", () => {
  const told = [];
  const before = [];
  const state = untouchedState();
  const acts = new Acts({ state, tell: (text) => told.push(text), onStep: (was) => before.push(was) });
  acts.begin([{ name: "free" }, { name: "prize" }], new Set([1]));
  acts.toggle(0);
  assert.deepEqual(acts.state.removed, new Set([1, 0]));
  acts.protect("free");
  assert.deepEqual(acts.state, { removed: new Set([1]), protected: ["free"], search: "" });
  assert.equal(told.at(-1), "Never used from now on: free.");
  acts.protect("free");
  assert.equal(before.length, 2, "what is protected already is no step");
  acts.release("free");
  acts.choose("sedc");
  acts.take([0], "What sedc takes away.");
  assert.deepEqual([acts.state.search, told.at(-1)], ["sedc", "What sedc takes away."]);
  acts.reset();
  assert.deepEqual(acts.state, untouchedState());
  acts.move("undo");
  assert.deepEqual(acts.state.removed, new Set([0]));
  acts.move("redo");
  acts.move("redo");
  assert.equal(before.length, 8, "nothing is left to be done again");
});
