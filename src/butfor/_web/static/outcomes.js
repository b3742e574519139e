// How rows came out: what an outcome is called, and how the list of rows is narrowed to it.

const MOST_SIZES = 30;

/** What statuses are called. @type {[status: RowStatus, text: string][]} */
export const STATUSES = [
  ["found", "found"],
  ["none", "none possible"],
  ["budget", "not found in time"],
  ["error", "error"],
  ["pending", "not explained yet"],
];

/** What the list can be narrowed to: a filter of the address, and what it is called. @type {[choice: string, text: string][]} */
export const OUTCOMES = [
  ["", "any"],
  ["status=found", "found"],
  ["proven=true", "found, proven smallest"],
  ["proven=false", "found, not proven"],
  ["status=none", "none possible"],
  ["status=budget", "not found in time"],
  ["status=error", "error"],
  ["status=pending", "not explained yet"],
];

/** The state of the list: filters, order and page, as they stand in the address. @typedef {Record<string, string>} Listed */

/**
 * The choice that a state of the list stands for.
 * @param {Listed} state
 */
export function outcomeOf({ proven, status }) {
  if (proven) return `proven=${proven}`;
  return status ? `status=${status}` : "";
}

/**
 * What a choice changes in the state of the list.
 * @param {string | null} choice
 * @returns {Params}
 */
export function filterOf(choice) {
  const [name, value] = (choice ?? "").split("=");
  return { status: null, proven: null, ...(name && { [name]: value }) };
}

/**
 * What a status is called.
 * @param {string} status
 */
export function statusText(status) {
  return STATUSES.find(([known]) => known === status)?.[1] ?? status;
}

/**
 * The sizes of explanations that a plot shows: all from 1 on, or where these are too many, those that there are.
 * @param {Record<string, number>} sizes how many explanations have each size
 */
export function sizesShown(sizes) {
  const some = Object.keys(sizes).map(Number);
  const largest = Math.max(0, ...some);
  if (largest > MOST_SIZES) return some.sort((one, other) => one - other);
  return Array.from({ length: largest }, (_, i) => i + 1);
}
