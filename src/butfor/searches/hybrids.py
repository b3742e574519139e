"""Hybrids of LIME-C or SHAP-C and SEDC, which the paper leaves to further research."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.checks import require_count
from butfor.errors import InputError
from butfor.models.base import FloatArray, IntArray, LocalModel
from butfor.rankings import kernel_shap_weights, lime_weights
from butfor.searches.base import Finding
from butfor.searches.lin_sedc import Prefixes
from butfor.searches.shrink import shrink

WIDTH = 50
"""By how many features of the ranking a set is grown at once."""


@dataclass(frozen=True)
class _Hybrid(ABC):
    n_samples: int | Sequence[int] = 5_000
    max_iterations: int = 50

    def __post_init__(self) -> None:
        require_count("max_iterations", self.max_iterations)
        for n_samples in self._schedule:
            require_count("n_samples", n_samples, at_least=2)
        if not self._schedule or any(more <= few for few, more in pairwise(self._schedule)):
            raise InputError(
                f"n_samples must be a whole number, or increasing ones such as (500, 5000), "
                f"got {self.n_samples!r}."
            )

    @property
    def _schedule(self) -> Sequence[int]:
        return self.n_samples if isinstance(self.n_samples, Sequence) else (self.n_samples,)

    @abstractmethod
    def _weights(self, local: LocalModel, n_samples: int, seed: int) -> FloatArray: ...

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the ranking's own answer, then ever smaller ones, round after round."""
        best = Finding()
        largest = min(budget.max_size, local.n_features)
        for n_samples in self._schedule:
            size_before = len(best.removed)
            weights = self._weights(local, n_samples, seed)
            for finding in self._round(local, budget, weights, best):
                best = replace(finding, weights=tuple(map(float, weights[list(finding.removed)])))
                yield best
            size = len(best.removed)
            proven = best.lower_bound == (size or largest + 1)
            if proven or 0 < size == size_before:
                return

    def _round(
        self, local: LocalModel, budget: Budget, weights: FloatArray, best: Finding
    ) -> Iterator[Finding]:
        """Improve on a finding: by the ranking's own answer, by a part of it, by growing sets."""
        prefixes = Prefixes(local, budget, weights)
        own = prefixes.finding()
        if not best.removed or 0 < len(own.removed) < len(best.removed):
            yield replace(own, lower_bound=best.lower_bound)
            best = Finding(shrink(local, own.removed), best.lower_bound, own.reason)
            yield best
        singles = local.scores_with_each((), np.arange(local.n_features))
        if local.flips(singles).any():
            yield Finding((int(np.argmin(singles)),))
            return
        growth = _Growth(local, order=np.lexsort((singles, -weights)))
        for feature, score in enumerate(singles):
            growth.wait(score, (feature,))
        largest = min(budget.max_size, local.n_features)
        best = replace(best, lower_bound=max(2, best.lower_bound))
        for _ in range(self.max_iterations):
            smaller_than = len(best.removed) or largest + 1
            if not growth.can_go_on(smaller_than):  # every smaller set has been scored
                yield replace(best, lower_bound=smaller_than, reason="")
                return
            found = growth.step()
            if found:
                best = replace(best, removed=shrink(local, found))
                yield best
        yield replace(best, reason=f"max_iterations={self.max_iterations} reached")


class LimeSEDC(_Hybrid):
    """lime-c's answer, then best-first growth that tries LIME's features first: never larger, often smaller.

    With `n_samples` such as (100, 1000, 5000) it goes round by round, with ever more samples, and stops when
    the answer is proven minimum or a round has found nothing smaller.
    """

    name: ClassVar[str] = "lime-sedc"

    def _weights(self, local: LocalModel, n_samples: int, seed: int) -> FloatArray:
        return lime_weights(local, n_samples, seed)


class ShapSEDC(_Hybrid):
    """shap-c's answer, then best-first growth that tries SHAP's features first: never larger, often smaller.

    With `n_samples` such as (100, 1000, 5000) it goes round by round, with ever more samples, and stops when
    the answer is proven minimum or a round has found nothing smaller. Where all weights of shap-c are zero,
    features are selected on scores of unit size.
    """

    name: ClassVar[str] = "shap-sedc"

    def _weights(self, local: LocalModel, n_samples: int, seed: int) -> FloatArray:
        weights = kernel_shap_weights(local, n_samples, seed)
        return weights if weights.any() else kernel_shap_weights(local, n_samples, seed, any_scale=True)


class _Growth:
    """Sets that wait to be grown, lowest score first; each is grown by a few features of a ranking at a time.

    A set that has been grown waits again, behind the new sets that score lower. Within, features are numbered
    by their place in the ranking, so that of equal scores the set of higher-ranked features comes first.
    """

    def __init__(self, local: LocalModel, order: IntArray) -> None:
        self._local = local
        self._order = order
        self._place = np.argsort(order)
        self._generated: set[frozenset[int]] = set()
        self._waiting: list[tuple[float, tuple[int, ...], int]] = []  # score, places, grown up to this place

    def wait(self, score: float, features: Sequence[int] | IntArray) -> None:
        """Keep a set that does not flip."""
        places = tuple(map(int, self._place[list(features)]))
        if frozenset(places) not in self._generated:
            self._generated.add(frozenset(places))
            heappush(self._waiting, (float(score), places, 0))

    def can_go_on(self, below: int) -> bool:
        """Forget the sets that cannot grow to less than this size; tell whether some are left."""
        while self._waiting and len(self._waiting[0][1]) + 1 >= below:
            heappop(self._waiting)
        return bool(self._waiting)

    def step(self) -> tuple[int, ...]:
        """Grow the set with the lowest score; give the strongest of the new sets that flips, if one does."""
        score, places, start = heappop(self._waiting)
        end = start + WIDTH + sum(place >= start for place in places)
        new = [
            place
            for place in range(start, min(end, len(self._order)))
            if place not in places and frozenset((*places, place)) not in self._generated
        ]
        if end < len(self._order):
            heappush(self._waiting, (score, places, end))
        features = tuple(map(int, self._order[list(places)]))
        candidates = self._order[new]
        scores = self._local.scores_with_each(features, candidates)
        flips = self._local.flips(scores)
        if flips.any():
            return (*features, int(candidates[np.argmin(scores)]))
        for candidate, its_score in zip(candidates, scores, strict=True):
            self.wait(its_score, (*features, candidate))
        return ()
