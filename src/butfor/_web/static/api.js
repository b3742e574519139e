// The page's only door to the server: relative addresses, so that any path before them works.

import { queryOf } from "./links.js";

/** What is told where nobody answers. */
export const UNREACHABLE = {
  title: "The server does not answer",
  detail: "Is butfor serve still running? Start it again, then try again.",
};

/** A problem that the server told, or that nobody answered. */
export class Problem extends Error {
  /** @param {{ title: string, detail?: string, status?: number }} told */
  constructor({ title, detail = "", status = 0 }) {
    super(detail || title);
    this.name = "Problem";
    this.title = title;
    this.detail = detail;
    this.status = status;
  }
}

/**
 * Ask for something: `await get("api/rows", { page: 2 })`. Parameters that are null, undefined or "" are left out.
 * @param {string} path
 * @param {Params} params
 * @param {{ signal?: AbortSignal }} options
 */
export function get(path, params = {}, { signal } = {}) {
  return ask(`${path}${queryOf(params)}`, { signal });
}

/**
 * Send something: `await post("api/explain", { row: 17 })`.
 * @param {string} path
 * @param {object} body
 * @param {{ signal?: AbortSignal }} options
 */
export function post(path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<any>} what the caller knows the type of
 */
async function ask(path, options) {
  const response = await answered(path, options);
  const told = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (response.ok && told !== null) return told;
  throw new Problem(problemOf(response.status, told));
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function answered(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new Problem(UNREACHABLE);
  }
}

/**
 * @param {number} status
 * @param {{ title?: string, detail?: string } | null} told
 */
function problemOf(status, told) {
  if (status === 401) {
    const detail = "Open the address that butfor serve printed when it started.";
    return { status, title: "This page needs the server's token", detail };
  }
  const title = told?.title ?? "The server failed";
  return { status, title, detail: told?.detail ?? `It answered with status ${status}.` };
}
