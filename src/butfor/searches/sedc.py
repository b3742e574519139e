"""SEDC: best-first search (Martens and Provost; Algorithm 1 of the paper)."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import comb
from typing import ClassVar

import numpy as np

from butfor._checks import require_count
from butfor.budget import Budget
from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding


@dataclass(frozen=True)
class SEDC:
    """Best-first search: expand the set with the lowest score by every further unit, until one flips.

    The first iteration scores all single removals. Among the sets that flip in the same iteration, the answer
    is the one with the largest score drop. Ties go to the set generated first, and within an expansion to the
    unit with the lower number.

    Parameters
    ----------
    max_iterations : int, default=50
        How many sets are expanded.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> explainer = Explainer(lambda X: X @ np.array([3, 2, 2]), threshold=4, search=SEDC(max_iterations=10))
    >>> explainer.explain([1, 1, 1]).columns
    (0, 1)
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
            candidates = frontier.new_units(expanded)
            scores = local.scores_with_each(expanded, candidates)
            flipping = np.flatnonzero(local.flips(scores))
            if flipping.size:
                best = candidates[flipping[np.argmin(scores[flipping])]]
                yield Finding((*expanded, int(best)), frontier.lower_bound)
                return
            frontier.add(expanded, candidates, scores)
            yield Finding(lower_bound=frontier.lower_bound)
            if not frontier:  # every set of at most max_size units has been scored
                return
            expanded = frontier.pop()
        yield Finding(
            lower_bound=frontier.lower_bound, reason=f"max_iterations={self.max_iterations} reached"
        )


class _Frontier:
    """The scored sets that wait to be expanded.

    Every expansion leaves one run of its new sets, sorted by score. A heap holds the head of each run, so
    that no Python code loops over the candidates.
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

    def new_units(self, expanded: tuple[int, ...]) -> IntArray:
        """Return the units that make a set not yet generated when added to `expanded`.

        S + j was generated before exactly if some E of the same size as S, expanded earlier, has it as E + i.
        That is, E lacks one unit of S, and j is the one unit that is in E and not in S.
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

    def add(self, expanded: tuple[int, ...], units: IntArray, scores: FloatArray) -> None:
        """Keep the sets `expanded` + each unit, none of which flips."""
        size = len(expanded) + 1
        self._n_scored[size] += len(units)
        if size < self._max_size and len(units):
            order = np.argsort(scores, kind="stable")
            self._runs.append((expanded, units[order], scores[order]))
            self._push(len(self._runs) - 1, 0)

    def __bool__(self) -> bool:
        return bool(self._heads)

    def pop(self) -> tuple[int, ...]:
        """Take the waiting set with the lowest score."""
        _, run, position = heappop(self._heads)
        self._push(run, position + 1)
        expanded, units, _ = self._runs[run]
        return (*expanded, int(units[position]))

    def _push(self, run: int, position: int) -> None:
        scores = self._runs[run][2]
        if position < len(scores):
            heappush(self._heads, (float(scores[position]), run, position))
