import { el } from "./dom.js";

/** Draw the view. */
export async function render(main) {
  main.append(el("h1", {}, "all"));
}
