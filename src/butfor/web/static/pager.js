// The way from page to page: four links that stay where they are.

import { count, el, unseen } from "./dom.js";

const STEPS = [
  ["first", "«", "First page", () => 1],
  ["previous", "‹", "Previous page", (page) => page - 1],
  ["next", "›", "Next page", (page) => page + 1],
  ["last", "»", "Last page", (_, n_pages) => n_pages],
];

/** Make the links: `address` gives that of a page. */
export function pager(address) {
  const links = STEPS.map(([name, sign, title]) =>
    el("a", { class: `step step-${name}`, role: "link", title }, el("span", { "aria-hidden": "true" }, sign), unseen(title)));
  const place = el("span", { class: "place" });
  const element = el("nav", { class: "pager", "aria-label": "Pages" }, links.slice(0, 2), place, links.slice(2));
  const show = (page, n_pages) => {
    element.classList.toggle("single", n_pages === 1);
    place.textContent = `Page ${count(page)} of ${count(n_pages)}`;
    STEPS.forEach(([, , , target], i) => aim(links[i], target(page, n_pages), page, n_pages, address));
  };
  return { element, show };
}

function aim(anchor, target, page, n_pages, address) {
  const leads = target >= 1 && target <= n_pages && target !== page;
  if (leads) anchor.setAttribute("href", address(target));
  else anchor.removeAttribute("href");
  anchor.setAttribute("aria-disabled", String(!leads));
  // A link that leads nowhere any more keeps the focus it has.
  anchor.tabIndex = leads ? 0 : document.activeElement === anchor ? 0 : -1;
}
