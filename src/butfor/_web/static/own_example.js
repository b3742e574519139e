// Something to try the page with: a row of the data, if there are any.

import { get, post } from "./api.js";
import { areUnnamed, columnOf } from "./state.js";
import { workspace } from "./workspace.js";

const EXAMPLE = "Congratulations! You have won a free prize. Call now to claim your reward.";

/**
 * Find a text, or items, that can be explained.
 * @param {AbortSignal} signal
 * @returns {Promise<import("./own_address.js").Own>}
 */
export function exampleOf(signal) {
  if (workspace.kind === "records") return exampleRecord(signal);
  return workspace.kind === "texts" ? exampleText(signal) : exampleItems(signal);
}

/** @param {AbortSignal} signal */
async function exampleText(signal) {
  if (!workspace.n_rows) return EXAMPLE;
  const number = await exampleRow({}, "-score", signal);
  return (await get(`api/rows/${number}`, {}, { signal })).text ?? EXAMPLE;
}

/** @param {AbortSignal} signal */
async function exampleRecord(signal) {
  /** @type {OwnRecord} */
  const empty = Object.fromEntries(workspace.columns.map(({ name, choices }) => [name, choices[0] ?? null]));
  if (!workspace.n_rows) return { record: empty };
  const number = await exampleRow({ decision: workspace.classes.at(-1) }, "score", signal);
  return { record: (await get(`api/rows/${number}`, {}, { signal })).record ?? empty };
}

/** @param {AbortSignal} signal */
async function exampleItems(signal) {
  if (!workspace.n_rows) return features("", 5, signal);
  const number = await exampleRow({ decision: workspace.classes.at(-1) }, "score", signal);
  /** @type {{ units: UnitAnswer[] }} */
  const { units } = await post("api/score", { row: number, removed: [], units: true }, { signal });
  const names = units.map(({ name }) => name);
  if (areUnnamed(names)) return names.map(columnOf);
  const known = await features(names[0] ?? "", 1, signal);
  return known.includes(names[0]) ? names : features("", 5, signal);
}

/**
 * A clear case of a text; of items a close one, as rows that are decided by a hair have few of them.
 * @param {Params} filter
 * @param {string} sort
 * @param {AbortSignal} signal
 * @returns {Promise<number>}
 */
async function exampleRow(filter, sort, signal) {
  const { rows } = await get("api/rows", { ...filter, sort, per_page: 1 }, { signal });
  return rows[0]?.number ?? 0;
}

/**
 * @param {string} q
 * @param {number} limit
 * @param {AbortSignal} signal
 * @returns {Promise<Item[]>}
 */
async function features(q, limit, signal) {
  /** @type {{ features: FeatureAnswer[] }} */
  const found = await get("api/features", { q, limit }, { signal });
  return found.features.map(({ name, column }) => (areUnnamed([name]) ? column : name));
}
