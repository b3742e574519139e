// Names and texts of users, made safe to show and short enough. They follow the rules of Python's
// butfor/_render/words.py: tests/js/words.json holds cases that both must pass.

export const LONGEST_NAME = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
const JOINERS = "\u200c\u200d";
const BARE_CLASS = /^(-?[0-9]+(\.[0-9]+)?|True|False)$/;

/**
 * Cut a long text. A character is a code point, as in Python: an emoji counts as one.
 * @param {string} text
 */
export function shortened(text, longest = LONGEST_NAME) {
  if (text.length <= longest) return text;
  const start = Array.from(text.slice(0, 2 * longest + 2));
  return start.length <= longest ? text : `${start.slice(0, longest - 1).join("")}…`;
}

/**
 * Show control and direction characters rather than obey them: `free\u{202e}`.
 * @param {string} text
 */
export function printable(text, keep = "") {
  if (!UNPRINTABLE.test(text)) return text;
  return Array.from(text, (c) => (isSafe(c) || keep.includes(c) ? c : escaped(c))).join("");
}

/** @param {string} character */
function isSafe(character) {
  return !UNPRINTABLE.test(character) || JOINERS.includes(character);
}

/** @param {string} character */
function escaped(character) {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/**
 * A unit, or what the server told, in a sentence: safe, and not too long.
 * @param {string} name
 */
export function nameOf(name, longest = 60) {
  return printable(shortened(name, longest));
}

/**
 * A class in a sentence: its name, or a number as one.
 * @param {string} name
 */
export function classOf(name, longest = 60) {
  return BARE_CLASS.test(name) ? `class ${shortened(name, longest)}` : nameOf(name, longest);
}
