// The title of the window: that of the view, then that of the page as the server wrote it.

import { nameOf } from "./text.js";

const TITLE = document.title;

/**
 * Name the view in the title of the window.
 * @param {string} text
 */
export function entitle(text) {
  document.title = `${nameOf(text, 80)} · ${TITLE}`;
}
