// What a reader did to a row: what is taken away, what may never be used, which search is asked. All of it fits into
// an address.

/** No search in particular: the one that the server was started with. */
export const SEARCH = "";

/**
 * The state of a row to which nobody did anything.
 * @returns {State}
 */
export function untouchedState() {
  return { removed: new Set(), protected: [], search: SEARCH };
}

/**
 * Read a state from the parameters of an address.
 * @param {URLSearchParams} params
 * @returns {State}
 */
export function stateOf(params) {
  const places = (params.get("removed") ?? "").split(",").filter((part) => /^\d{1,9}$/.test(part));
  return {
    removed: new Set(places.map(Number)),
    protected: [...new Set(params.getAll("protected"))],
    search: params.get("search") || SEARCH,
  };
}

/**
 * Write a state as parameters of an address, in the one order that the same state always has.
 * @param {State} state
 * @returns {[name: string, value: string][]}
 */
export function paramsOf(state) {
  /** @type {[name: string, value: string][]} */
  const params = [["removed", keyOf(state.removed)]];
  for (const name of state.protected) params.push(["protected", name]);
  params.push(["search", state.search]);
  return params.filter(([name, value]) => name === "protected" || value !== "");
}

/**
 * Return whether two states are the same.
 * @param {State} one
 * @param {State} other
 */
export function isSame(one, other) {
  return new URLSearchParams(paramsOf(one)).toString() === new URLSearchParams(paramsOf(other)).toString();
}

/**
 * Return whether two states ask the searches the same: what is taken away by hand does not matter to them.
 * @param {State} one
 * @param {State} other
 */
export function asksTheSame(one, other) {
  return isSame({ ...one, removed: new Set() }, { ...other, removed: new Set() });
}

/**
 * Return places in their order.
 * @param {Iterable<number>} places
 */
export function inOrder(places) {
  return [...places].sort((one, other) => one - other);
}

/**
 * Name a set of places, so that equal sets have equal names.
 * @param {Iterable<number>} places
 */
export function keyOf(places) {
  return inOrder(places).join(",");
}

/**
 * Take a unit away, or put it back.
 * @param {State} state
 * @param {number} place
 */
export function toggled({ removed }, place) {
  const others = new Set(removed);
  if (!others.delete(place)) others.add(place);
  return { removed: others };
}

/**
 * Never use a name from now on: units that are called so are put back.
 * @param {State} state
 * @param {string} name
 * @param {UnitAnswer[]} units
 */
export function withProtected(state, name, units) {
  const removed = new Set([...state.removed].filter((place) => units[place].name !== name));
  return { removed, protected: [...new Set([...state.protected, name])] };
}

/**
 * Allow a name again.
 * @param {State} state
 * @param {string} name
 */
export function withoutProtected(state, name) {
  return { protected: state.protected.filter((other) => other !== name) };
}

/**
 * What the server is asked about: a row with what may not be used, by column where features have no names.
 * @param {Subject} subject
 * @param {string[]} names
 * @param {boolean} isUnnamed
 * @returns {Question}
 */
export function questionOf(subject, names, isUnnamed) {
  return { ...subject, protected: isUnnamed ? names.map(columnOf) : names };
}

/**
 * Whether features have no names of their own: then they are called after their columns.
 * @param {string[]} names
 */
export function areUnnamed(names) {
  return names.length > 0 && names.every((name) => /^feature \d+$/.test(name));
}

/**
 * The column after which a feature without a name is called.
 * @param {string} name
 */
export function columnOf(name) {
  return Number(name.slice("feature ".length));
}
