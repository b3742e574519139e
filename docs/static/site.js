// The theme's buttons that open a section of the navigation have no name for those who cannot see them.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(> .toctree-toggle)")) {
    toggle.setAttribute("aria-label", "Pages of this section");
  }
});
