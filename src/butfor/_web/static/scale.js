// The score of the row and of what is left of it, against the threshold: a drawing whose labels never collide.

import { svg } from "./dom.js";
import { decimals } from "./numbers.js";
import { classOf } from "./text.js";
import { scoreOf } from "./words.js";

const HEIGHT = 78;
const LINE = 36;
const ROWS = [57, 73];
const MARGIN = 14;
const GAP = 10;

/** @typedef {[from: number, to: number]} Range */
/**
 * The score of the row, the score without what is taken away, and the threshold, from which on it is `positive`.
 * @typedef {{ score: number, without: number, threshold: number, changed: boolean, positive: string }} Scores
 */

/** A drawing that `show` brings up to date; it keeps its height, whatever it shows. */
export class Scale {
  /** @type {Scores | null} */
  #scores = null;
  /** @type {Range | null} */
  #range = null;
  #parts = drawnParts();
  element = svg(
    "svg",
    { class: "gauge", role: "img", height: HEIGHT },
    Object.values(this.#parts).map(rootOf),
  );

  /** @param {{ nClasses: number, classes: string[] }} options */
  constructor({ nClasses, classes }) {
    this.many = nClasses > 2;
    this.classes = classes;
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  /** @param {Scores} scores */
  show(scores) {
    const { score, without, threshold } = scores;
    this.#scores = scores;
    this.#range = widened(this.#range, [score, without, threshold], this.many ? 0 : threshold);
    this.#write(scores);
    this.#draw();
  }

  /** @param {Scores} scores */
  #write(scores) {
    const { first, now, threshold, told } = labelsOf(scores, this.many);
    this.#parts.first.label.textContent = first;
    this.#parts.now.label.textContent = now;
    this.#parts.threshold.label.textContent = threshold;
    this.element.setAttribute("aria-label", told);
    this.element.classList.toggle("changed", scores.changed);
  }

  #draw() {
    const width = this.element.clientWidth;
    const range = this.#range;
    if (!this.#scores || !range || !width) return;
    const { score, without, threshold } = this.#scores;
    const [x, xNow, xLimit] = [score, without, threshold].map((value) => placeOf(value, range, width));
    const { first, now, threshold: limit, way } = this.#parts;
    this.#sides(width, xLimit, this.#scores.positive);
    limit.move(xLimit);
    first.move(x);
    now.move(xNow);
    way.style.transform = `translateX(${Math.min(x, xNow)}px) scaleX(${Math.abs(x - xNow)})`;
    limit.placeLabel(xLimit, width, 15);
    const frame = first.placeLabel(x, width, ROWS[0]);
    const other = now.placeLabel(xNow, width, ROWS[0]);
    if (collide(frame, other)) now.placeLabel(xNow, width, ROWS[1]);
  }

  /**
   * Colour both sides of the threshold, and name them where there is room beside its label.
   * @param {number} width
   * @param {number} xLimit
   * @param {string} positive
   */
  #sides(width, xLimit, positive) {
    const { below, above, left, right, threshold } = this.#parts;
    below.style.transform = `translateX(${MARGIN}px) scaleX(${Math.max(0, xLimit - MARGIN)})`;
    above.style.transform = `translateX(${xLimit}px) scaleX(${Math.max(0, width - MARGIN - xLimit)})`;
    const half = threshold.label.getComputedTextLength() / 2 + GAP;
    const names = sidesOf(this.many ? [] : this.classes, positive).map((name) => name && classOf(name, 24));
    writeSide(left, names[0] && `← ${names[0]}`, 0, xLimit - half);
    writeSide(right, names[1] && `${names[1]} →`, width, width - xLimit - half);
  }
}

/** A mark on the scale with its label. */
class Mark {
  label = svg("text", { "text-anchor": "middle" });

  /**
   * @param {string} kind
   * @param {SVGElement} shape
   */
  constructor(kind, shape) {
    this.group = svg("g", { class: `gauge-${kind}` }, shape, this.label);
  }

  /** @param {number} x */
  move(x) {
    this.group.style.transform = `translateX(${x}px)`;
  }

