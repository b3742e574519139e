// What the page says about a row as it stands, in words.

import { desk } from "./api.js";
import { decimals, printable, shortened } from "./dom.js";

const BARE_CLASS = /^(-?[0-9]+(\.[0-9]+)?|True|False)$/;
const LONGEST_CLASS = 24;

/** Say how the decision stands without what is taken away. */
export function verdict(trial, nRemoved) {
  if (nRemoved === 0) return `As it is: ${decided(trial.decision)}${numbers(trial)}.`;
  if (trial.flipped) {
    const now = trial.decision_without ? `: now ${classOf(trial.decision_without)}` : "";
    const but = isContradicted(trial.explanation) ? " But with the same deleted from the text itself, the decision stays." : "";
    return `The decision flips${now}${numbers(trial)}.${but}`;
  }
  return trial.decision ? `Still ${classOf(trial.decision)}${numbers(trial)}.` : `The decision stays${numbers(trial)}.`;
}

function decided(decision) {
  return decision ? classOf(decision) : "decided";
}

/** A class in a sentence: its name, or a number as one. */
export function classOf(name, longest = 60) {
  return BARE_CLASS.test(name) ? `class ${name}` : printable(shortened(name, longest));
}

/** The class that is decided for from the threshold on, whose score it is; nothing where no names are known. */
export function positiveOf({ score, threshold, decision }) {
  if (!decision || desk.classes.length !== 2) return "";
  return score >= threshold ? decision : (desk.classes.find((name) => name !== decision) ?? "");
}

/** Say whose score it is. */
export function scoreOf(positive) {
  return positive ? `score of ${classOf(positive, LONGEST_CLASS)}` : "score";
}

/** Whether the text without the words, read by the model anew, is decided as before. */
export function isContradicted(why) {
  return why?.status === "found" && why.survives_deletion === false;
}

/** A class or a unit in a sentence: safe, and not too long. */
export function nameOf(name) {
  return printable(shortened(name, 60));
}

function numbers(trial) {
  const [, now, limit] = decimals(trial.score, trial.score_without, trial.threshold);
  return trial.n_classes > 2 ? ` (lead ${now}, flips below 0)` : ` (${scoreOf(positiveOf(trial))}: ${now}, threshold ${limit})`;
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
