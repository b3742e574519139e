// What the page says about a row as it stands, in words.

import { decimals, printable, shortened } from "./dom.js";

/** Say how the decision stands without what is taken away. */
export function verdict(trial, nRemoved) {
  if (nRemoved === 0) return `As it is: ${decided(trial.decision)}${numbers(trial)}.`;
  if (trial.flipped) {
    const now = trial.decision_without ? `: now ${nameOf(trial.decision_without)}` : "";
    return `The decision flips${now}${numbers(trial)}.`;
  }
  return trial.decision ? `Still ${nameOf(trial.decision)}${numbers(trial)}.` : `The decision stays${numbers(trial)}.`;
}

function decided(decision) {
  return decision ? nameOf(decision) : "decided";
}

/** A class or a unit in a sentence: safe, and not too long. */
export function nameOf(name) {
  return printable(shortened(name, 60));
}

function numbers({ score, score_without, threshold, n_classes }) {
  const [, now, limit] = decimals(score, score_without, threshold);
  return n_classes > 2 ? ` (lead ${now}, flips below 0)` : ` (${now}, threshold ${limit})`;
}

/** Say in short what is proven about the size of an answer. */
export function proofOf(why) {
  if (why.status !== "found") return "";
  if (why.proven) return why.costs ? "proven cheapest" : "proven smallest";
  return why.costs ? `at least a cost of ${why.lower_bound} needed` : `at least ${why.lower_bound} needed`;
}

/** A name for a button, which has room for a few letters. */
export function shortName(name) {
  return printable(shortened(name, 24));
}
