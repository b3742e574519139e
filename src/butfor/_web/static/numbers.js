// Numbers as people read them. They are rounded by the rules of Python's butfor/_render/words.py: tests/js/words.json
// holds cases that both must pass. The page alone has a typographic minus.

const FIXED = [2, 3, 4, 5, 6].map((digits) => (/** @type {number} */ x) => rounded(x, "toFixed", digits));
const GENERAL = Array.from({ length: 15 }, (_, i) => (/** @type {number} */ x) => general(x, i + 3));
const LARGE = 1e6;
/** So many digits more tell a tie from a number that is only near to one. */
const MORE = 30;

/**
 * Write a whole number: 12,345.
 * @param {number} number
 */
export function count(number) {
  return number.toLocaleString("en-GB");
}

/**
 * Write "1 row" or "2 rows".
 * @param {number} number
 * @param {string} one
 */
export function counted(number, one, several = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : several}`;
}

/**
 * Write a count or a cost: 3, 1,250.5.
 * @param {number} value
 */
export function amount(value) {
  if (Number.isInteger(value)) return BigInt(value).toLocaleString("en-GB");
  return general(value, 6).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

/**
 * Write numbers with the fewest digits that keep them apart, two decimals at least.
 * @param {...number} numbers
 */
export function decimals(...numbers) {
  const kinds = new Set(numbers).size;
  const isLarge = numbers.some((number) => Math.abs(number) >= LARGE);
  for (const write of isLarge ? GENERAL : [...FIXED, ...GENERAL]) {
    const written = numbers.map(write);
    if (new Set(written.map(Number)).size === kinds) return written.map(withMinus);
  }
  return numbers.map(String);
}

/** @param {string} written */
function withMinus(written) {
  return Number(written) === 0 ? written.replace("-", "") : written.replaceAll("-", "−");
}

/**
 * Write a number as Python's format does with ".3g", for 3 digits that count.
 * @param {number} number
 * @param {number} digits
 */
function general(number, digits) {
  const [mantissa, power] = rounded(number, "toExponential", digits - 1).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits)
    return `${trimmed(mantissa)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  return trimmed(rounded(number, "toFixed", digits - 1 - exponent));
}

/** @param {string} written */
function trimmed(written) {
  return written.includes(".") ? written.replace(/\.?0+$/, "") : written;
}

/**
 * Round as Python does: of two numbers that are equally near, take the one whose last digit is even. JavaScript alone
 * takes the larger one.
 * @param {number} number
 * @param {"toFixed" | "toExponential"} form
 * @param {number} digits
 */
function rounded(number, form, digits) {
  const [exact, ...power] = number[form](digits + MORE).split("e");
  const cut = exact.slice(0, -MORE).replace(/\.$/, "");
  const isTie = exact.endsWith(`5${"0".repeat(MORE - 1)}`);
  return isTie && /[02468]$/.test(cut) ? [cut, ...power].join("e") : number[form](digits);
}

/**
 * Write a time: 12 ms, 1.4 s.
 * @param {number} time
 */
export function seconds(time) {
  return time < 0.995 ? `${Math.round(time * 1000)} ms` : `${time.toFixed(1)} s`;
}
