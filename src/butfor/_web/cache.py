"""A small cache of recent results that threads can share."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MOST_ENTRIES = 24
"""Entries that a cache holds by default: an entry of an overview takes a few bytes a row."""
Value = TypeVar("Value")


class LRUCache:
    """Keep the most recently used values; a thread that needs a value that is being made waits for it.

    >>> cache = LRUCache()
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key; make it if it is missing, and drop the one unused for longest."""
        with self._lock:
            if key not in self._values:
                self._values[key] = make()
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            self._values.move_to_end(key)
            value: Value = self._values[key]
            return value
