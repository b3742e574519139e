import assert from "node:assert/strict";
import { test } from "node:test";
import { link, partsOf, queryOf } from "../../src/butfor/_web/static/links.js";
import { ownItems, ownText, paramsOfOwn } from "../../src/butfor/_web/static/own_address.js";

test("what is empty is left out of an address", () => {
  assert.equal(link("rows"), "#/rows");
  assert.equal(link("rows", { q: "", page: null, size: undefined }), "#/rows");
  assert.equal(link("rows", { size: 0, proven: false }), "#/rows?size=0&proven=false");
  assert.equal(link("row/17", { removed: "3,5" }), "#/row/17?removed=3%2C5");
  assert.equal(link("own", new URLSearchParams([["items", "a"], ["items", "b&c"]])), "#/own?items=a&items=b%26c"); // prettier-ignore
  assert.equal(queryOf({}), "");
});

test("an address is read as it was written", () => {
  const { name, path, params } = partsOf(link("row/17", { q: "a?b#c", decision: "ü" }));
  assert.deepEqual([name, path, params.get("q"), params.get("decision")], ["row", ["17"], "a?b#c", "ü"]);
});

test("any address can be read", () => {
  assert.equal(partsOf("").name, "");
  assert.equal(partsOf("#/").name, "");
  assert.equal(partsOf("#?x").params.get("x"), "");
  assert.deepEqual(partsOf("#/nowhere/%E0%A4%A").path, ["%E0%A4%A"], "what is no encoding stays");
});

test("a text or items of one's own fit into an address", () => {
  const params = (own) => new URLSearchParams(paramsOfOwn(own));
  assert.equal(ownText(params("free & easy"), undefined), "free & easy");
  assert.deepEqual(ownItems(params(["Die Hard", 12, "7", 3]), undefined), ["Die Hard", "7", 12, 3]);
  assert.deepEqual(ownItems(new URLSearchParams("columns=1,x,-2,3"), undefined), [1, 3]);
});

test("what does not fit is kept by the browser", () => {
  const kept = new URLSearchParams("kept=key");
  assert.equal(ownText(kept, "long"), "long");
  assert.equal(ownText(kept, undefined), "");
  assert.deepEqual(ownItems(kept, ["a", 1]), ["a", 1]);
  assert.deepEqual(ownItems(kept, "no list"), []);
});
