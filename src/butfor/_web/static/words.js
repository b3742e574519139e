// What the page says about a row as it stands, in words.

import { amount, decimals } from "./numbers.js";
import { classOf } from "./text.js";

const LONGEST_CLASS = 24;

/**
 * Say how the decision stands without what is taken away; `classes` are the names of all classes.
 * @param {ScoreAnswer} trial
 * @param {number} nRemoved
 * @param {string[]} classes
 */
export function verdict(trial, nRemoved, classes) {
  const told = numbers(trial, classes);
  if (nRemoved === 0) return `As it is: ${trial.decision ? classOf(trial.decision) : "decided"}${told}.`;
  if (trial.flipped) {
    const now = trial.decision_without ? `: now ${classOf(trial.decision_without)}` : "";
    return `The decision flips${now}${told}.${contradiction(trial)}`;
  }
  return trial.decision ? `Still ${classOf(trial.decision)}${told}.` : `The decision stays${told}.`;
}

/** @param {ScoreAnswer} trial */
function contradiction({ explanation }) {
  if (!isContradicted(explanation)) return "";
  return " But with the same deleted from the text itself, the decision stays.";
}

/**
 * @param {ScoreAnswer} trial
 * @param {string[]} classes
 */
function numbers(trial, classes) {
  const [, now, limit] = decimals(trial.score, trial.score_without, trial.threshold);
  if (trial.n_classes > 2) return ` (lead ${now}, flips below 0)`;
  return ` (${scoreOf(positiveOf(trial, classes))}: ${now}, threshold ${limit})`;
}

/**
 * The class that is decided for from the threshold on, whose score it is; nothing where no names are known.
 * @param {{ score: number, threshold: number, decision: string | null }} row
 * @param {string[]} classes
 */
export function positiveOf({ score, threshold, decision }, classes) {
  if (!decision || classes.length !== 2) return "";
  return score >= threshold ? decision : (classes.find((name) => name !== decision) ?? "");
}

/**
 * Say whose score it is.
 * @param {string} positive
 */
export function scoreOf(positive) {
  return positive ? `score of ${classOf(positive, LONGEST_CLASS)}` : "score";
}

/**
 * Whether the text without the words, read by the model anew, is decided as before.
 * @param {{ status: string, survives_deletion: boolean | null } | null | undefined} why
 */
export function isContradicted(why) {
  return why?.status === "found" && why.survives_deletion === false;
}

/**
 * Say in short what is proven about the size of an answer.
 * @param {Pick<ExplanationAnswer, "status" | "proven" | "costs" | "lower_bound">} why
 */
export function proofOf({ status, proven, costs, lower_bound }) {
  if (status !== "found") return "";
  if (proven) return costs ? "proven cheapest" : "proven smallest";
  return `at least ${costs ? "a cost of " : ""}${amount(lower_bound ?? 0)} needed`;
}
