"""An event loop in a thread of its own, for async models in programs that may run a loop themselves."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


class EventLoop:
    """Runs coroutines from code that is not async; the loop starts at the first one and stays.

    Clients of async libraries belong to one loop, so all calls of a model go to the same one. A notebook runs
    a loop of its own already, in which nobody may wait.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end and return its result."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="butfor-calls", daemon=True).start()
        return self._loop

    def __getstate__(self) -> dict[str, Any]:
        """Leave the loop behind: another process starts its own."""
        return {"_loop": None}
