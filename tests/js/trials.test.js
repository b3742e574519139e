import assert from "node:assert/strict";
import { test } from "node:test";
import { lockedOf, readRow, tryWithout, untouched } from "../../src/butfor/_web/static/trials.js";
import { answering, trial } from "./answers_of_a_server.js";

const UNITS = ["free", "prize", "now"].map((name) => ({ name, spans: [], removable: name !== "now" }));
const removedOf = (asked) => asked.map(({ body }) => body.removed);

test("a row is read with what the link takes away", async (t) => {
  const asked = answering(t, () => trial({ units: UNITS }));
  const { removed } = await readRow({ row: 3 }, [0, 1], []);
  assert.deepEqual(removed, [0, 1]);
  assert.deepEqual(asked, [{ path: "api/score", body: { row: 3, removed: [0, 1], units: true } }]);
});

test("what may not be taken away is left where it is", async (t) => {
  const asked = answering(t, () => trial({ units: UNITS }));
  const { removed } = await readRow({ row: 3 }, [0, 1, 2], ["free"]);
  assert.deepEqual(removed, [1]);
  assert.deepEqual(removedOf(asked), [[0, 1, 2], [1]]);
});

test("a link to units that are not there takes nothing away", async (t) => {
  const asked = answering(t, (_, { removed }) => (removed.length ? { http: 422 } : trial({ units: UNITS })));
  const { removed } = await readRow({ row: 3 }, [9], []);
  assert.deepEqual(removed, []);
  assert.deepEqual(removedOf(asked), [[9], []]);
});

test("other problems are told", async (t) => {
  answering(t, () => ({ http: 500, title: "The model failed", detail: "why" }));
  await assert.rejects(readRow({ row: 3 }, [9], []), {
    name: "Problem",
    status: 500,
    title: "The model failed",
  });
});

test("a trial says what is taken away and what to write", async (t) => {
  const asked = answering(t, () => trial());
  await tryWithout({ text: "free", protected: ["now"] }, [0], ["letter"]);
  assert.deepEqual(asked[0].body, { text: "free", protected: ["now"], removed: [0], include: ["letter"] });
});

test("a row to which nothing was done is as the model decided it", () => {
  const now = trial({ score_without: 0.1, decision_without: "ham", flipped: true, explanation: {} });
  assert.deepEqual(untouched(now), trial());
});

test("units are locked by name, and where the server says so", () => {
  assert.deepEqual(lockedOf(UNITS, ["prize"]), new Set([1, 2]));
});