  /**
   * Put the label under the mark, or as close as the edges allow; return from where to where it reaches.
   * @param {number} x
   * @param {number} width
   * @param {number} y
   */
  placeLabel(x, width, y) {
    const frame = frameOf(x, this.label.getComputedTextLength(), width);
    this.label.setAttribute("x", String((frame[0] + frame[1]) / 2 - x));
    this.label.setAttribute("y", String(y));
    return frame;
  }
}

function drawnParts() {
  const bar = (/** @type {string} */ kind) =>
    svg("rect", { class: `gauge-${kind}`, x: 0, y: LINE - 3, width: 1, height: 6 });
  return {
    below: bar("below"),
    above: bar("above"),
    way: svg("rect", { class: "gauge-way", x: 0, y: LINE - 1.5, width: 1, height: 3 }),
    left: svg("text", { class: "gauge-side", x: 0, y: 15 }),
    right: svg("text", { class: "gauge-side", y: 15, "text-anchor": "end" }),
    threshold: new Mark("threshold", svg("line", { x1: 0, x2: 0, y1: 20, y2: LINE + 10 })),
    now: new Mark("now", svg("circle", { cx: 0, cy: LINE, r: 8 })),
    first: new Mark("first", svg("circle", { cx: 0, cy: LINE, r: 5 })),
  };
}

/** @param {Mark | SVGElement} part */
function rootOf(part) {
  return part instanceof Mark ? part.group : part;
}

/**
 * @param {SVGTextElement} label
 * @param {string} text
 * @param {number} x
 * @param {number} room
 */
function writeSide(label, text, x, room) {
  label.textContent = text;
  label.setAttribute("x", String(x));
  if (text && label.getComputedTextLength() > room) label.textContent = "";
}

/**
 * What is written at the marks, and what is told to those who hear the page. Of many classes the score is a lead.
 * @param {Scores} scores
 * @param {boolean} many
 */
export function labelsOf({ score, without, threshold, changed, positive }, many) {
  const [first, now, limit] = decimals(score, without, threshold);
  const name = many ? "lead" : scoreOf(positive);
  const said = changed ? `The ${name} was ${first} and is now ${now}` : `The ${name} is ${first}`;
  return {
    first: changed ? `was ${first}` : `${name} ${first}`,
    now: `now ${now}`,
    threshold: many ? "0: no lead" : `threshold ${limit}`,
    told: `${said}; ${many ? "below 0 the decision flips" : `threshold ${limit}`}.`,
  };
}

/**
 * The classes below and above the threshold.
 * @param {string[]} classes
 * @param {string} positive
 */
export function sidesOf(classes, positive) {
  if (classes.length !== 2) return ["", ""];
  return positive ? [classes.find((name) => name !== positive) ?? "", positive] : classes;
}

/**
 * Probabilities go from 0 to 1; the range of other scores only grows, so that nothing jumps without a reason.
 * @param {Range | null} range
 * @param {number[]} values
 * @param {number} threshold
 * @returns {Range}
 */
export function widened(range, values, threshold) {
  const isProbable = threshold > 0 && threshold < 1 && values.every((value) => value >= 0 && value <= 1);
  if (isProbable) return range ?? [0, 1];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (range && range[0] <= least && range[1] >= most) return range;
  const room = (most - least || 1) * 0.25;
  return [Math.min(range?.[0] ?? Infinity, least - room), Math.max(range?.[1] ?? -Infinity, most + room)];
}

/**
 * Where a value is on a scale of some width.
 * @param {number} value
 * @param {Range} range
 * @param {number} width
 */
export function placeOf(value, [low, high], width) {
  return MARGIN + ((width - 2 * MARGIN) * (value - low)) / (high - low);
}

/**
 * From where to where a label reaches that is centred on x, or as close to it as the edges allow.
 * @param {number} x
 * @param {number} length
 * @param {number} width
 * @returns {Range}
 */
export function frameOf(x, length, width) {
  const middle = Math.max(length / 2, Math.min(x, width - length / 2));
  return [middle - length / 2, middle + length / 2];
}

/**
 * Whether two labels in one line are too close.
 * @param {Range} one
 * @param {Range} other
 */
export function collide(one, other) {
  return one[0] < other[1] + GAP && other[0] < one[1] + GAP;
}
