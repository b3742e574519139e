import assert from "node:assert/strict";
import { test } from "node:test";
import { Answers } from "../../src/butfor/_web/static/answers.js";
import { UNREACHABLE, get } from "../../src/butfor/_web/static/api.js";
import { Latest } from "../../src/butfor/_web/static/latest.js";
import { answering, explanation } from "./answers_of_a_server.js";

/** A server with these alternatives, smallest first. */
function alternatives(t, all, { complete_up_to = 30, reason = "" } = {}) {
  return answering(t, (path, { skip, limit }) => {
    if (path === "api/explain") return explanation(all[0], { proven: true });
    const explanations = all.slice(skip, skip + limit).map((places) => explanation(places));
    return { explanations, complete_up_to, reason };
  });
}

test("the search that answers is named only where one was chosen", async (t) => {
  const asked = alternatives(t, [[1]]);
  const answers = new Answers({ row: 3, protected: [] }, "words");
  await answers.smallest("");
  await answers.smallest("sedc");
  assert.deepEqual(
    asked.map(({ body }) => body.search),
    [undefined, "sedc"],
  );
});

test("alternatives come one after the other, and after the last the first again", async (t) => {
  alternatives(t, [[1], [2, 3], [2, 4]]);
  const answers = new Answers({ row: 3, protected: [] }, "words");
  await answers.smallest("");
  const seen = [];
  for (let i = 0; i < 3; i++) seen.push(await answers.another());
  assert.deepEqual(
    seen.map(({ why }) => why.places),
    [
      [2, 3],
      [2, 4],
      [2, 3],
    ],
  );
  assert.deepEqual(
    seen.map(({ told }) => told),
    ["2 of 3.", "3 of 3. No more: all of at most 30 words have been shown.", "2 of 3, from the start again."],
  );
});

test("more than ten are asked for in parts", async (t) => {
  const asked = alternatives(
    t,
    Array.from({ length: 12 }, (_, i) => [i]),
  );
  const answers = new Answers({ row: 3, protected: [] }, "words");
  await answers.smallest("");
  for (let i = 2; i <= 10; i++) assert.equal((await answers.another()).told, `${i} of at least 10.`);
  assert.equal((await answers.another()).told, "11 of 12.");
  assert.deepEqual(
    asked.map(({ body }) => body.skip),
    [undefined, 0, 10],
  );
});

test("where there is no other, that is said", async (t) => {
  alternatives(t, [[1]]);
  const answers = new Answers({ row: 3, protected: [] }, "words");
  await answers.smallest("");
  assert.deepEqual(await answers.another(), { why: null, told: "There is no other of at most 30 words." });
});

test("a search that ran out of time says what it has shown", async (t) => {
  alternatives(t, [[1], [2]], { complete_up_to: 1, reason: "time" });
  const answers = new Answers({ row: 3, protected: [] }, "words");
  await answers.smallest("");
  const { told } = await answers.another();
  assert.equal(told, "2 of 2. No more were found in time; all of at most 1 words have been shown.");
});

test("of the same set twice the proven one stays", async (t) => {
  alternatives(t, [[1, 2], [3]]);
  const answers = new Answers({ row: 3, protected: [] }, "words");
  const smallest = await answers.smallest("");
  await answers.another();
  assert.equal(answers.known.get("1,2"), smallest);
  assert.equal(answers.known.get("3").origin, "An alternative");
});

test("problems say what to do", async (t) => {
  answering(t, () => ({ http: 401 }));
  await assert.rejects(get("api/rows"), { title: "This page needs the server's token" });
  answering(t, () => ({ http: 500 }));
  await assert.rejects(get("api/rows"), {
    title: "The server failed",
    detail: "It answered with status 500.",
  });
  answering(t, () => {
    throw new TypeError("no network");
  });
  await assert.rejects(get("api/rows"), UNREACHABLE);
});

test("who stops a request is told nothing else", async (t) => {
  answering(t, () => ({}));
  await assert.rejects(get("api/rows", {}, { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("of several requests the last one counts", () => {
  const outer = new AbortController();
  const latest = new Latest(outer.signal);
  const first = latest.begin();
  const second = latest.begin();
  assert.deepEqual([first.aborted, second.aborted, latest.signal.aborted], [true, false, false]);
  outer.abort();
  assert.deepEqual([second.aborted, latest.signal.aborted], [true, true]);
});
