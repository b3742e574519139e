// A text or items of one's own in an address.

/** @typedef {{ record: OwnRecord }} OwnRow */
/** @typedef {string | Item[] | OwnRow} Own */

/**
 * Write a text or items as parameters of an address.
 * @param {Own} own
 * @returns {[name: string, value: string][]}
 */
export function paramsOfOwn(own) {
  if (typeof own === "string") return [["text", own]];
  if (!Array.isArray(own)) return [["record", JSON.stringify(own.record)]];
  /** @type {[name: string, value: string][]} */
  const params = own.flatMap((item) => (typeof item === "string" ? [["items", item]] : []));
  const columns = own.filter((item) => typeof item === "number").join(",");
  return columns ? [...params, ["columns", columns]] : params;
}

/**
 * Read a text from the parameters of an address, or from what the browser kept for it.
 * @param {URLSearchParams} params
 * @param {unknown} kept
 */
export function ownText(params, kept) {
  return params.get("kept") ? String(kept ?? "") : (params.get("text") ?? "");
}

/**
 * Read items from the parameters of an address, or from what the browser kept for it.
 * @param {URLSearchParams} params
 * @param {unknown} kept
 * @returns {Item[]}
 */
export function ownItems(params, kept) {
  if (params.get("kept")) return Array.isArray(kept) ? kept : [];
  const columns = (params.get("columns") ?? "").split(",").filter((part) => /^\d+$/.test(part));
  return [...params.getAll("items"), ...columns.map(Number)];
}

/**
 * Read a record from the parameters of an address, or from what the browser kept for it.
 * @param {URLSearchParams} params
 * @param {unknown} kept
 * @returns {OwnRow | null}
 */
export function ownRecord(params, kept) {
  if (params.get("kept")) return /** @type {OwnRow | null} */ (kept ?? null);
  try {
    const record = JSON.parse(params.get("record") ?? "null");
    return record === null || typeof record !== "object" ? null : { record };
  } catch {
    return null;
  }
}
