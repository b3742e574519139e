"""How every view looks and behaves for everybody: axe, widths, keyboard, no jumps, no waiting."""

from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

VIEWS = ("#/rows?size=3", "#/rows?q=no+such+thing", "#/row/3", "#/own", "#/all")
GRAVE = ("serious", "critical")
SHIFTS = """() => { window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true }); }"""


@pytest.mark.parametrize(
    ("workspace", "width", "scheme", "views"),
    [
        ("inbox", 1200, "light", ("#/rows?size=3", "#/row/3", "#/own", "#/all", "docs")),
        ("moviegoers", 360, "dark", ("#/rows?size=3", "#/row/3", "#/all")),
    ],
)
def test_axe_finds_nothing_serious(
    new_page: Any, served: Any, workspace: str, width: int, scheme: str, views: tuple[str, ...]
) -> None:
    """In light and dark, wide and narrow."""
    served.explained(workspace)
    page = new_page(width, color_scheme=scheme, reduced_motion="reduce")
    for view in views:
        _open(page, served.at(workspace, view))
        found = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        grave = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in GRAVE]
        assert not grave, f"{view}: {grave}"


@pytest.mark.parametrize("workspace", ["inbox", "moviegoers"])
def test_no_view_scrolls_sideways(new_page: Any, served: Any, workspace: str) -> None:
    """From a phone to a wide screen."""
    served.explained(workspace)
    page = new_page()
    for view in (*VIEWS, "docs"):
        _open(page, served.at(workspace, view))
        for width in (360, 900, 1600):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (view, width)


@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_jumps(new_page: Any, served: Any, width: int) -> None:
    """What the browser itself counts as shifted is next to nothing, from the empty page to the last cell."""
    served.explained("inbox")
    page = new_page(width)
    page.add_init_script(f"({SHIFTS})()")
    for view in ("#/rows", "#/all"):
        _open(page, served.at("inbox", view))
        assert page.evaluate("window.shifted") < 0.02, view


def test_everything_can_be_reached_with_keys_alone(page: Any, served: Any) -> None:
    """Skip link, navigation, filters, a row, and back: focus is always on something that shows it."""
    served.explained("inbox")
    _open(page, served.at("inbox"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Search")).to_be_focused()
    for _ in range(9):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "[null, '::after'].map((part) => getComputedStyle(document.activeElement, part).outlineStyle)"
        )
        assert "solid" in outline or "auto" in outline
    page.locator(".views").get_by_text("All rows").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("All rows")
    expect(page.locator("h1")).to_be_focused()
    assert page.title().startswith("All rows · ")
    expect(page.locator(".views [aria-current=page]")).to_have_text("All rows")


def test_workspaces_have_a_switch(page: Any, served: Any) -> None:
    """From one data set to the other and back."""
    _open(page, served.url)
    for name in ("moviegoers", "inbox"):
        page.get_by_role("navigation", name="Data sets").get_by_role("link", name=name).click()
        page.wait_for_url(f"**/{name}/")
        expect(page.locator(".workspaces [aria-current]")).to_have_text(name)


def test_an_address_that_says_nothing_shows_the_rows(page: Any, served: Any) -> None:
    """Whatever stands after the #."""
    for place in ("#", "#/", "#/nowhere/%E0%A4%A", "#/constructor", "#?x"):
        page.goto("about:blank")
        _open(page, served.at("inbox", place))
        expect(page.locator("h1")).to_have_text("Rows")


def _open(page: Any, address: str) -> None:
    """Go there and wait until all is drawn."""
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
