// The router: which view the part of the address after # asks for. The server never sees that part.

import { desk } from "./api.js";
import { entitle, failure, isAbort } from "./dom.js";
import { link } from "./links.js";

const VIEWS = {
  rows: () => import("./rows.js"),
  row: () => import("./row.js"),
  own: () => import("./own.js"),
  all: () => import("./all.js"),
};
const UNREACHABLE = { title: "The server does not answer", detail: "Is butfor serve still running? Start it again, then try again." };
const main = document.getElementById("main");
const scrolled = new Map();
let shown = { name: null, path: null, view: null, turn: 0 };

/** Go to a view: a new step in the browser's history, or in the place of the present one. */
function go(view, params = {}, { replace = false } = {}) {
  if (replace) location.replace(link(view, params));
  else location.assign(link(view, params));
}

/** Write the state of the present view into the address, without a new step and without drawing again. */
function note(view, params = {}) {
  history.replaceState(history.state, "", link(view, params));
}

function asked() {
  const [way, query = ""] = splitOnce(location.hash.replace(/^#\/?/, ""), "?");
  const [name, ...path] = way.split("/").map(decoded);
  const known = Object.hasOwn(VIEWS, name) && (name !== "own" || desk.can_explain);
  return { name: known ? name : desk.n_rows ? "rows" : "own", path: known ? path : [], params: new URLSearchParams(query) };
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function route() {
  if (location.hash === "#main") return;
  const { name, path, params } = asked();
  const context = { path, params, go, note };
  const isNew = history.state?.key === undefined;
  if (isNew) history.replaceState({ key: crypto.randomUUID?.() ?? String(Math.random()) }, "");
  if (name === shown.name && path.join("/") === shown.path && shown.view?.update) return shown.view.update(context);
  await draw(name, context, isNew);
}

async function draw(name, context, isNew) {
  const first = shown.name === null;
  shown.view?.leave?.();
  const turn = shown.turn + 1;
  shown = { name, path: context.path.join("/"), view: null, turn };
  markCurrent(name);
  try {
    const view = await VIEWS[name]();
    if (shown.turn !== turn) return;
    shown.view = view;
    main.replaceChildren();
    const drawing = view.render(main, context);
    settle(first, isNew);
    await drawing;
  } catch (error) {
    if (shown.turn !== turn || isAbort(error)) return;
    if (!shown.view) main.replaceChildren();
    main.append(failure(shown.view ? error : UNREACHABLE, () => location.reload()));
  }
}

/** Put focus on the heading of a view that was navigated to, and the window where it was on the way back. */
function settle(first, isNew) {
  const heading = main.querySelector("h1");
  if (heading) entitle(heading.textContent);
  if (first) return;
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  scrollTo(0, isNew ? 0 : (scrolled.get(history.state?.key) ?? 0));
}

function markCurrent(name) {
  for (const item of document.querySelectorAll("[data-view]")) {
    if (item.dataset.view === name) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
}

addEventListener("hashchange", route);
addEventListener("scroll", () => scrolled.set(history.state?.key, scrollY), { passive: true });
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
route();
