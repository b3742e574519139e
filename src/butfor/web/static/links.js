// Addresses of views. What is empty is left out, so that the same state has the same address.

/** The address of a view and its state: `link("row/17", { removed: "3,5" })` is "#/row/17?removed=3%2C5". */
export function link(view, params = {}) {
  const given = params instanceof URLSearchParams ? [...params] : Object.entries(params);
  const query = new URLSearchParams(given.filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return `#/${view}${query.size ? `?${query}` : ""}`;
}
