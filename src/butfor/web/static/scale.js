// The score of the row and of what is left of it, against the threshold: a drawing whose labels never collide.

import { decimals, svg } from "./dom.js";
import { classOf, scoreOf } from "./words.js";

const HEIGHT = 78;
const LINE = 36;
const ROWS = [57, 73];
const MARGIN = 14;
const GAP = 10;

/** A drawing that `show` brings up to date; it keeps its height, whatever it shows. */
export class Scale {
  #values = null;
  #range = null;

  constructor({ nClasses, classes }) {
    this.many = nClasses > 2;
    this.classes = classes;
    this.parts = partsOf();
    this.element = svg("svg", { class: "gauge", role: "img", height: HEIGHT }, Object.values(this.parts));
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  /** Show the score of the row, the score now, and the threshold, from which on it is `positive`. */
  show({ score, without, threshold, changed, positive }) {
    this.#values = { score, without, threshold, changed, positive };
    this.#range = widened(this.#range, [score, without, threshold], this.many ? 0 : threshold);
    this.#write();
    this.#draw();
  }

  #write() {
    const { score, without, threshold, changed, positive } = this.#values;
    const [first, now, limit] = decimals(score, without, threshold);
    const name = this.many ? "lead" : scoreOf(positive);
    this.parts.threshold.lastChild.textContent = this.many ? "0: no lead" : `threshold ${limit}`;
    this.parts.first.lastChild.textContent = changed ? `was ${first}` : `${name} ${first}`;
    this.parts.now.lastChild.textContent = `now ${now}`;
    const said = changed ? `The ${name} was ${first} and is now ${now}` : `The ${name} is ${first}`;
    this.element.setAttribute("aria-label", `${said}; ${this.many ? "below 0 the decision flips" : `threshold ${limit}`}.`);
    this.element.classList.toggle("changed", changed);
  }

  #draw() {
    const width = this.element.clientWidth;
    if (!this.#values || !width) return;
    const { score, without, threshold } = this.#values;
    const [low, high] = this.#range;
    const at = (value) => MARGIN + ((width - 2 * MARGIN) * (value - low)) / (high - low);
    const [x, xNow, xLimit] = [score, without, threshold].map(at);
    this.#sides(width, xLimit);
    move(this.parts.threshold, xLimit);
    move(this.parts.first, x);
    move(this.parts.now, xNow);
    this.parts.way.style.transform = `translateX(${Math.min(x, xNow)}px) scaleX(${Math.abs(x - xNow)})`;
    placeLabel(this.parts.threshold, xLimit, width, 15);
    const frame = placeLabel(this.parts.first, x, width, ROWS[0]);
    const other = placeLabel(this.parts.now, xNow, width, ROWS[0]);
    if (frame[0] < other[1] + GAP && other[0] < frame[1] + GAP) placeLabel(this.parts.now, xNow, width, ROWS[1]);
  }

  /** Colour both sides of the threshold, and name them where there is room beside its label. */
  #sides(width, xLimit) {
    const { below, above } = this.parts;
    below.style.transform = `translateX(${MARGIN}px) scaleX(${Math.max(0, xLimit - MARGIN)})`;
    above.style.transform = `translateX(${xLimit}px) scaleX(${Math.max(0, width - MARGIN - xLimit)})`;
    const half = this.parts.threshold.lastChild.getComputedTextLength() / 2 + GAP;
    const names = this.#names().map((name) => name && classOf(name, 24));
    name(this.parts.left, names[0] && `← ${names[0]}`, 0, xLimit - half);
    name(this.parts.right, names[1] && `${names[1]} →`, width, width - xLimit - half);
  }

  /** The classes below and above the threshold. */
  #names() {
    if (this.classes.length !== 2 || this.many) return ["", ""];
    const { positive } = this.#values;
    return positive ? [this.classes.find((name) => name !== positive) ?? "", positive] : this.classes;
  }
}

function partsOf() {
  const bar = (kind) => svg("rect", { class: `gauge-${kind}`, x: 0, y: LINE - 3, width: 1, height: 6 });
  const mark = (kind, ...shapes) => svg("g", { class: `gauge-${kind}` }, shapes, svg("text", { "text-anchor": "middle" }));
  return {
    below: bar("below"),
    above: bar("above"),
    way: svg("rect", { class: "gauge-way", x: 0, y: LINE - 1.5, width: 1, height: 3 }),
    left: svg("text", { class: "gauge-side", x: 0, y: 15 }),
    right: svg("text", { class: "gauge-side", y: 15, "text-anchor": "end" }),
    threshold: mark("threshold", svg("line", { x1: 0, x2: 0, y1: 20, y2: LINE + 10 })),
    now: mark("now", svg("circle", { cx: 0, cy: LINE, r: 8 })),
    first: mark("first", svg("circle", { cx: 0, cy: LINE, r: 5 })),
  };
}

/** Probabilities go from 0 to 1; the range of other scores only grows, so that nothing jumps without a reason. */
function widened(range, values, threshold) {
  const isProbable = threshold > 0 && threshold < 1 && values.every((value) => value >= 0 && value <= 1);
  if (isProbable) return range ?? [0, 1];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (range && range[0] <= least && range[1] >= most) return range;
  const room = (most - least || 1) * 0.25;
  return [Math.min(range?.[0] ?? Infinity, least - room), Math.max(range?.[1] ?? -Infinity, most + room)];
}

function move(part, x) {
  part.style.transform = `translateX(${x}px)`;
}

/** Put a label under its mark, or as close as the edges allow; gives from where to where it reaches. */
function placeLabel(part, x, width, y) {
  const label = part.lastChild;
  const half = label.getComputedTextLength() / 2;
  const middle = Math.max(half, Math.min(x, width - half));
  label.setAttribute("x", middle - x);
  label.setAttribute("y", y);
  return [middle - half, middle + half];
}

function name(label, text, x, room) {
  label.textContent = text;
  label.setAttribute("x", x);
  if (text && label.getComputedTextLength() > room) label.textContent = "";
}
