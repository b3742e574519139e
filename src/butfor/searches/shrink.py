"""Make an answer irreducible: no part of it is an answer itself."""

from itertools import chain, combinations

import numpy as np

from butfor.models.base import LocalModel, removal_sets

ALL_SUBSETS_UP_TO = 10
"""Sets of at most this size have all their subsets (up to 1,022) scored at once."""


def shrink(local: LocalModel, removed: tuple[int, ...]) -> tuple[int, ...]:
    """Give the smallest, then strongest, part of a flipping set that still flips.

    A set of more than ten features is first cut one feature at a time, which on a model that is not
    monotone may leave a smaller flipping part unseen.
    """
    while len(removed) > 1:
        size = len(removed)
        sizes = range(1, size) if size <= ALL_SUBSETS_UP_TO else (size - 1,)
        parts = list(chain.from_iterable(combinations(removed, s) for s in sizes))
        scores = local.scores(removal_sets(parts, local.n_features))
        flipping = np.flatnonzero(local.flips(scores))
        if not flipping.size:
            return removed
        removed = min((len(parts[i]), scores[i], parts[i]) for i in flipping)[2]
    return removed
