// The way from page to page: four links that stay where they are.

import { el, unseen } from "./dom.js";
import { count } from "./numbers.js";

const STEPS = [
  { name: "first", sign: "«", title: "First page" },
  { name: "previous", sign: "‹", title: "Previous page" },
  { name: "next", sign: "›", title: "Next page" },
  { name: "last", sign: "»", title: "Last page" },
];

/**
 * Make the links: `address` gives that of a page.
 * @param {(page: number) => string} address
 */
export function pager(address) {
  const links = STEPS.map(({ name, sign, title }) => {
    const shown = el("span", { "aria-hidden": "true" }, sign);
    return el("a", { class: `step step-${name}`, role: "link", title }, shown, unseen(title));
  });
  const place = el("span", { class: "place" });
  const parts = [links.slice(0, 2), place, links.slice(2)];
  const element = el("nav", { class: "pager", "aria-label": "Pages" }, parts);
  const show = (/** @type {number} */ page, /** @type {number} */ n_pages) => {
    element.classList.toggle("single", n_pages === 1);
    place.textContent = `Page ${count(page)} of ${count(n_pages)}`;
    targets(page, n_pages).forEach((target, i) => aim(links[i], target === null ? null : address(target)));
  };
  return { element, show };
}

/**
 * Where the four links lead: to the first, previous, next and last page; null where that is no other page.
 * @param {number} page
 * @param {number} n_pages
 */
export function targets(page, n_pages) {
  const leads = (/** @type {number} */ target) => target >= 1 && target <= n_pages && target !== page;
  return [1, page - 1, page + 1, n_pages].map((target) => (leads(target) ? target : null));
}

/**
 * @param {HTMLElement} anchor
 * @param {string | null} address
 */
function aim(anchor, address) {
  if (address !== null) anchor.setAttribute("href", address);
  else anchor.removeAttribute("href");
  anchor.setAttribute("aria-disabled", String(address === null));
  // A link that leads nowhere any more keeps the focus it has.
  anchor.tabIndex = address !== null || document.activeElement === anchor ? 0 : -1;
}
