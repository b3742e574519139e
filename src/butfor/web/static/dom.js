// Small pieces that every view is made of. Texts and names of users are data: they only ever become text nodes.

const LONGEST_NAME = 200;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Cn}]/u;
const JOINERS = "\u200c\u200d";
const PATIENCE = 300;
const TITLE = document.title;

/**
 * Make an element: `el("a", { href: "#/rows", class: "quiet" }, "all rows")`.
 * Attributes by name; functions become listeners (`onclick`), true an empty attribute, false or null none.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function set(element, name, value) {
  if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
  else if (name === "value") element.value = value;
  else if (value !== false && value !== null && value !== undefined)
    element.setAttribute(name, value === true ? "" : value);
}

/** Make an element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Text for those who hear the page. */
export function unseen(text) {
  return el("span", { class: "unseen" }, text);
}

/** A user's name for something, shut in so that its direction turns nothing around it, and cut if it is long. */
export function named(text, longest = LONGEST_NAME) {
  return el("bdi", { class: "name" }, printable(shortened(text, longest)));
}

/** Cut a long text. */
export function shortened(text, longest = LONGEST_NAME) {
  if (text.length <= longest) return text;
  return `${Array.from(text.slice(0, 2 * longest)).slice(0, longest - 1).join("")}…`;
}

/** Show control and direction characters rather than obey them: `free\u{202e}`. */
export function printable(text, keep = "") {
  if (!UNPRINTABLE.test(text)) return text;
  return Array.from(text, (c) => (UNPRINTABLE.test(c) && !JOINERS.includes(c) && !keep.includes(c) ? escaped(c) : c)).join("");
}

function escaped(character) {
  return `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** Write a whole number: 12,345. */
export function count(number) {
  return number.toLocaleString("en-GB");
}

/** Write "1 row" or "2 rows". */
export function counted(number, one, several = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : several}`;
}

/** Write numbers with the fewest digits that keep them apart, two decimals at least. */
export function decimals(...numbers) {
  const kinds = new Set(numbers).size;
  for (let digits = 2; digits <= 6; digits++) {
    const written = numbers.map((number) => (Math.abs(number) < 1e6 ? number.toFixed(digits) : number.toPrecision(3)));
    if (new Set(written.map(Number)).size === kinds) return written.map(tidied);
  }
  return numbers.map(String);
}

function tidied(written) {
  return Number(written) === 0 ? written.replace("-", "") : written.replace("-", "−");
}

/** Write a time: 12 ms, 1.4 s. */
export function seconds(time) {
  return time < 0.995 ? `${Math.round(time * 1000)} ms` : `${time.toFixed(1)} s`;
}

/** Say something to those who hear the page. */
export function announce(text) {
  const announcer = document.getElementById("announcer");
  announcer.textContent = announcer.textContent === text ? `${text}\u00a0` : text;
}

/** Name the view in the title of the window. */
export function entitle(text) {
  document.title = `${printable(shortened(text, 80))} · ${TITLE}`;
}

/**
 * Do some work that may take a while: `await busy((signal) => post("api/compare", body, { signal }), button, "Comparing")`.
 * The button rests meanwhile. After a moment a line at the foot of the window tells the time it takes, and can stop it:
 * then the promise fails with an AbortError, as it does where `outer` aborts.
 */
export async function busy(work, button, label, outer = null) {
  const stopper = new AbortController();
  outer?.addEventListener("abort", () => stopper.abort(), { once: true });
  if (outer?.aborted) stopper.abort();
  button?.setAttribute("aria-disabled", "true");
  button?.setAttribute("aria-busy", "true");
  const started = performance.now();
  const before = button ?? document.activeElement;
  const stop = () => {
    before?.focus({ preventScroll: true });
    stopper.abort();
  };
  const line = progressLine(label, stop);
  const ticking = setInterval(() => line.tick((performance.now() - started) / 1000), 100);
  try {
    return await work(stopper.signal);
  } finally {
    clearInterval(ticking);
    line.remove();
    button?.removeAttribute("aria-disabled");
    button?.removeAttribute("aria-busy");
  }
}

function progressLine(label, stop) {
  const time = el("span", { class: "time" });
  const line = el("div", { class: "progress-line" }, el("span", { class: "spinner", "aria-hidden": "true" }),
    el("span", {}, `${label}…`), time, el("button", { type: "button", class: "small", onclick: stop }, "Stop", unseen(` ${label}`)));
  const tick = (elapsed) => {
    if (elapsed * 1000 < PATIENCE) return;
    time.textContent = `${elapsed.toFixed(1)} s`;
    if (line.isConnected) return;
    document.getElementById("progress").append(line);
    announce(`${label}…`);
  };
  return { tick, remove: () => line.remove() };
}

/** Whether an error only says that somebody stopped it. */
export function isAbort(error) {
  return error?.name === "AbortError";
}

/** Show what went wrong where it happened, and a way to try again. */
export function failure(error, again = null) {
  const title = error.title ?? "Something went wrong in the page";
  const detail = error.detail ?? String(error.message ?? error);
  return el("div", { class: "failure", role: "alert" }, el("p", { class: "failure-title" }, title),
    el("p", {}, printable(shortened(detail, 1000), "\n")),
    again && el("button", { type: "button", onclick: () => (document.getElementById("main").focus({ preventScroll: true }), again()) }, "Try again"));
}
