"""SEDC as in the pseudo-code (Algorithm 1): one model call for each candidate, as in the authors' code.

The benchmarks compare with it. It is not meant to be fast.
"""

import time
from collections.abc import Callable
from typing import Any


def naive_sedc(
    score: Callable[[Any], Any],
    row: Any,
    threshold: float,
    *,
    max_iterations: int = 50,
    max_size: int = 30,
    max_seconds: float = 120.0,
) -> frozenset[int] | None:
    """Return the columns of the first explanation of a positive row; empty if there is none.

    Return None if time runs out.
    """
    deadline = time.monotonic() + max_seconds
    columns = [int(column) for column in row.indices]

    def score_without(removed: frozenset[int]) -> float:
        changed = row.copy()
        for position, column in enumerate(columns):
            if column in removed:
                changed.data[position] = 0
        changed.eliminate_zeros()
        return float(score(changed)[0])

    to_expand: dict[frozenset[int], float] = {}
    expanded: set[frozenset[int]] = set()
    best = frozenset[int]()
    for _ in range(max_iterations):
        flips: dict[frozenset[int], float] = {}
        for column in columns:
            candidate = best | {column}
            if candidate == best or candidate in to_expand or candidate in expanded:
                continue
            if time.monotonic() > deadline:
                return None
            now = score_without(candidate)
            (flips if now < threshold else to_expand)[candidate] = now
        if flips:
            return min(flips, key=lambda candidate: flips[candidate])
        waiting = [candidate for candidate in to_expand if len(candidate) < max_size]
        if not waiting:
            break
        best = min(waiting, key=lambda candidate: to_expand[candidate])
        expanded.add(best)
        del to_expand[best]
    return frozenset()
