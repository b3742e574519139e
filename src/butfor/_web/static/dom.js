// Small pieces that every view is made of. Texts and names of users are data: they only ever become text nodes.

import { LONGEST_NAME, nameOf, printable, shortened } from "./text.js";

/**
 * Make an element: `el("a", { href: "#/rows", class: "quiet" }, "all rows")`.
 * Attributes by name; functions become listeners (`onclick`), true an empty attribute, false or null none.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Make an element of a drawing.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  element.append(...nodesOf(children));
  return element;
}

/**
 * @param {Child} child
 * @returns {(Node | string)[]}
 */
function nodesOf(child) {
  if (Array.isArray(child)) return child.flatMap(nodesOf);
  if (child === null || child === undefined || child === false) return [];
  return [typeof child === "number" ? String(child) : child];
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {Attributes[string]} value
 */
function set(element, name, value) {
  if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
  else if (name === "value") Object.assign(element, { value });
  else if (value !== false && value !== null && value !== undefined)
    element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * Text for those who hear the page.
 * @param {string} text
 */
export function unseen(text) {
  return el("span", { class: "unseen" }, text);
}

/**
 * A user's name for something, shut in so that its direction turns nothing around it, and cut if it is long.
 * @param {string} text
 */
export function named(text, longest = LONGEST_NAME) {
  return el("bdi", { class: "name" }, nameOf(text, longest));
}

/**
 * Say something to those who hear the page.
 * @param {string} text
 */
export function announce(text) {
  const announcer = byId("announcer");
  announcer.textContent = announcer.textContent === text ? `${text}\u00a0` : text;
}

/**
 * An element that the page always has.
 * @param {string} id
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Whether an error only says that somebody stopped it.
 * @param {unknown} error
 */
export function isAbort(error) {
  return error instanceof Error && error.name === "AbortError";
}

/**
 * Show what went wrong where it happened, and a way to try again.
 * @param {any} error a Problem, any other error, or { title, detail }
 * @param {(() => unknown) | null} again
 */
export function failure(error, again = null) {
  const title = error.title ?? "Something went wrong in the page";
  const detail = error.detail ?? String(error.message ?? error);
  const retry = () => {
    byId("main").focus({ preventScroll: true });
    again?.();
  };
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("p", { class: "failure-title" }, title),
    el("p", {}, printable(shortened(detail, 1000), "\n")),
    again && el("button", { type: "button", onclick: retry }, "Try again"),
  );
}
