// What a reader did to a row: what is taken away, what may never be used, which search is asked. Steps go back and
// forth, and all of it fits into an address.

/** No search in particular: the one that the server was started with. */
export const SEARCH = "";

/** Read a state from the parameters of an address. */
export function stateOf(params) {
  const places = (params.get("removed") ?? "").split(",").filter((part) => /^\d{1,9}$/.test(part)).map(Number);
  return {
    removed: new Set(places),
    protected: [...new Set(params.getAll("protected"))],
    search: params.get("search") || SEARCH,
  };
}

/** Write a state as parameters of an address, in the one order that the same state always has. */
export function paramsOf(state) {
  const removed = inOrder(state.removed).join(",");
  return [
    ...(removed ? [["removed", removed]] : []),
    ...state.protected.map((name) => ["protected", name]),
    ...(state.search === SEARCH ? [] : [["search", state.search]]),
  ];
}

/** Give places in their order. */
export function inOrder(places) {
  return [...places].sort((one, other) => one - other);
}

/** Name a set of places, so that equal sets have equal names. */
export function keyOf(places) {
  return inOrder(places).join(",");
}

/** Whether features have no names of their own: then they are called after their columns. */
export function areUnnamed(names) {
  return names.length > 0 && names.every((name) => /^feature \d+$/.test(name));
}

/** The column after which a feature without a name is called. */
export function columnOf(name) {
  return Number(name.slice("feature ".length));
}

/** A state with the ones before it, and those that were undone. */
export class Steps {
  #before = [];
  #after = [];

  constructor(state) {
    this.now = state;
  }

  get canUndo() {
    return this.#before.length > 0;
  }

  get canRedo() {
    return this.#after.length > 0;
  }

  /** Change some of the state; gives whether that made a difference. */
  take(change) {
    const next = { ...this.now, ...change };
    if (isSame(next, this.now)) return false;
    this.#before.push(this.now);
    this.#after = [];
    this.now = next;
    return true;
  }

  undo() {
    this.#move(this.#before, this.#after);
  }

  redo() {
    this.#move(this.#after, this.#before);
  }

  #move(from, to) {
    if (!from.length) return;
    to.push(this.now);
    this.now = from.pop();
  }
}

/** Which way a key leads: "undo" (u, Ctrl+Z), "redo" (Shift+U, Ctrl+Y), or null where it is for somebody else. */
export function stepAsked(event) {
  if (event.altKey || event.target.closest?.("input, textarea, select")) return null;
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (control ? key === "y" || (key === "z" && event.shiftKey) : event.key === "U") return "redo";
  return (control ? key === "z" : key === "u") ? "undo" : null;
}

function isSame(one, other) {
  return new URLSearchParams(paramsOf(one)).toString() === new URLSearchParams(paramsOf(other)).toString();
}
