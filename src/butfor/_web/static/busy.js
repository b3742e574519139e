// Work that may take a while: it tells how long it takes, and can be stopped.

import { announce, byId, el, unseen } from "./dom.js";

const PATIENCE = 300;

/**
 * Do some work that may take a while: `await busy((signal) => post("api/compare", body, { signal }), button, "Comparing")`.
 * The button rests meanwhile. After a moment a line at the foot of the window tells the time it takes, and can stop it:
 * then the promise fails with an AbortError, as it does where `outer` aborts.
 * @template T
 * @param {(signal: AbortSignal) => T | Promise<T>} work
 * @param {HTMLElement | null} button
 * @param {string} label
 * @param {AbortSignal | null} outer
 */
export async function busy(work, button, label, outer = null) {
  const stopper = new AbortController();
  outer?.addEventListener("abort", () => stopper.abort(), { once: true });
  if (outer?.aborted) stopper.abort();
  button?.setAttribute("aria-disabled", "true");
  button?.setAttribute("aria-busy", "true");
  const started = performance.now();
  const before = button ?? /** @type {HTMLElement | null} */ (document.activeElement);
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

/**
 * @param {string} label
 * @param {() => void} stop
 */
function progressLine(label, stop) {
  const time = el("span", { class: "time" });
  const button = el("button", { type: "button", class: "small", onclick: stop }, "Stop", unseen(` ${label}`));
  const spinner = el("span", { class: "spinner", "aria-hidden": "true" });
  const line = el("div", { class: "progress-line" }, spinner, el("span", {}, `${label}…`), time, button);
  const tick = (/** @type {number} */ elapsed) => {
    if (elapsed * 1000 < PATIENCE) return;
    time.textContent = `${elapsed.toFixed(1)} s`;
    if (line.isConnected) return;
    byId("progress").append(line);
    announce(`${label}…`);
  };
  return { tick, remove: () => line.remove() };
}
