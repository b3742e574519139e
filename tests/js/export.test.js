import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonOf } from "../../src/butfor/_web/static/export.js";

test("JSON has what Explanation.from_dict takes, without what the page adds", () => {
  const added = {
    size: 1,
    proven: true,
    sentence: "",
    proof: "",
    facts: "",
    letter: null,
    page: null,
    origin: "",
  };
  const written = jsonOf({ status: "found", features: ["free"], ...added });
  assert.deepEqual(JSON.parse(written), { status: "found", features: ["free"] });
  assert.ok(written.endsWith("}\n"));
});
