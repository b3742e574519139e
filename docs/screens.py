"""Take the pictures of docs/how-to/serve.md from `butfor serve --demo`: `python docs/screens.py`.

Every view is opened in Chromium, used as a reader would use it, and written to docs/images/serve-*.png.
"""

import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).with_name("images")
WIDTH, HEIGHT, ZOOM = 1120, 760, 1.5
COLOURS = 200
LARGEST = 120_000
"""Largest size of a picture, in bytes."""
OWN = "Hello, you won a free prize! Send your bank card number today and we will pay you at once."


def main() -> None:
    """Start the demo, take every picture, and stop it."""
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=ZOOM,
            color_scheme="light",
            reduced_motion="reduce",
        )
        wait_until_explained(page, f"{address}inbox/")
        wait_until_explained(page, f"{address}moviegoers/")
        for name, view, used in SCREENS:
            page.goto("about:blank")
            page.goto(f"{address}{view}")
            used(page)
            take(page, HERE / f"serve-{name}.png")
        browser.close()


@contextmanager
def served() -> Iterator[str]:
    """Run the demo on a free port; yield its address."""
    command = [sys.executable, "-m", "butfor", "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            matches = (re.search(r"http://\S+:\d+/", line) for line in server.stdout)
            yield next(found for found in matches if found)[0]
        finally:
            server.terminate()


def wait_until_explained(page: Page, address: str) -> None:
    """Wait until all rows of a workspace are explained."""
    page.goto(f"{address}#/all")
    page.locator("progress.thin.done").wait_for(state="attached", timeout=60_000)


def rows(page: Page) -> None:
    """Wait for the rows."""
    page.locator("tbody tr:not(.skeleton)").first.wait_for()


def row(page: Page) -> None:
    """Show the smallest explanation of a message."""
    page.get_by_role("button", name="Smallest explanation").click()
    page.get_by_text(re.compile("flips")).first.wait_for()


def own(page: Page) -> None:
    """Enter a text and explain it."""
    page.get_by_role("textbox").first.fill(OWN)
    page.get_by_role("button", name="Explain").click()
    page.get_by_role("button", name="Smallest explanation").wait_for()
    page.get_by_text(re.compile("^But for")).first.wait_for()


def loaded(page: Page) -> None:
    """Wait until the page has drawn its content."""
    page.locator("h1").wait_for()
    page.wait_for_timeout(500)


SCREENS: tuple[tuple[str, str, Any], ...] = (
    ("rows", "inbox/#/rows?decision=spam", rows),
    ("row", "inbox/#/row/90", row),
    ("own", "inbox/#/own", own),
    ("all", "moviegoers/#/all", loaded),
    ("api", "inbox/docs", loaded),
)
"""The name of each picture, the address of the view, and what to do there first."""


def take(page: Page, path: Path) -> None:
    """Write a picture of the window with few colours, which is enough for flat areas and letters."""
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    n_bytes = path.stat().st_size
    if n_bytes > LARGEST:
        raise SystemExit(
            f"{path.name} must have at most {LARGEST:,} bytes, got {n_bytes:,}: lower ZOOM or COLOURS."
        )
    print(f"{path.name}: {n_bytes:,} bytes")


if __name__ == "__main__":
    main()
