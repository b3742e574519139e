// The page's only door to the server: relative addresses, so that any path before them works.

/** What this page is about: the server wrote it into the page. */
export const desk = JSON.parse(document.getElementById("desk").textContent);

/** A problem that the server told, or that nobody answered. */
export class Problem extends Error {
  constructor({ title, detail = "", status = 0 }) {
    super(detail || title);
    this.name = "Problem";
    this.title = title;
    this.detail = detail;
    this.status = status;
  }
}

/** Ask for something: `await get("api/rows", { page: 2 })`. Parameters that are null, undefined or "" are left out. */
export function get(path, params = {}, { signal } = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return ask(`${path}${query.size ? `?${query}` : ""}`, { signal });
}

/** Send something: `await post("api/explain", { row: 17 })`. */
export function post(path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function ask(path, options) {
  const response = await answered(path, options);
  const told = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (response.ok && told !== null) return told;
  throw new Problem(problemOf(response.status, told));
}

async function answered(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "The server does not answer", detail: "Is butfor serve still running? Start it again, then try again." });
  }
}

function problemOf(status, told) {
  if (status === 401)
    return { status, title: "This page needs the server's token", detail: "Open the address that butfor serve printed when it started." };
  return { status, title: told?.title ?? "The server failed", detail: told?.detail ?? `It answered with status ${status}.` };
}
