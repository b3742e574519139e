"""A real server in this process, for a real browser."""

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

PATIENCE = 30.0


@dataclass(frozen=True)
class Served:
    """A running server and what it serves, so that tests can ask the Explainers themselves."""

    url: str
    workspaces: dict[str, Any]

    def at(self, workspace: str, view: str = "") -> str:
        """Give the address of a view."""
        return f"{self.url}/{workspace}/{view}"

    def explained(self, workspace: str) -> Any:
        """Wait until every row is explained, and give the workspace."""
        until(lambda: is_explained(self.workspaces[workspace]), f"rows of {workspace} explained")
        return self.workspaces[workspace]

    def n_busy(self) -> int:
        """Count the processes that work, or start."""
        with urllib.request.urlopen(f"{self.url}/health", timeout=PATIENCE) as answer:
            return int(json.load(answer)["busy"])


@contextmanager
def serving(workspaces: Sequence[Any]) -> Iterator[Served]:
    """Serve workspaces on a free port, once all processes are there."""
    import uvicorn

    from butfor._web.app import create_app

    config = uvicorn.Config(
        create_app(workspaces, jobs=1), host="127.0.0.1", port=0, log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, "the server started")
    port = server.servers[0].sockets[0].getsockname()[1]
    served = Served(f"http://127.0.0.1:{port}", {workspace.name: workspace for workspace in workspaces})
    until(lambda: not served.n_busy(), "processes started")
    yield served
    server.should_exit = True
    thread.join(PATIENCE)


def is_explained(workspace: Any) -> bool:
    """Tell whether every row has its outcome."""
    progress = workspace.summary()["progress"]
    return bool(progress["explained"] == progress["total"])


def until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.05)
