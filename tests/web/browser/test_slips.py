"""What hasty hands and lost servers do to the page."""

from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")


def test_a_quick_second_click_puts_a_word_back(page: Any, served: Any) -> None:
    """It does not select the word instead."""
    page.goto(served.at("inbox", "#/row/3"))
    word = page.locator(".unit").nth(2)
    word.dblclick()
    expect(page.locator(".taken")).to_contain_text("0 of")
    expect(word).to_have_attribute("aria-pressed", "false")


def test_leaving_while_typing_complains_of_nothing(page: Any, served: Any) -> None:
    """The search that was about to start is not wanted any more."""
    page.goto(served.at("inbox", "#/rows"))
    page.locator("a[data-number]").first.wait_for()
    page.fill("#search", "free")
    page.evaluate("() => document.querySelector('a[data-number]').click()")
    expect(page.locator("h1")).to_contain_text("Row 0")
    page.wait_for_timeout(400)


def test_a_page_behind_the_last_is_no_trap(page: Any, served: Any) -> None:
    """The way back leads back."""
    page.goto(served.at("inbox", "#/own"))
    page.locator("#own-text").wait_for()
    page.evaluate("() => { location.hash = '#/rows?page=999'; }")
    page.wait_for_url("**page=3")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Your own text")


def test_items_are_taken_out_one_after_the_other(page: Any, served: Any) -> None:
    """No list opens over those that are left."""
    page.goto(served.at("moviegoers", "#/own"))
    page.get_by_role("button", name="An example").click()
    chips = page.locator(".picked .chip")
    chips.first.wait_for()
    n_picked = chips.count()
    for gone in (1, 2):
        chips.first.get_by_role("button").click()
        expect(chips).to_have_count(n_picked - gone)
        page.wait_for_timeout(300)
    expect(page.locator("#suggestions")).to_be_hidden()


def test_enter_picks_what_was_typed(page: Any, served: Any) -> None:
    """Also where the suggestions are still those of before."""
    page.goto(served.at("moviegoers", "#/own"))
    page.locator("#pick").focus()
    page.locator("#suggestions li").first.wait_for()
    page.keyboard.insert_text("The Wicked Rooftop")
    page.keyboard.press("Enter")
    expect(page.locator(".picked .chip bdi")).to_have_text(["The Wicked Rooftop"])


def test_back_between_two_long_texts(page: Any, served: Any) -> None:
    """Each entry of the history has its own."""
    page.goto(served.at("inbox", "#/own"))
    for text in ("free prize one ", "account two hello "):
        page.locator("#own-text").fill(text * 700)
        page.get_by_role("button", name="Explain", exact=True).click()
        expect(page.locator(".unit").first).to_have_text(text.split()[0])
    page.go_back()
    expect(page.locator(".unit").first).to_have_text("free")


def test_focus_stays_where_lists_change(page: Any, served: Any) -> None:
    """After "never use", and where an item with the focus changes its place."""
    page.goto(served.at("inbox", "#/row/3"))
    page.locator(".reasons button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sentence")).not_to_contain_text("free")
    assert page.evaluate("() => document.activeElement.textContent") == "Smallest explanation"
    page.goto(served.at("moviegoers", "#/rows?decision=joins+the+midnight+club"))
    page.locator("a[data-number]").first.click()
    page.locator(".unit.mark").first.wait_for()
    page.get_by_role("button", name="Smallest explanation").click()
    page.get_by_role("button", name="Another one").click()
    expect(page.locator(".notice")).to_contain_text("of at least")
    page.locator(".unit.mark").first.focus()
    page.keyboard.press("u")
    page.wait_for_timeout(300)
    assert "unit" in page.evaluate("() => document.activeElement.className")


def test_a_lost_server_is_told_where_one_looks(page: Any, served: Any) -> None:
    """A view that cannot be fetched takes the place of the one before."""
    page.route("**/row.js", lambda route: route.abort())
    page.goto(served.at("inbox", "#/rows"))
    page.locator("a[data-number]").first.wait_for()
    page.locator("a[data-number]").first.click()
    expect(page.locator(".failure")).to_contain_text("The server does not answer")
    expect(page.locator("#main > *")).to_have_count(1)
