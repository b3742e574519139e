// Addresses of views, and how one is read. What is empty is left out, so that the same state has the same address.

/**
 * The address of a view and its state: `link("row/17", { removed: "3,5" })` is "#/row/17?removed=3%2C5".
 * @param {string} view
 * @param {Params | URLSearchParams} params
 */
export function link(view, params = {}) {
  return `#/${view}${queryOf(params)}`;
}

/**
 * What follows the path of an address: "?page=2", or nothing. Parameters that are null, undefined or "" are left out.
 * @param {Params | URLSearchParams} params
 */
export function queryOf(params) {
  const all = params instanceof URLSearchParams ? [...params] : Object.entries(params);
  const known = all.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
  return query.size ? `?${query}` : "";
}

/**
 * Read an address: `partsOf("#/row/17?removed=3")` has name "row", path ["17"] and the parameters.
 * @param {string} hash
 */
export function partsOf(hash) {
  const [way, query] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const [name, ...path] = way.split("/").map(decoded);
  return { name, path, params: new URLSearchParams(query) };
}

/**
 * @param {string} text
 * @param {string} mark
 */
function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
