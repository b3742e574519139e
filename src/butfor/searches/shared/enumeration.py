"""All removal sets of a size, scored one batch after the other."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb

import numpy as np

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding

MAX_CELLS = 1_000_000
"""How many cells the boolean matrix of one batch may have."""


def search_sizes(local: LocalModel, sizes: Iterable[int]) -> Iterator[Finding]:
    """Search the given sizes completely, in order; all smaller sets must be known not to flip."""
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
    """Yield all sets of a size, in lexicographic order, as boolean matrices of bounded size.

    A set is a head and a tail of higher units. All tails are written once. The tails of a head are the last
    of them, so that no Python code loops over sets.

    >>> [batch.astype(int).tolist() for batch in all_sets(3, 2)]
    [[[1, 1, 0], [1, 0, 1], [0, 1, 1]]]
    """
    sets_a_batch = max(1, MAX_CELLS // n_features)
    tail_size = 1
    while tail_size < size and comb(n_features, tail_size + 1) <= sets_a_batch:
        tail_size += 1
    tails = np.array(list(combinations(range(n_features), tail_size)))
    batch: list[tuple[tuple[int, ...], IntArray]] = []
    n_sets = 0
    for head in combinations(range(n_features), size - tail_size):
        behind = tails[np.searchsorted(tails[:, 0], head[-1], side="right") :] if head else tails
        for start in range(0, len(behind), sets_a_batch):
            some = behind[start : start + sets_a_batch]
            if n_sets + len(some) > sets_a_batch:
                yield _written(batch, n_features)
                batch, n_sets = [], 0
            batch.append((head, some))
            n_sets += len(some)
    if batch:
        yield _written(batch, n_features)


def _written(batch: list[tuple[tuple[int, ...], IntArray]], n_features: int) -> BoolArray:
    """Return heads and tails as a boolean matrix."""
    lengths = [len(tails) for _, tails in batch]
    removed = np.zeros((sum(lengths), n_features), dtype=bool)
    sets = np.arange(len(removed))[:, np.newaxis]
    removed[sets, np.concatenate([tails for _, tails in batch])] = True
    heads = np.array([head for head, _ in batch], dtype=np.intp)
    removed[sets, np.repeat(heads, lengths, axis=0)] = True
    return removed
