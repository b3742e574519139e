"""Names and texts that try to be something else: nothing of them runs, and the page keeps its shape."""

from typing import Any

import pytest
from hostile_workspaces import IMAGE, RECORDS, SCRIPT, TEXT

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")


def is_whole(page: Any) -> bool:
    """Whether nothing sticks out of a narrow or a wide window, and nothing of the names became an element."""
    widths = []
    for width in (1600, 360):
        page.set_viewport_size({"width": width, "height": 900})
        widths.append(page.evaluate("() => document.documentElement.scrollWidth"))
    inside = page.locator("main script, main img, main b, header script").count()
    return widths == [1600, 360] and inside == 0


def test_a_hostile_text(new_page: Any, served: Any) -> None:
    """Every word can be taken away, the text is shown to the letter, and marks of direction are seen."""
    page = new_page(360)
    page.goto(served.at("texts", "#/row/0"))
    session = served.workspaces["texts"].explainer.what_if(TEXT)
    expect(page.locator(".unit.mark").first).to_be_visible()
    assert is_whole(page)
    for place, name in enumerate(session.items):
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


def test_hostile_items(new_page: Any, served: Any) -> None:
    """Many items are folded and can be found; one name of 100 kB is cut."""
    page = new_page(360)
    page.goto(served.at("items", "#/row/0"))
    workspace = served.workspaces["items"]
    why = workspace.explainer.explain(workspace.data.at(0))
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
    page.goto(served.at("items", "#/own"))
    page.get_by_label("Add a feature").fill("<scr")
    expect(page.get_by_role("option")).to_have_text([SCRIPT])
    page.get_by_role("option").click()
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator(".items .unit")).to_have_text([SCRIPT])
    assert is_whole(page)


def test_texts_without_words(new_page: Any, served: Any) -> None:
    """Nothing to take away is an answer, not an error."""
    page = new_page(900)
    for number in (2, 3):
        page.goto(served.at("texts", f"#/row/{number}"))
        expect(page.locator(".box")).to_contain_text("nothing to take away")
        expect(page.locator(".sentence")).to_contain_text("no words that the model knows")
        page.get_by_role("button", name="Smallest explanation").click()
        expect(page.locator(".notice")).to_contain_text("nothing to take away")


def test_a_hostile_record(new_page: Any, served: Any) -> None:
    """A row is its table, to the letter; its parts can be taken away, and a form is made of its columns."""
    page = new_page(360)
    page.goto(served.at("records", "#/row/0"))
    workspace = served.workspaces["records"]
    why = workspace.explainer.explain(RECORDS[0])
    assert why
    expect(page.locator(".sentence")).to_contain_text("But for")
    expect(page.locator("table.record th")).to_have_text([IMAGE, "age", "text", "items"])
    assert is_whole(page)
    expect(page.locator("table.record td").nth(1)).to_have_text("40")
    assert page.locator("table.record tr").nth(1).locator(".unit").count() == 0  # a number stays
    page.get_by_role("button", name="Smallest explanation").click()
    expect(page.locator(".verdict")).to_contain_text("The decision flips")
    expect(page.locator(".taken")).to_contain_text(f"{why.size} of {why.n_active} parts taken away")
    page.goto(served.at("records", "#/own"))
    page.get_by_role("button", name="An example").click()
    expect(page.get_by_label("age")).to_have_value("40")
    page.get_by_label("text").fill("mild and kind")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("table.record td").nth(2)).to_have_text("mild and kind")
    assert is_whole(page)
    page.reload()
    expect(page.get_by_label("text")).to_have_value("mild and kind")
    expect(page.locator("table.record td").nth(2)).to_have_text("mild and kind")
