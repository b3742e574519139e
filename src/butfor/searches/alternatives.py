"""All explanations of a row, smallest first: the sets that flip and have no proper subset that does."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from butfor.models.arrays import BoolArray, removal_sets
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding
from butfor.searches.shared.enumeration import all_sets

MINORANTS = 4
"""How many minorants of a region are tried before it is split."""


def irreducible_sets(local: LocalModel, max_size: int) -> Iterator[Finding]:
    """Yield every irreducible set of at most `max_size` units, size by size.

    A finding without a set says that all sets of sizes below its lower bound have been yielded. A larger set
    is then irreducible exactly if it contains none of them.

    Parameters
    ----------
    local : LocalModel
        The model seen from the row.
    max_size : int
        The largest size of a set.

    Yields
    ------
    Finding
        An irreducible set, or that a size is complete.

    Raises
    ------
    OutOfTime
        If the deadline of the local model passes.
    """
    known = _Known(local.n_features)
    for size in range(1, min(max_size, local.n_features) + 1):
        sets = _by_regions(local, size, known) if local.has_bounds else _by_scoring(local, size)
        for removed in sets:
            if known.add(removed):
                yield Finding(removed, lower_bound=size)
        yield Finding(lower_bound=size + 1)


class _Known:
    """The sets yielded so far."""

    def __init__(self, n_features: int) -> None:
        self._sets = np.zeros((0, n_features), dtype=bool)

    def within(self, removed: BoolArray) -> bool:
        """Return whether one of them is a subset of this set."""
        return bool((self._sets <= removed).all(axis=1).any())

    def add(self, removed: tuple[int, ...]) -> bool:
        """Add a set unless one of the others is a subset of it; return whether it was added."""
        new = removal_sets([removed], self._sets.shape[1])
        if self.within(new[0]):
            return False
        self._sets = np.concatenate([self._sets, new])
        return True


def _by_scoring(local: LocalModel, size: int) -> Iterator[tuple[int, ...]]:
    """Yield the flipping sets of a size by scoring them all."""
    for removed in all_sets(local.n_features, size):
        for flipping in removed[local.flips(local.scores(removed))]:
            yield tuple(map(int, np.flatnonzero(flipping)))


def _by_regions(local: LocalModel, size: int, known: _Known) -> Iterator[tuple[int, ...]]:
    """Yield the flipping sets of at most a size that contain no known one, by splitting regions."""
    regions = local.regions(size)
    while regions:
        local.check_deadline()
        region = regions.pop()
        removed = removal_sets([region.removed], local.n_features)
        if known.within(removed[0]):
            continue
        if region.k == 0:
            if local.flips(local.scores(removed))[0]:
                yield region.removed
        elif not any(minimum.bound > 0 for minimum in islice(region.minorants(), MINORANTS)):
            regions += region.halves()
