"""lime-sedc and shap-sedc without their ranking: a ranking's answer, improved by best-first growth."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np

from butfor._checks import is_count, require_count
from butfor.budget import Budget
from butfor.errors import InputError
from butfor.models.arrays import FloatArray, IntArray
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding
from butfor.searches.shared.prefixes import shortest_prefix
from butfor.searches.shared.shrink import shrink

WIDTH = 50
"""By how many units of the ranking a set is grown at once."""


@dataclass(frozen=True)
class Hybrid(ABC):
    """A search by a ranking from samples, in one round or several, each improved by growing sets."""

    n_samples: int | Sequence[int] = 5_000
    max_iterations: int = 50

    def __post_init__(self) -> None:
        require_count("max_iterations", self.max_iterations)
        if isinstance(self.n_samples, list):
            object.__setattr__(self, "n_samples", tuple(self.n_samples))
        counts = all(is_count(n_samples, at_least=2) for n_samples in self._schedule)
        if not (self._schedule and counts and all(few < more for few, more in pairwise(self._schedule))):
            raise InputError(
                "n_samples must be a whole number of at least 2, or several that increase, "
                f"such as (100, 1000, 5000), got {self.n_samples!r}."
            )

    @property
    def _schedule(self) -> tuple[Any, ...]:
        return self.n_samples if isinstance(self.n_samples, tuple) else (self.n_samples,)

    @abstractmethod
    def _weights(self, local: LocalModel, n_samples: int, seed: int) -> FloatArray: ...

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the ranking's own answer, then smaller ones, round after round."""
        best = Finding()
        singles = cache(lambda: local.scores_with_each((), np.arange(local.n_features)))
        for n_samples in self._schedule:
            size_before = len(best.removed)
            weights = self._weights(local, n_samples, seed)
            for finding in self._round(local, budget, weights, best, singles):
                best = replace(finding, weights=tuple(map(float, weights[list(finding.removed)])))
                yield best
            size = len(best.removed)
            proven = best.lower_bound == (size or budget.largest(local.n_features) + 1)
            if proven or 0 < size == size_before:
                return

    def _round(
        self,
        local: LocalModel,
        budget: Budget,
        weights: FloatArray,
        best: Finding,
        singles: Callable[[], FloatArray],
    ) -> Iterator[Finding]:
        """Improve on a finding: by the ranking's answer, by a subset of it, by one unit, by growing sets."""
        own = shortest_prefix(local, budget, weights)
        if not best.removed or 0 < len(own.removed) < len(best.removed):
            yield replace(own, lower_bound=best.lower_bound)
            best = Finding(shrink(local, own.removed), best.lower_bound, own.reason)
            yield best
        if local.flips(singles()).any():
            yield Finding((int(np.argmin(singles())),))
            return
        best = replace(best, lower_bound=max(2, best.lower_bound))
        yield best
        growth = _Growth(local, np.lexsort((singles(), -weights)), singles())
        n_iterations = 0
        while growth.can_go_on(len(best.removed) or budget.largest(local.n_features) + 1):
            if n_iterations == self.max_iterations:
                yield replace(best, reason=f"max_iterations={self.max_iterations} reached")
                return
            n_iterations += 1
            found = growth.step()
            if found:
                best = replace(best, removed=shrink(local, found))
                yield best
        # Every smaller set has been scored.
        yield replace(best, lower_bound=len(best.removed) or budget.largest(local.n_features) + 1, reason="")


class _Growth:
    """Sets that wait to be grown, lowest score first; each is grown by a few units of a ranking at a time.

    A set that has been grown waits again, behind the new sets that score lower. Units are represented by
    their place in the ranking, so that of equal scores the set of higher-ranked units comes first.
    """

    def __init__(self, local: LocalModel, order: IntArray, singles: FloatArray) -> None:
        self._local = local
        self._order = order
        self._generated: set[frozenset[int]] = set()
        scores = enumerate(singles[order].tolist())
        self._waiting: list[tuple[float, tuple[int, ...], int]] = [  # score, places, grown up to this place
            (score, (place,), 0) for place, score in scores
        ]
        heapify(self._waiting)

    def can_go_on(self, below: int) -> bool:
        """Drop the sets that cannot grow to less than this size; return whether some are left."""
        while self._waiting and len(self._waiting[0][1]) + 1 >= below:
            heappop(self._waiting)
        return bool(self._waiting)

    def step(self) -> tuple[int, ...]:
        """Grow the set with the lowest score; return the strongest new set that flips, if one does."""
        score, places, start = heappop(self._waiting)
        end = start + WIDTH + sum(place >= start for place in places)
        if end < len(self._order):
            heappush(self._waiting, (score, places, end))
        new = []
        for place in range(start, min(end, len(self._order))):
            grown = frozenset((*places, place))
            if place not in places and grown not in self._generated:
                self._generated.add(grown)
                new.append(place)
        units = tuple(map(int, self._order[list(places)]))
        candidates = self._order[new]
        scores = self._local.scores_with_each(units, candidates)
        if self._local.flips(scores).any():
            return (*units, int(candidates[np.argmin(scores)]))
        for place, its_score in zip(new, scores.tolist(), strict=True):
            heappush(self._waiting, (its_score, (*places, place), 0))
        return ()
