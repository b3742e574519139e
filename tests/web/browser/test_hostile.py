"""Names and texts that try to be something else: nothing of them runs, and the page keeps its shape."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from live import Served, serving
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from butfor import Explainer

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img/src=x/onerror=alert(1)>'
TURNED = "\u202eesrever\u202c"
LONG = "x" * 100_000
EMOJI = "👩‍👩‍👧🏽"
HEBREW = "פרס"
TEXT = f"{EMOJI} {SCRIPT} {TURNED} {IMAGE} {HEBREW} {LONG} ${{7*7}} {{{{7*7}}}} 𝒇𝒓𝒆𝒆\x00 end"
NAMES = [SCRIPT, IMAGE, TURNED, LONG, EMOJI, HEBREW, "a,b", "constructor", *(f"film {i}" for i in range(92))]
CLASSES = [f"<b>{SCRIPT}</b>", "\u202eevil"]


def text_desk() -> Any:
    from butfor.web.desk import Desk
    from butfor.web.given import Texts

    vectorizer = CountVectorizer(token_pattern=r"\S+", lowercase=False, binary=True)
    model = make_pipeline(vectorizer, LogisticRegression(C=100)).fit([TEXT, "mild words"], [1, 0])
    return Desk.of(
        "texts", SCRIPT, Explainer(model, class_names=CLASSES), Texts([TEXT, "mild words", "", "?!"])
    )


def item_desk() -> Any:
    from butfor.web.desk import Desk
    from butfor.web.given import Items

    X = np.vstack([np.ones(len(NAMES)), np.zeros(len(NAMES))])
    model = LogisticRegression().fit(X, [1, 0])
    explainer = Explainer(model, feature_names=NAMES, class_names=CLASSES)
    return Desk.of("items", TURNED, explainer, Items(csr_array(X), NAMES))


@pytest.fixture(scope="module")
def hostile() -> Iterator[Served]:
    """Serve both desks."""
    with serving([text_desk(), item_desk()]) as served:
        yield served


def is_whole(page: Any) -> bool:
    """Whether nothing sticks out of a narrow or a wide window, and nothing of the names became an element."""
    widths = []
    for width in (1600, 360):
        page.set_viewport_size({"width": width, "height": 900})
        widths.append(page.evaluate("() => document.documentElement.scrollWidth"))
    inside = page.locator("main script, main img, main b, header script").count()
    return widths == [1600, 360] and inside == 0


def test_a_hostile_text(new_page: Any, hostile: Any) -> None:
    """Every word can be taken away, the text is shown to the letter, and marks of direction are seen."""
    page = new_page(360)
    page.goto(hostile.at("texts", "#/row/0"))
    bench = hostile.desks["texts"].explainer.bench(TEXT)
    expect(page.locator(".unit.mark").first).to_be_visible()
    assert is_whole(page)
    for place, name in enumerate(bench.items):
        shown = page.locator(f'.unit[data-place="{place}"]').inner_text()
        expected = name.replace("\u202e", "⇄").replace("\u202c", "⇄").replace("\x00", "\\u{0}")
        assert shown == expected
    page.get_by_role("button", name="Smallest explanation").click()
    expect(page.locator(".verdict")).to_contain_text("The decision flips")
    page.locator(".unit").filter(has_text=SCRIPT).first.focus()
    page.get_by_role("button", name="Never use “").click()
    expect(page.locator("[aria-label='Never used']")).to_contain_text(SCRIPT)
    page.reload()
    expect(page.locator(".unit.locked")).to_have_text(SCRIPT)
    assert is_whole(page)


def test_hostile_items(new_page: Any, hostile: Any) -> None:
    """Many items are folded and can be found; one name of 100 kB is cut."""
    page = new_page(360)
    page.goto(hostile.at("items", "#/row/0"))
    desk = hostile.desks["items"]
    why = desk.explainer.explain(desk.given.at(0))
    expect(page.locator(".items > .chips .unit.mark")).to_have_count(why.size)
    assert is_whole(page)
    page.get_by_label("Find an item").fill("CONSTR")
    chips = page.locator(".items li:visible .unit")
    expect(chips).to_have_text(["constructor"])
    chips.click()
    expect(page.locator(".taken")).to_have_text("1 of 100 features taken away")
    page.get_by_label("Find an item").fill("")
    assert max(map(len, page.locator(".items .unit").all_inner_texts())) <= 200
    assert is_whole(page)
    page.goto(hostile.at("items", "#/own"))
    page.get_by_label("Add a feature").fill("<scr")
    expect(page.get_by_role("option")).to_have_text([SCRIPT])
    page.get_by_role("option").click()
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator(".items .unit")).to_have_text([SCRIPT])
    assert is_whole(page)


def test_texts_without_words(new_page: Any, hostile: Any) -> None:
    """Nothing to take away is an answer, not an error."""
    page = new_page(900)
    for number in (2, 3):
        page.goto(hostile.at("texts", f"#/row/{number}"))
        expect(page.locator(".box")).to_contain_text("nothing to take away")
        expect(page.locator(".sentence")).to_contain_text("no words that the model knows")
        page.get_by_role("button", name="Smallest explanation").click()
        expect(page.locator(".notice")).to_contain_text("nothing to take away")
