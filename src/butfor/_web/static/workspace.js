// What this page is about: the server wrote it into the page.

/** @type {Workspace} */
export const workspace = JSON.parse(document.getElementById("workspace")?.textContent ?? "");
