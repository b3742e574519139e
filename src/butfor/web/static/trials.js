// What the model says of a row without some of its units.

import { post } from "./api.js";

/**
 * Read a row: its units, and how it is decided without some of them. `removed` is what of them could be taken away:
 * a link may name units that are not there any more, then none are. The server is not told what is protected, as it
 * does not say where protected words stand.
 */
export async function readRow(subject, wanted, never, signal) {
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

/** Have the model decide without some units. */
export function tryWithout(question, removed, include, signal) {
  return post("api/score", { ...question, removed, include }, { signal });
}

/** What is known of a row from which nothing is taken away. */
export function untouched(trial) {
  return { ...trial, score_without: trial.score, decision_without: trial.decision, flipped: false, explanation: null };
}

/** The places of units that may not be taken away. */
export function lockedOf(units, never) {
  const names = new Set(never);
  return new Set(units.flatMap((unit, place) => (unit.removable && !names.has(unit.name) ? [] : [place])));
}
