"""Regions of removal sets, and linear functions that lie below the score on all of them: what proofs need."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, chain, combinations
from math import comb
from typing import Self

import numpy as np

from butfor.models.base import BoolArray, FloatArray, IntArray

CANDIDATES = 3
"""How often a minorant is moved to the last minimiser."""


@dataclass(frozen=True, eq=False)
class Minorant:
    """A linear function of which free features are removed; where it is above zero, no set flips."""

    constant: float
    coefficients: FloatArray
    """One for each free feature of the region."""

    def lowest(self, k: int) -> tuple[float, IntArray]:
        """Give its minimum over at most k removals, and the k + 1 free features to remove first."""
        c = self.coefficients
        order = np.argsort(c, kind="stable")[: k + 1]
        return self.constant + float(np.minimum(c[order[:k]], 0.0).sum()), order


@dataclass(frozen=True, eq=False, kw_only=True)
class Region(ABC):
    """The removal sets that contain `removed` and at most `k` more, all of them out of `free`."""

    removed: tuple[int, ...] = ()
    free: IntArray
    k: int
    check_deadline: Callable[[], None]
    """To be called before every longer piece of work."""

    def sets(self, *, at_most: int) -> list[tuple[int, ...]]:
        """Give all its sets, if they are few; otherwise none."""
        counts = accumulate(comb(len(self.free), size) for size in range(self.k + 1))
        if any(count > at_most for count in counts):
            return []
        free = [int(feature) for feature in self.free]
        more = chain.from_iterable(combinations(free, size) for size in range(self.k + 1))
        return [(*self.removed, *features) for features in more]

    @abstractmethod
    def minorants(self) -> Iterator[Minorant]:
        """Yield ever better minorants, a few."""

    def narrowed(self, gone: BoolArray, kept: BoolArray, best: Minorant | None) -> Self | None:
        """Give the part where some free features are removed and some stay, and `best` is not above zero.

        None: there is no such set.
        """
        stays = ~(gone | kept)
        k = self.k - int(gone.sum())
        if k < 0:
            return None
        part = replace(
            self,
            removed=(*self.removed, *(int(feature) for feature in self.free[gone])),
            free=self.free[stays],
            k=min(k, int(stays.sum())),
        )
        return part._settled(gone, stays, best)

    @abstractmethod
    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> Self | None:
        """Work out what the features that were free until now do to the rest of the region."""

    @abstractmethod
    def branching(self, chosen: IntArray) -> int:
        """Choose the free feature on which to split, given the minimiser of its minorant."""

    def halves(self) -> list[Self]:
        """Split on one feature; the half that removes it comes last."""
        _, order = next(self.minorants()).lowest(self.k)
        one = np.zeros(len(self.free), dtype=bool)
        one[self.branching(order[: self.k])] = True
        none = np.zeros_like(one)
        halves = [self.narrowed(none, one, None), self.narrowed(one, none, None)]
        return [half for half in halves if half is not None]


@dataclass(frozen=True, eq=False, kw_only=True)
class TouchingRegion(Region):
    """A region whose minorant touches the score at a candidate set, which follows the minimiser."""

    candidate: BoolArray
    """Which free features the candidate removes."""

    def minorants(self) -> Iterator[Minorant]:
        """Yield the minorant at the candidate, then at its minimiser, and so on."""
        for _ in range(CANDIDATES):
            minorant = self._minorant()
            yield minorant
            before = self.candidate.copy()
            _, order = minorant.lowest(self.k)
            self.candidate[:] = False
            self.candidate[order[: self.k]] = minorant.coefficients[order[: self.k]] < 0
            if (before == self.candidate).all():
                return

    def branching(self, chosen: IntArray) -> int:
        """Choose the feature that the minimiser removes first."""
        return int(chosen[0])

    @abstractmethod
    def _minorant(self) -> Minorant: ...


def settled(minorant: Minorant, k: int, bound: float, order: IntArray) -> tuple[BoolArray, BoolArray]:
    """Tell which free features a flipping set must remove, and which it cannot (reduced cost fixing).

    To leave out one of the k lowest costs the step to the next one; to take another costs its step from the
    last of the k. Where that lifts the minimum of the minorant above zero, no flipping set does so.
    """
    c = minorant.coefficients
    lowest = np.minimum(c[order], 0.0)
    next_best = lowest[k] if len(order) > k else 0.0
    last = lowest[k - 1] if len(order) >= k else 0.0
    gone = np.zeros(len(c), dtype=bool)
    gone[order[:k]] = bound - lowest[:k] + next_best > 0
    kept = bound - last + c > 0
    kept[order[:k]] = False
    return gone, kept
