"""The table of rows, used as people use it and judged by the Explainer and the texts themselves."""

import json
import re
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def rows(page: Any, served: Any) -> Any:
    """Open the rows of the inbox, all explained."""
    served.explained("inbox")
    page.goto(served.at("inbox"))
    _loaded(page)
    return page


def test_cells_say_what_the_explainer_says(rows: Any, served: Any) -> None:
    """Score, decision and size of a row; the heading says of which class the scores are."""
    workspace = served.workspaces["inbox"]
    assert rows.locator("thead .col-score").inner_text() == "Score of spam"
    for number in range(8):
        why = workspace.explainer.explain(workspace.data.at(number))
        line = rows.locator("table.rows tbody tr").nth(number)
        assert float(line.locator(".col-score .figure").inner_text()) == pytest.approx(why.score, abs=0.006)
        assert line.locator(".col-decision").inner_text() == why.decision
        said = line.locator(".col-size").inner_text().split()
        assert said == ([str(why.size), "proven"] if why else ["none", "possible"])


def test_a_click_sorts_and_back_takes_it_back(rows: Any, served: Any) -> None:
    """Headings are buttons, tell their order, and the order is in the address."""
    heading = rows.get_by_role("columnheader", name="Score")
    before = rows.locator("table.rows .col-preview").nth(1).inner_text()
    rows.get_by_role("button", name="Score").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    _loaded(rows)
    scores = [float(text) for text in rows.locator("tbody .col-score .figure").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert rows.url.endswith("#/rows?sort=-score")
    rows.get_by_role("button", name="Score").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    rows.go_back()
    rows.go_back()
    expect(heading).to_have_attribute("aria-sort", "none")
    _loaded(rows)
    assert rows.locator("table.rows .col-preview").nth(1).inner_text() == before


def test_search_and_filters_combine_and_come_off(rows: Any, served: Any) -> None:
    """The number of matching rows is that of a plain loop; chips take filters away."""
    workspace = served.workspaces["inbox"]
    texts = [workspace.data.text(number) for number in range(workspace.n_rows)]
    having = [text for text in texts if "the" in text.lower()]
    spam = [text for text in having if workspace.explainer.explain(text).decision == "spam"]
    assert 0 < len(spam) < len(having) < len(texts)
    rows.get_by_label("Search").fill("THE")
    expect(rows.locator(".matching")).to_have_text(f"{len(having)} of {len(texts)} rows")
    rows.get_by_label("Decision").select_option("spam")
    expect(rows.locator(".matching")).to_have_text(f"{len(spam)} of {len(texts)} rows")
    rows.reload()
    expect(rows.locator(".matching")).to_have_text(f"{len(spam)} of {len(texts)} rows")
    expect(rows.get_by_label("Search")).to_have_value("THE")
    rows.get_by_role("button", name=re.compile("decision spam")).click()
    expect(rows.locator(".matching")).to_have_text(f"{len(having)} of {len(texts)} rows")
    expect(rows.get_by_label("Search")).to_be_focused()
    rows.get_by_label("Search").fill("no such thing anywhere")
    expect(rows.get_by_text("No row matches.")).to_be_visible()
    rows.get_by_role("link", name="Show all rows").click()
    expect(rows.locator(".matching")).to_have_text(f"{len(texts)} rows")
    expect(rows.get_by_label("Search")).to_have_value("")


def test_pages_have_links(rows: Any, served: Any) -> None:
    """First, previous, next and last; a link to a page restores it, one beyond the end shows the last."""
    n_pages = -(-served.workspaces["inbox"].n_rows // 50)
    steps = rows.get_by_role("navigation", name="Pages")
    place = steps.locator(".place")
    expect(place).to_have_text(f"Page 1 of {n_pages}")
    expect(steps.get_by_role("link", name="Previous page")).to_be_disabled()
    steps.get_by_role("link", name="Next page").click()
    expect(place).to_have_text(f"Page 2 of {n_pages}")
    _loaded(rows)
    expect(rows.locator("tbody a").first).to_have_text("Row 50")
    steps.get_by_role("link", name="Last page").click()
    expect(place).to_have_text(f"Page {n_pages} of {n_pages}")
    rows.reload()
    expect(place).to_have_text(f"Page {n_pages} of {n_pages}")
    rows.goto(served.at("inbox", "#/rows?page=999"))
    expect(place).to_have_text(f"Page {n_pages} of {n_pages}")


def test_keys_go_from_row_to_row_and_open_one(rows: Any) -> None:
    """Arrow keys or j and k; Enter opens; the way back finds the list again."""
    rows.locator("tbody a").first.focus()
    for key in ("j", "ArrowDown", "k"):
        rows.keyboard.press(key)
    expect(rows.locator("tbody a").nth(1)).to_be_focused()
    rows.keyboard.press("Enter")
    rows.wait_for_url("**/#/row/1")
    expect(rows.locator("h1")).to_be_focused()
    rows.go_back()
    _loaded(rows)
    assert rows.url.endswith("/inbox/")


def test_what_is_pending_fills_in_place(page: Any, served: Any) -> None:
    """Cells change, rows stay where they are, and what has the focus keeps it."""
    served.explained("inbox")
    answers = []

    def answer(route: Any) -> None:
        told = route.fetch().json()
        if not answers:
            told["progress"]["explained"] = 0
            told["rows"].reverse()
            for row in told["rows"]:
                row.update(status="pending", size=None, lower_bound=None, proven=None)
        answers.append(told)
        route.fulfill(json=told)

    page.route("**/api/rows?*", answer)
    page.goto(served.at("inbox"))
    _loaded(page)
    first = page.locator("tbody tr").first
    kept = first.element_handle()
    expect(page.locator(".known")).to_contain_text("explaining: 0 of")
    expect(first.locator(".col-size")).to_contain_text("…")
    first.locator("a").focus()
    expect(first.locator(".col-size")).not_to_contain_text("…")
    expect(first.locator("a")).to_be_focused()
    assert first.evaluate("(now, kept) => now === kept", kept)
    expect(page.locator(".known")).to_have_text("")
    asked = len(answers)
    page.wait_for_timeout(1700)
    assert len(answers) == asked == 2
    expect(first.locator("a")).to_have_text("Row 49")
    page.get_by_role("button", name="Show the new order").click()
    expect(first.locator("a")).to_have_text("Row 0")
    expect(page.get_by_role("button", name="Show the new order")).to_be_hidden()


def test_a_problem_is_told_and_can_be_tried_again(page: Any, served: Any) -> None:
    """The server's own words, where the rows would be."""
    problem = {"type": "about:blank", "title": "Busy", "status": 503, "detail": "Too many are waiting."}
    page.route(
        "**/api/rows?*",
        lambda route: route.fulfill(
            status=503, content_type="application/problem+json", body=json.dumps(problem)
        ),
        times=1,
    )
    page.goto(served.at("inbox"))
    expect(page.get_by_role("alert")).to_contain_text("Too many are waiting.")
    page.get_by_role("button", name="Try again").click()
    _loaded(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_hostile_rows_are_only_text(new_page: Any, served: Any) -> None:
    """Script tags, marks that turn the direction and endless words neither run nor break the layout."""
    evil = {
        "number": 0,
        "score": 0.7,
        "decision": "<i>x</i>\u202e" + "W" * 10_000,
        "status": "found",
        "size": 3,
    }
    evil |= {
        "id": "\u202e<b>" + "i" * 5_000,
        "preview": "<img src=x onerror=alert(1)>\u202e\x00" + "W" * 100_000,
    }
    evil |= {"lower_bound": 2, "proven": False}
    told = {"total": 1, "matching": 1, "page": 1, "per_page": 50, "rows": [evil]}
    told["progress"] = {"total": 1, "scored": 1, "explained": 1}
    for width in (360, 1200):
        page = new_page(width)
        page.route("**/api/rows?*", lambda route: route.fulfill(json=told))
        page.goto(served.at("inbox"))
        _loaded(page)
        expect(page.locator("tbody .col-preview")).to_contain_text(
            "<img src=x onerror=alert(1)>\\u{202e}\\u{0}"
        )
        expect(page.locator("tbody .col-size")).to_contain_text("≥ 2 needed")
        assert page.locator("tbody img, tbody b, tbody i").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("tbody tr").bounding_box()["height"] < 200


def _loaded(page: Any) -> None:
    """Wait for rows."""
    expect(page.locator("table.rows")).to_have_attribute("aria-busy", "false")
    expect(page.locator("tbody tr.skeleton")).to_have_count(0)
