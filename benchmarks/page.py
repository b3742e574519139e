"""The page in a real browser: `python -m benchmarks.page` prints how long a person waits on the demo.

The first view is timed from opening the address to the first row, by the browser's own clock. A toggle is
timed from the click on a word to the score of the text without it.
"""

import argparse
import shutil
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.common import machine
from benchmarks.load import server, wait_until_filled
from butfor._web.demo_workspaces import demo_workspaces

FIRST_ROW = "tbody tr:not(.skeleton)"
TOGGLE = """(place) => new Promise((done) => {
  const score = document.querySelector(".verdict"), before = score.textContent, began = performance.now();
  new MutationObserver((_, watch) => {
    if (score.textContent === before) return;
    watch.disconnect();
    done(performance.now() - began);
  }).observe(score, { childList: true, characterData: true, subtree: true });
  document.querySelector(`.unit[data-place="${place}"]`).click();
})"""


def main() -> None:
    """Open views and click words; print the median and the slowest of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print("\n| what a person waits for | median ms | slowest ms | times |\n|---|---:|---:|---:|")
    with server() as (_, port):
        for workspace in demo_workspaces():
            wait_until_filled(port, workspace)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for name in ("inbox", "moviegoers"):
                address = f"http://127.0.0.1:{port}/{name}/"
                print_times(
                    f"first view, {name}", [first_view(browser, address) for _ in range(options.times)]
                )
                print_times(f"toggle, {name}", toggles(browser, address, options.times))
            browser.close()


def first_view(browser: Any, address: str) -> float:
    """Open the page with an empty cache; return the milliseconds until the first row is there."""
    page = browser.new_page()
    page.goto(address, wait_until="commit")
    page.locator(FIRST_ROW).first.wait_for()
    seconds = page.evaluate("performance.now()")
    page.close()
    return float(seconds)


def toggles(browser: Any, address: str, times: int) -> list[float]:
    """Remove one unit of a row and put it back, repeatedly; return the milliseconds of each click."""
    page = browser.new_page()
    page.goto(f"{address}#/row/3")
    page.locator(".verdict").get_by_text("As it is").wait_for()
    page.wait_for_load_state("networkidle")
    return [float(page.evaluate(TOGGLE, 0)) for _ in range(times)]


def print_times(what: str, milliseconds: list[float]) -> None:
    """Print a row of the table."""
    print(f"| {what} | {np.median(milliseconds):.0f} | {max(milliseconds):.0f} | {len(milliseconds)} |")


if __name__ == "__main__":
    main()
