"""Complete search: every set of one feature, of two, of three, …"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.models.base import BoolArray, LocalModel
from butfor.searches.base import Finding

MAX_CELLS = 4_000_000
"""How many cells the boolean matrix of one batch may have."""


@dataclass(frozen=True)
class Complete:
    """Score all sets of size 1, then 2, …, and give the strongest flip of the first size that has one.

    Proves its answer, on any model, in exponential time and constant memory: sets are streamed.
    """

    name: ClassVar[str] = "complete"

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield each proven size, and each set of the flipping size that is stronger than the last."""
        return search_sizes(local, range(1, min(budget.max_size, local.n_features) + 1))


def search_sizes(local: LocalModel, sizes: Iterable[int]) -> Iterator[Finding]:
    """Search the given sizes completely, in order; all smaller ones must be known not to flip."""
    for size in sizes:
        best: tuple[int, ...] = ()
        lowest = np.inf
        for removed in all_sets(local.n_features, size):
            scores = local.scores(removed)
            flipping = np.flatnonzero(local.flips(scores))
            if flipping.size and scores[flipping].min() < lowest:
                strongest = flipping[np.argmin(scores[flipping])]
                lowest = scores[strongest]
                best = tuple(map(int, np.flatnonzero(removed[strongest])))
                yield Finding(best, lower_bound=size)
        if best:
            return
        yield Finding(lower_bound=size + 1)


def all_sets(n_features: int, size: int) -> Iterator[BoolArray]:
    """Stream all sets of a size, in lexicographic order, as boolean matrices of bounded memory.

    >>> [batch.astype(int).tolist() for batch in all_sets(3, 2)]
    [[[1, 1, 0], [1, 0, 1], [0, 1, 1]]]
    """
    sets = combinations(range(n_features), size)
    sets_a_batch = max(1, MAX_CELLS // n_features)
    while True:
        features = np.fromiter(chain.from_iterable(islice(sets, sets_a_batch)), dtype=np.intp)
        if not features.size:
            return
        removed = np.zeros((features.size // size, n_features), dtype=bool)
        removed[np.repeat(np.arange(len(removed)), size), features] = True
        yield removed
