"""Things that take a moment to make, kept for whoever asks next."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

KEPT = 24
"""Things that are kept: of a table, each takes a few bytes a row."""
Made = TypeVar("Made")


class Kept:
    """Things that were made lately; whoever asks for one that is being made waits for it.

    >>> kept = Kept()
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Make a thing unless it is there; the oldest go."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            made: Made = self._made[key]
            return made
