"""Look at the built site in Chromium: `python docs/check_site.py`, after `make site`.

Pages are opened as files, wide and narrow, light and dark. Rules of accessibility (axe) must hold, no page
may be wider than the window, nothing may be loaded from elsewhere, search must find pages, and two clicks
must lead from the first page to the answers of a newcomer's questions. Pictures go to build/site-pictures.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

SITE = Path(__file__).parents[1] / "build" / "site"
PICTURES = SITE.with_name("site-pictures")
PAGES = (
    "index",
    "how-to/dataframes",
    "how-to/choosing",
    "concepts/proofs",
    "reference/api/explainer",
    "reference/commands",
    "reference/http",
    "benchmarks",
    "study",
)
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
WORDS = {
    "XGBoost": "Explain LightGBM, XGBoost",
    "ColumnTransformer": "Explain a row of a DataFrame",
    "Hugging Face": "Explain Hugging Face",
    "nginx": "The page and the HTTP API",
}
"""What people search for, and how the title of a page begins that must be found."""
QUESTIONS = {
    "how do I explain a DataFrame row": ("how-to/dataframes.html", []),
    "my XGBoost": ("how-to/trees.html", []),
    "a Hugging Face pipeline": ("how-to/other-libraries.html", ["#hugging-face"]),
    "why none": ("concepts/negatives.html", ["#why-is-the-answer-none"]),
    "is it causal": ("concepts/evidence-counterfactuals.html#is-it-causal", []),
    "can it run in Spark": ("how-to/scale.html", ["#spark"]),
    "may I forbid a feature": ("how-to/protect.html", ["#how-do-i-protect-features-from-being-used"]),
    "how sure is proven": ("concepts/proofs.html", []),
    "how is it different from SHAP": (
        "concepts/evidence-counterfactuals.html#weights-such-as-those-of-shap-and-lime",
        [],
    ),
    "how fast": ("benchmarks.html", ["#how-fast-is-it-on-my-model"]),
}
"""What a newcomer asks, the link to click on the first page, and the one on the next, if one is needed."""


def main() -> None:
    """Print what is wrong; the exit code is 1 if anything is."""
    PICTURES.mkdir(exist_ok=True)
    elsewhere: list[str] = []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        faults = []
        for width in WIDTHS:
            for scheme in SCHEMES:
                page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                page.on("request", lambda request: elsewhere.append(request.url))
                faults += looks(page, f"{width}-{scheme}")
        faults += [*search(page), *clicks(page)]
        browser.close()
    faults += [f"loaded from elsewhere: {url}" for url in elsewhere if not url.startswith(("file:", "data:"))]
    print("\n".join(faults) or f"Nothing is wrong. Pictures: {PICTURES}")
    sys.exit(bool(faults))


def looks(page: Page, kind: str) -> Iterator[str]:
    """Yield what is wrong with single pages, and take their pictures."""
    for name in PAGES:
        page.goto(f"{SITE.as_uri()}/{name}.html")
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURES / f"{name.replace('/', '-')}-{kind}.png")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            yield f"{name}, {kind}: wider than the window"
        for broken in Axe().run(page).response["violations"]:
            yield f"{name}, {kind}: {broken['id']}: {broken['nodes'][0]['html']}"


def search(page: Page) -> Iterator[str]:
    """Yield the words for which search does not find the page."""
    for word, title in WORDS.items():
        page.goto(f"{SITE.as_uri()}/search.html?q={word.replace(' ', '+')}")
        page.wait_for_selector("ul.search li a")
        page.wait_for_timeout(1_000)
        if not any(found.startswith(title) for found in page.locator("ul.search li a").all_inner_texts()):
            yield f"search for {word!r} does not find {title!r}"


def clicks(page: Page) -> Iterator[str]:
    """Yield the questions whose answer is not where two clicks lead."""
    page.set_viewport_size({"width": 1280, "height": 900})
    for question, (first, then) in QUESTIONS.items():
        page.goto(f"{SITE.as_uri()}/index.html")
        for link in [first, *then]:
            page.locator(f'a[href="{link}"]:visible').first.click()
            page.wait_for_load_state("load")
            page.wait_for_timeout(300)
            anchor = link.partition("#")[2]
            if anchor and not page.evaluate("name => !!document.getElementById(name)", anchor):
                yield f"{question}: {link} leads nowhere"


if __name__ == "__main__":
    main()
