"""A real browser on a real server: the demo's two desks, shared by all tests of a process."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the web extra is not installed")
sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

CHROMIUM = shutil.which("chromium")
PATIENCE = 30.0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all these tests in one process, so that one server does for them."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("browser"))


@dataclass(frozen=True)
class Served:
    """A running server and what it serves, so that tests can ask the Explainers themselves."""

    url: str
    desks: dict[str, Any]

    def at(self, desk: str, view: str = "") -> str:
        """Give the address of a view."""
        return f"{self.url}/{desk}/{view}"

    def settled(self, desk: str) -> Any:
        """Wait until every row is explained, and give the desk."""
        _until(lambda: _is_explained(self.desks[desk]), f"rows of {desk} explained")
        return self.desks[desk]


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    """Serve the demo on a free port."""
    import uvicorn

    from butfor.web.app import create_app
    from butfor.web.demo_desks import demo_desks

    desks = list(demo_desks())
    config = uvicorn.Config(create_app(desks, jobs=1), host="127.0.0.1", port=0, log_config=None, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    _until(lambda: server.started, "the server started")
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Served(f"http://127.0.0.1:{port}", {desk.name: desk for desk in desks})
    server.should_exit = True
    thread.join(PATIENCE)


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


def _is_explained(desk: Any) -> bool:
    progress = desk.summary()["progress"]
    return bool(progress["explained"] == progress["total"])


def _until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.02)
