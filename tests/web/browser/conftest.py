"""A real browser on a real server: the demo's two workspaces, shared by all tests of a process."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from live import PATIENCE, Served, serving

pytest.importorskip("uvicorn", reason="the web extra is not installed")
sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    """Serve the demo's two workspaces, and three that are hostile."""
    from hostile_workspaces import item_workspace, record_workspace, text_workspace

    from butfor._web.demo_workspaces import demo_workspaces

    hostile = [text_workspace(), item_workspace(), record_workspace()]
    with serving([*demo_workspaces(), *hostile]) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Chromium. One a module: while it runs, nothing else in this process can have an event loop."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the path")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open pages of any width and colour; whatever any of them complains about fails the test."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_page(width: int = 1200, height: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE / 2 * 1000)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda message: complaints.append(message.text) if _is_alarm(message) else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """Open a page of middle width."""
    return new_page()


def _is_alarm(message: Any) -> bool:
    """Tell errors of the page from the browser's own note that a request was refused."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")
