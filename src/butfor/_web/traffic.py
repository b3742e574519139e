"""The requests that are being answered, and whether the server still takes new ones."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from butfor._web.logs import log_event


class Traffic:
    """Counts requests, and knows whether the server drains: it finishes what it has begun, then ends."""

    def __init__(self) -> None:
        self.n_running = 0
        self.is_draining = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a request for as long as the context lasts."""
        self.n_running += 1
        try:
            yield
        finally:
            self.n_running -= 1


class Drain:
    """The end of a server: new requests are refused, running ones have some seconds left."""

    def __init__(self, traffic: Traffic, seconds: float) -> None:
        self._traffic = traffic
        self._seconds = seconds
        self._end = 0.0

    def begin(self) -> bool:
        """Begin to drain; return whether that makes sense: it has not begun before, and may take time."""
        if self._traffic.is_draining or not self._seconds:
            return False
        self._traffic.is_draining = True
        self._end = time.monotonic() + self._seconds
        log_event(logging.INFO, "draining", running=self._traffic.n_running, seconds=self._seconds)
        return True

    @property
    def is_over(self) -> bool:
        """Whether all requests have been answered, or the time is up."""
        if not self._traffic.is_draining:
            return False
        return not self._traffic.n_running or time.monotonic() >= self._end
