// What the model says of a row without some of its units.

import { post } from "./api.js";

/**
 * Read a row: its units, and how it is decided without some of them. `removed` is what of them could be taken away:
 * a link may name units that are not there any more, then none are. The server is not told what is protected, as it
 * does not say where protected words stand.
 * @param {Subject} subject
 * @param {number[]} wanted places
 * @param {string[]} never names
 * @param {AbortSignal} [signal]
 */
export async function readRow(subject, wanted, never, signal) {
  /** @type {(removed: number[]) => Promise<ScoreAnswer & { units: UnitAnswer[] }>} */
  const ask = (removed) => post("api/score", { ...subject, removed, units: true }, { signal });
  const trial = await ask(wanted).catch((error) => {
    if (error.status !== 422 || !wanted.length) throw error;
    return null;
  });
  if (trial === null) return { trial: await ask([]), removed: [] };
  const locked = lockedOf(trial.units, never);
  const removed = wanted.filter((place) => !locked.has(place));
  return { trial: removed.length < wanted.length ? await ask(removed) : trial, removed };
}

/**
 * Have the model decide without some units.
 * @param {Question} question
 * @param {number[]} removed
 * @param {("letter" | "page")[]} include
 * @param {AbortSignal} [signal]
 * @returns {Promise<ScoreAnswer>}
 */
export function tryWithout(question, removed, include, signal) {
  return post("api/score", { ...question, removed, include }, { signal });
}

/**
 * What is known of a row from which nothing is taken away.
 * @param {ScoreAnswer} trial
 * @returns {ScoreAnswer}
 */
export function untouched(trial) {
  const { score, decision } = trial;
  return { ...trial, score_without: score, decision_without: decision, flipped: false, explanation: null };
}

/**
 * The places of units that may not be taken away.
 * @param {UnitAnswer[]} units
 * @param {string[]} never
 */
export function lockedOf(units, never) {
  const names = new Set(never);
  const isFree = (/** @type {UnitAnswer} */ unit) => unit.removable && !names.has(unit.name);
  return new Set(units.flatMap((unit, place) => (isFree(unit) ? [] : [place])));
}
