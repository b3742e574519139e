// The router: which view the part of the address after # asks for. The server never sees that part.

import { UNREACHABLE } from "./api.js";
import { byId, el, failure, isAbort } from "./dom.js";
import { link, partsOf } from "./links.js";
import { entitle } from "./title.js";
import { workspace } from "./workspace.js";

/** @type {Record<string, () => Promise<View>>} */
const VIEWS = {
  rows: () => import("./rows.js"),
  row: () => import("./row.js"),
  own: () => import("./own.js"),
  all: () => import("./all.js"),
};
const PAUSE = 1000;
const main = byId("main");
/** Modules that the browser has been told to fetch. @type {Set<string>} */
const fetched = new Set();
/** Where the window was in each step of the history. @type {Map<string, number>} */
const scrolled = new Map();
/** @type {{ name: string, path: string, view: View | null, turn: number }} */
let shown = { name: "", path: "", view: null, turn: 0 };

/** @type {Context["go"]} */
function go(view, params = {}, { replace = false } = {}) {
  if (replace) location.replace(link(view, params));
  else location.assign(link(view, params));
}

/**
 * Write the state of the present view into the address, without a new step and without drawing again.
 * @type {Context["note"]}
 */
function note(view, params = {}) {
  history.replaceState(history.state, "", link(view, params));
}

/** The view that the address asks for; the first one where it asks for none that there is. */
function asked() {
  const { name, path, params } = partsOf(location.hash);
  const isKnown = Object.hasOwn(VIEWS, name) && (name !== "own" || workspace.can_explain);
  if (isKnown) return { name, path, params };
  return { name: workspace.n_rows ? "rows" : "own", path: [], params };
}

async function route() {
  if (location.hash === "#main") return;
  const { name, path, params } = asked();
  const context = { path, params, go, note };
  const isNew = history.state?.key === undefined;
  if (isNew) history.replaceState({ key: crypto.randomUUID?.() ?? String(Math.random()) }, "");
  const isSame = name === shown.name && path.join("/") === shown.path;
  if (isSame && shown.view?.update) await shown.view.update(context);
  else await draw(name, context, isNew);
}

/**
 * @param {string} name
 * @param {Context} context
 * @param {boolean} isNew whether this step of the history was never here before
 */
async function draw(name, context, isNew) {
  const isFirst = shown.turn === 0;
  shown.view?.leave?.();
  const turn = shown.turn + 1;
  shown = { name, path: context.path.join("/"), view: null, turn };
  markCurrent(name);
  fetchModules(name);
  try {
    const view = await VIEWS[name]();
    if (shown.turn !== turn) return;
    shown.view = view;
    main.replaceChildren();
    const drawing = view.render(main, context);
    arrive(isFirst, isNew);
    await drawing;
  } catch (error) {
    if (shown.turn !== turn || isAbort(error)) return;
    if (!shown.view) main.replaceChildren();
    main.append(failure(shown.view ? error : UNREACHABLE, () => location.reload()));
  }
}

/**
 * Put focus on the heading of a view that was navigated to, and the window where it was on the way back.
 * @param {boolean} isFirst
 * @param {boolean} isNew
 */
function arrive(isFirst, isNew) {
  const heading = main.querySelector("h1");
  if (heading) entitle(heading.textContent);
  if (isFirst) return;
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  scrollTo(0, isNew ? 0 : (scrolled.get(history.state?.key) ?? 0));
}

/**
 * Fetch all modules of a view together, not as one asks for the next.
 * @param {string} name
 */
function fetchModules(name) {
  for (const module of workspace.modules[name].filter((each) => !fetched.has(each))) {
    fetched.add(module);
    const { href } = new URL(module, import.meta.url);
    document.head.append(el("link", { rel: "modulepreload", href }));
  }
}

/** @param {string} name */
function markCurrent(name) {
  for (const item of document.querySelectorAll("[data-view]")) {
    if (item.getAttribute("data-view") === name) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
}

addEventListener("hashchange", route);
addEventListener("scroll", () => scrolled.set(history.state?.key, scrollY), { passive: true });
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
route();
// The other views open at once later; the first one does not wait for them.
setTimeout(() => Object.keys(VIEWS).forEach(fetchModules), PAUSE);
