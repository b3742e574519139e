"""Make an answer irreducible: no proper subset of it is an answer itself."""

from itertools import chain, combinations

import numpy as np

from butfor.models.arrays import removal_sets
from butfor.models.local.base import LocalModel

ALL_SUBSETS_UP_TO = 10
"""Sets of at most this size have all their subsets (up to 1,022) scored at once."""


def shrink(local: LocalModel, removed: tuple[int, ...]) -> tuple[int, ...]:
    """Return the smallest, then strongest, subset of a flipping set that still flips.

    A set of more than ten units is first cut one unit at a time. On a model that is not monotone that may
    overlook a smaller flipping subset.
    """
    while len(removed) > 1:
        size = len(removed)
        sizes = range(1, size) if size <= ALL_SUBSETS_UP_TO else (size - 1,)
        subsets = list(chain.from_iterable(combinations(removed, s) for s in sizes))
        scores = local.scores(removal_sets(subsets, local.n_features))
        flipping = np.flatnonzero(local.flips(scores))
        if not flipping.size:
            return removed
        removed = min((len(subsets[i]), scores[i], subsets[i]) for i in flipping)[2]
    return removed
