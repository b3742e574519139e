"""All rows at a glance: counts judged by plain counting, bars followed to their rows."""

import re
from collections import Counter
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def whys(served: Any) -> list[Any]:
    """Explain every message of the inbox."""
    workspace = served.explained("inbox")
    return list(
        workspace.explainer.explain_many([workspace.data.text(number) for number in range(workspace.n_rows)])
    )


@pytest.fixture
def view(page: Any, served: Any, whys: list[Any]) -> Any:
    """Open the view of the inbox."""
    page.goto(served.at("inbox", "#/all"))
    expect(page.locator(".skeleton")).to_have_count(0)
    return page


def test_counts_are_those_of_the_explanations(view: Any, whys: list[Any]) -> None:
    """Features, sizes, outcomes and proofs."""
    features = Counter(name for why in whys for name in set(why.features))
    shown = _bars(view, "features")
    assert len(shown) == 30
    assert all(features[name] == n for name, n in shown.items())
    assert sorted(shown.values()) == sorted(features.values())[-30:]
    sizes = Counter(str(why.size) for why in whys if why)
    assert {name: n for name, n in _bars(view, "sizes").items() if n} == sizes
    found = sum(map(bool, whys))
    assert _bars(view, "statuses") == {"found": found, "none possible": len(whys) - found}
    proven = sum(why.proven_minimum for why in whys)
    assert _bars(view, "proven") == {"proven smallest": proven, "not proven": found - proven}


def test_a_bar_leads_to_its_rows(view: Any) -> None:
    """As many rows match as the bar counts; with a decision chosen, rows of that decision."""
    view.get_by_role("navigation", name="Decision").get_by_role("link", name="spam").click()
    view.wait_for_url("**/#/all?decision=spam")
    expect(view.locator(".switch [aria-current]")).to_have_text("spam")
    for plot in ("features", "sizes", "statuses", "proven"):
        expect(view.locator(".plots")).to_have_attribute("aria-busy", "false")
        bar = view.locator(f".plot-{plot} a.bar-line").first
        n = int(bar.locator(".bar-count").inner_text().split()[0])
        bar.click()
        expect(view.locator(".matching")).to_have_text(re.compile(rf"^{n} of \d+ rows"))
        expect(view.get_by_role("button", name=re.compile("decision spam"))).to_be_visible()
        expect(view.locator("tbody tr.skeleton")).to_have_count(0)
        assert set(view.locator("tbody .col-decision").all_inner_texts()) == {"spam"}
        view.go_back()


def test_a_hostile_name_is_only_text_and_still_leads_to_its_rows(new_page: Any, served: Any) -> None:
    """Script tags, direction marks, a word of 100 kB."""
    name = "<img src=x onerror=alert(1)>&feature=b#\u202e" + "W" * 100_000
    told = {
        "total": 9,
        "decisions": {},
        "statuses": {"found": 9},
        "sizes": {"2": 9},
        "n_found": 9,
        "n_proven": 4,
    }
    told |= {"progress": {"total": 9, "scored": 9, "explained": 9}, "features": [{"name": name, "count": 9}]}
    page = new_page(360)
    page.route("**/api/rows/summary*", lambda route: route.fulfill(json=told))
    page.goto(served.at("inbox", "#/all"))
    expect(page.locator(".plot-features .bar-name")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    asked = page.evaluate(
        "new URLSearchParams(document.querySelector('.bar-line').hash.split('?')[1]).get('feature')"
    )
    assert asked == name


def _bars(page: Any, plot: str) -> dict[str, int]:
    """Read a plot: its names and counts."""
    lines = page.locator(f".plot-{plot} .bar-line")
    names = lines.locator(".bar-name").all_inner_texts()
    counts = lines.locator(".bar-count").all_inner_texts()
    return {name.rstrip(": \n"): int(n.split()[0]) for name, n in zip(names, counts, strict=True)}
