// Where an arrow key leads among the units of a row.

/**
 * Where a key leads: a unit, undefined at an end, null where the key is none of ours.
 * @param {HTMLElement[]} seen the units in their order
 * @param {HTMLElement} part the one that has the focus
 * @param {string} key
 */
export function next(seen, part, key) {
  const here = seen.indexOf(part);
  const forward = getComputedStyle(part).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (key === "Home") return seen[0];
  if (key === "End") return seen.at(-1);
  if (key === "ArrowDown") return nearestInNextLine(seen.slice(here), part);
  if (key === "ArrowUp") return nearestInNextLine(seen.slice(0, here + 1).reverse(), part);
  if (key !== "ArrowLeft" && key !== "ArrowRight") return null;
  return seen[here + (key === forward ? 1 : -1)];
}

/**
 * Of the units after the first, the one in the next line that is nearest to it.
 * @param {HTMLElement[]} others
 * @param {HTMLElement} part
 */
function nearestInNextLine(others, part) {
  const { top, bottom, left } = part.getClientRects()[0];
  /** @type {HTMLElement | undefined} */
  let best;
  let distance = Infinity;
  /** @type {number | null} */
  let line = null;
  for (const other of others) {
    const frame = other.getClientRects()[0];
    if (!frame || (frame.top < bottom - 2 && frame.bottom > top + 2)) continue;
    if (line !== null && Math.abs(frame.top - line) > 2) break;
    line = frame.top;
    if (Math.abs(frame.left - left) < distance) [best, distance] = [other, Math.abs(frame.left - left)];
  }
  return best;
}
