"""SEDC: best-first search (Martens and Provost; Algorithm 1 of the paper)."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import comb
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.checks import require_count
from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel
from butfor.searches.base import Finding


@dataclass(frozen=True)
class SEDC:
    """Best-first search: expand the set with the lowest score by every further feature, until one flips.

    The first iteration scores all single removals. The answer is, among the sets that flip in the same
    iteration, the one with the largest score drop. Ties go to the set generated first, and within an
    expansion to the lower feature.
    """

    name: ClassVar[str] = "sedc"
    max_iterations: int = 50

    def __post_init__(self) -> None:
        require_count("max_iterations", self.max_iterations)

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield what is proven after each iteration, and at last the set that flips."""
        frontier = _Frontier(local.n_features, max_size=budget.max_size)
        expanded: tuple[int, ...] = ()
        for _ in range(self.max_iterations):
            candidates = frontier.new_features(expanded)
            scores = local.scores_with_each(expanded, candidates)
            flipping = np.flatnonzero(local.flips(scores))
            if flipping.size:
                best = candidates[flipping[np.argmin(scores[flipping])]]
                yield Finding((*expanded, int(best)), frontier.lower_bound)
                return
            frontier.add(expanded, candidates, scores)
            yield Finding(lower_bound=frontier.lower_bound)
            if not frontier:  # every set of at most max_size features has been scored
                return
            expanded = frontier.pop()
        yield Finding(
            lower_bound=frontier.lower_bound, reason=f"max_iterations={self.max_iterations} reached"
        )


class _Frontier:
    """The scored sets that wait to be expanded.

    Every expansion leaves one run of its new sets, sorted by score; a heap holds the head of each run. So
    no Python code ever loops over the candidates.
    """

    def __init__(self, n_features: int, *, max_size: int) -> None:
        self._n_features = n_features
        self._max_size = min(max_size, n_features)
        self._expanded: defaultdict[int, list[BoolArray]] = defaultdict(list)  # by size
        self._runs: list[tuple[tuple[int, ...], IntArray, FloatArray]] = []
        self._heads: list[tuple[float, int, int]] = []  # score, run, position in the run
        self._n_scored = [0] * (self._max_size + 1)  # sets of each size

    @property
    def lower_bound(self) -> int:
        """The smallest size of which not every set has been scored without a flip."""
        size = 1
        while size <= self._max_size and self._n_scored[size] == comb(self._n_features, size):
            size += 1
        return size

    def new_features(self, expanded: tuple[int, ...]) -> IntArray:
        """Give the features that make a set not yet generated when added to `expanded`.

        S + j was generated before exactly if some E of S's size, expanded earlier, has it as E + i: that
        is, E lacks one feature of S, and j is the one feature that E has and S has not.
        """
        chosen = np.zeros(self._n_features, dtype=bool)
        chosen[list(expanded)] = True
        known = chosen
        same_size = self._expanded[len(expanded)]
        if same_size:
            earlier = np.array(same_size)
            twins = (earlier & chosen).sum(axis=1) == len(expanded) - 1
            known = chosen | earlier[twins].any(axis=0)
        same_size.append(chosen)
        return np.flatnonzero(~known)

    def add(self, expanded: tuple[int, ...], features: IntArray, scores: FloatArray) -> None:
        """Keep the sets `expanded` + each feature, none of which flips."""
        size = len(expanded) + 1
        self._n_scored[size] += len(features)
        if size < self._max_size and len(features):
            order = np.argsort(scores, kind="stable")
            self._runs.append((expanded, features[order], scores[order]))
            self._push(len(self._runs) - 1, 0)

    def __bool__(self) -> bool:
        return bool(self._heads)

    def pop(self) -> tuple[int, ...]:
        """Take the waiting set with the lowest score."""
        _, run, position = heappop(self._heads)
        self._push(run, position + 1)
        expanded, features, _ = self._runs[run]
        return (*expanded, int(features[position]))

    def _push(self, run: int, position: int) -> None:
        scores = self._runs[run][2]
        if position < len(scores):
            heappush(self._heads, (float(scores[position]), run, position))
