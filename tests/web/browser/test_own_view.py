"""A text and items of one's own in a real browser: the view of a row, with all of it in the address."""

from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")

TEXT = "🎉 Get rich!\nMy trading robot 🎈 is FREE for 48 hrs, takes £200 a month, free of your account"


def explain(page: Any) -> None:
    page.get_by_role("button", name="Explain", exact=True).click()


def test_a_pasted_text_is_explained_and_restored(page: Any, served: Any) -> None:
    """Places are right behind an emoji too; back leads to the text before; no request names it."""
    explainer = served.workspaces["inbox"].explainer
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served.at("inbox", "#/own"))
    assert page.get_by_role("button", name="Explain", exact=True).is_disabled()
    page.get_by_label("Paste or write a text").fill(TEXT)
    explain(page)
    why = explainer.explain(TEXT)
    assert why
    expect(page.locator(".sentence")).to_have_text(str(why))
    places = sorted(sum(why.spans, ()))
    assert page.locator(".unit.mark").all_inner_texts() == [TEXT[start:end] for start, end in places]
    page.get_by_role("button", name="Smallest explanation").click()
    expect(page.locator(".verdict")).to_contain_text("The decision flips: now ham")
    page.reload()
    expect(page.locator(".verdict")).to_contain_text("The decision flips: now ham")
    assert page.get_by_label("Paste or write a text").input_value() == TEXT
    page.get_by_label("Paste or write a text").fill("see you at lunch")
    page.get_by_label("Paste or write a text").press("Control+Enter")
    expect(page.locator(".decided")).to_contain_text("ham")
    page.go_back()
    expect(page.locator(".decided")).to_contain_text("spam")
    assert not any("robot" in address.split("#")[0] for address in asked)


def test_a_text_too_long_for_a_link_survives_a_reload(page: Any, served: Any) -> None:
    """The page says that a link cannot hold it; what is too long for the server cannot be sent."""
    page.goto(served.at("inbox", "#/own"))
    field = page.get_by_label("Paste or write a text")
    field.fill(f"{TEXT} " * 110)
    explain(page)
    expect(page.locator(".unit.mark").first).to_be_visible()
    assert len(page.url) < 1000
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".export [role=status]")).to_contain_text("longer than 8,000 characters")
    page.reload()
    expect(page.locator(".unit.mark").first).to_be_visible()
    field.fill("x" * 200_001)
    expect(page.locator("#counter")).to_contain_text("too long")
    assert page.get_by_role("button", name="Explain", exact=True).is_disabled()


def test_the_example_is_a_row(page: Any, served: Any) -> None:
    workspace = served.explained("inbox")
    scores, _ = workspace.explainer.decide(workspace.data.some(range(workspace.n_rows)))
    page.goto(served.at("inbox", "#/own"))
    page.get_by_role("button", name="An example").click()
    expect(page.get_by_label("Paste or write a text")).to_have_value(
        workspace.data.text(int(scores.argmax()))
    )


def test_items_are_picked_with_keys_alone(page: Any, served: Any) -> None:
    """The combobox: type, go down, take; Escape closes it, Backspace takes the last one out again."""
    workspace = served.workspaces["moviegoers"]
    page.goto(served.at("moviegoers", "#/own"))
    field = page.get_by_role("combobox")
    options = page.get_by_role("option")
    picked = []
    for start in ("the frozen", "the violet", "the silver"):
        names = [each["name"] for each in workspace.features(start, 20)]
        field.focus()
        page.keyboard.type(start)
        expect(options).to_have_text(names)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert field.get_attribute("aria-activedescendant") == "suggestion-1"
        page.keyboard.press("Enter")
        picked.append(names[1])
    chips = page.locator(".picked .name")
    assert chips.all_inner_texts() == picked
    page.keyboard.type("the")
    expect(options.first).to_be_visible()
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    field.fill("")
    page.keyboard.press("Backspace")
    assert chips.all_inner_texts() == picked[:2]
    explain(page)
    why = workspace.explainer.explain(workspace.explainer.row_of(picked[:2]))
    expect(page.locator(".sentence")).to_have_text(str(why))
    assert sorted(page.locator(".items .unit").all_inner_texts()) == sorted(why.items)
    page.reload()
    expect(page.locator(".sentence")).to_have_text(str(why))
    assert chips.all_inner_texts() == picked[:2]
