// A plot of bars, each of which is a link to its rows, with every count written.

import { el, unseen } from "./dom.js";
import { link } from "./links.js";
import { count } from "./numbers.js";

/** A name, a count, and what its rows are asked for with. @typedef {{ name: Node | string, n: number, params: Params }} Bar */

/** A plot; its bars are brought up to date in place, so that a link that has the focus keeps it. */
export class Plot {
  /** @type {Line[]} */
  #lines = [];

  /**
   * `expected` is how many bars are drawn before any are known; `shares` whether each is written as a share of all.
   * @param {{ name: string, title: string, about: string, expected: number, shares?: boolean }} options
   */
  constructor({ name, title, about, expected, shares = true }) {
    this.shares = shares;
    const id = `plot-${name}`;
    this.list = el(
      "ol",
      { class: "bars", "aria-labelledby": id },
      Array.from({ length: expected }, skeleton),
    );
    const heading = [el("h2", { id }, title), el("p", { class: "soft" }, about)];
    this.element = el("section", { class: `card plot ${id}`, "aria-labelledby": id }, heading, this.list);
  }

  /** Whether somebody is about to follow a link, which must not become another then. */
  get isHeld() {
    return this.list.matches(":hover, :focus-within");
  }

  /**
   * Show bars, of rows with this decision.
   * @param {Bar[]} bars
   * @param {string} decision
   */
  show(bars, decision) {
    const most = Math.max(1, ...bars.map(({ n }) => n));
    const all = bars.reduce((sum, { n }) => sum + n, 0) || 1;
    this.#fit(bars.length);
    for (const [i, { name, n, params }] of bars.entries()) {
      const share = this.shares ? `${Math.round((100 * n) / all)} %` : "";
      this.#lines[i].show(name, n, n / most, share);
      this.#lines[i].aim(n ? link("rows", { ...params, decision }) : null);
    }
    if (!bars.length) this.list.replaceChildren(el("li", { class: "soft" }, "Nothing yet."));
  }

  /**
   * Have so many lines.
   * @param {number} n
   */
  #fit(n) {
    if (!this.#lines.length) this.list.replaceChildren();
    for (const line of this.#lines.splice(n)) line.element.remove();
    while (this.#lines.length < n) {
      const line = new Line();
      this.#lines.push(line);
      this.list.append(line.element);
    }
  }
}

/** One bar with its name and its count. */
class Line {
  #name = el("span", { class: "bar-name" });
  #length = el("span", { class: "bar-length" });
  #count = el("span", { class: "bar-count" });
  #anchor = el(
    "a",
    { class: "bar-line" },
    this.#name,
    el("span", { class: "bar-track", "aria-hidden": "true" }, this.#length),
    this.#count,
  );
  element = el("li", {}, this.#anchor);

  /**
   * @param {Node | string} name
   * @param {number} n
   * @param {number} length of the longest bar, from 0 to 1
   * @param {string} share
   */
  show(name, n, length, share) {
    this.#name.replaceChildren(name, unseen(": "));
    this.#length.style.width = `${100 * length}%`;
    const written = share && el("span", { class: "share" }, share);
    this.#count.replaceChildren(count(n), unseen(n === 1 ? " row" : " rows"), " ", written);
  }

  /** @param {string | null} address */
  aim(address) {
    if (address === null) this.#anchor.removeAttribute("href");
    else this.#anchor.setAttribute("href", address);
  }
}

function skeleton() {
  return el("li", { class: "skeleton" }, el("span", { class: "bone" }));
}
