// A text cut where its units stand. Python's butfor/_render/evidence.py cuts by the same rule: tests/js/words.json
// holds cases that both must pass.

/**
 * Cut a text at the units' spans, which count code points as Python does: pieces of [text, place], where place is the
 * number of the unit or null. Joined, the pieces are the text.
 * @param {string} text
 * @param {{ spans: Span[] }[]} units
 */
export function cut(text, units) {
  const at = unitsOfUtf16(text);
  const spans = units.flatMap((unit, place) =>
    unit.spans.map(([start, stop]) => ({ start: at(start), stop: at(stop), place })),
  );
  spans.sort((one, other) => one.start - other.start || one.stop - other.stop);
  /** @type {[text: string, place: number | null][]} */
  const pieces = [];
  let end = 0;
  for (const { start: from, stop, place } of spans) {
    const start = Math.max(from, end);
    if (start >= stop) continue;
    if (end < start) pieces.push([text.slice(end, start), null]);
    pieces.push([text.slice(start, stop), place]);
    end = stop;
  }
  if (end < text.length) pieces.push([text.slice(end), null]);
  return pieces;
}

/**
 * Return a function from code points to JavaScript's own units, of which an emoji has two.
 * @param {string} text
 */
function unitsOfUtf16(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (/** @type {number} */ point) => Math.min(point, text.length);
  /** @type {number[]} */
  const starts = [];
  let next = 0;
  for (const character of text) {
    starts.push(next);
    next += character.length;
  }
  return (/** @type {number} */ point) => starts[point] ?? text.length;
}
