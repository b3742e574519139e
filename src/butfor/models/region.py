"""Regions of removal sets, and linear functions that lie below the score on all of them: what proofs need."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
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
    behind: "Minorant | None" = None
    """The function of something else that it was made of."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a minorant is lowest in a region."""

    minorant: Minorant
    bound: float
    """No set of the region scores lower."""
    order: IntArray
    """The free features by what their removal gains, best first: at least those of the minimiser."""
    chosen: IntArray
    """The free features that the minimiser removes."""
    price: float = 0.0
    """What a unit of cost is worth at the minimum, where features have costs."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Region(ABC):
    """The removal sets that contain `removed` and at most `k` more, all of them out of `free`."""

    removed: tuple[int, ...] = ()
    free: IntArray
    k: int
    check_deadline: Callable[[], None]
    """To be called before every longer piece of work."""
    costs: FloatArray | None = None
    """What the removal of each free feature costs, if there is a limit on that."""
    capacity: float = np.inf
    """What the further removals may cost together."""

    def limited(self, costs: FloatArray, capacity: float) -> Self | None:
        """Give the part where the further removals cost at most `capacity`; None: not even nothing does."""
        none = np.zeros(len(self.free), dtype=bool)
        rounded_up = (1 + 1e-12) * capacity  # what costs exactly that must not be lost to rounding
        return replace(self, costs=costs, capacity=rounded_up).narrowed(none, none, None)

    def sets(self, *, at_most: int, beyond: int = 0) -> list[tuple[int, ...]] | None:
        """Return all its sets of more than `beyond` features, if they are few; otherwise None."""
        sizes = range(max(0, beyond + 1 - len(self.removed)), self.k + 1)
        counts = accumulate(comb(len(self.free), size) for size in sizes)
        if any(count > at_most for count in counts):
            return None
        free, costs = [int(feature) for feature in self.free], self.costs
        more = chain.from_iterable(combinations(range(len(free)), size) for size in sizes)
        return [
            (*self.removed, *(free[i] for i in chosen))
            for chosen in more
            if costs is None or costs[list(chosen)].sum() <= self.capacity
        ]

    @abstractmethod
    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of ever better minorants, a few."""

    def lowest(self, minorant: Minorant) -> Minimum:
        """Find the minimum of a minorant over the region."""
        c, k = minorant.coefficients, self.k
        order = np.argsort(c, kind="stable")[: k + 1]
        chosen = order[:k][c[order[:k]] < 0]
        by_count = Minimum(minorant, minorant.constant + float(c[chosen].sum()), order, chosen)
        if self.costs is None or self.costs[chosen].sum() <= self.capacity:
            return by_count
        by_cost = _cheapest(minorant, self.costs, self.capacity)
        return replace(by_cost, bound=max(by_cost.bound, by_count.bound))

    def settled(self, minimum: Minimum) -> tuple[BoolArray, BoolArray]:
        """Tell which free features a flipping set must remove, and which it cannot (reduced cost fixing)."""
        if minimum.price:
            assert self.costs is not None
            reduced = minimum.minorant.coefficients + minimum.price * self.costs
            bound = minimum.minorant.constant - minimum.price * self.capacity
            bound += float(np.minimum(reduced, 0.0).sum())
            return (reduced < 0) & (bound - reduced > 0), (reduced > 0) & (bound + reduced > 0)
        return _settled_by_count(minimum, self.k)

    def narrowed(self, gone: BoolArray, kept: BoolArray, best: Minorant | None) -> Self | None:
        """Give the part where some free features are removed and some stay, and `best` is not above zero.

        None: there is no such set.
        """
        k, capacity, costs = self.k - int(gone.sum()), self.capacity, self.costs
        if costs is not None:
            capacity -= float(costs[gone].sum())
            kept = kept | ~gone & (costs > capacity)
        if k < 0 or capacity < 0:
            return None
        stays = ~(gone | kept)
        k = min(k, int(stays.sum()))
        if costs is not None:
            costs = costs[stays]
            k = min(k, int(np.searchsorted(np.cumsum(np.sort(costs)), capacity, side="right")))
        part = replace(
            self,
            removed=(*self.removed, *(int(feature) for feature in self.free[gone])),
            free=self.free[stays],
            k=k,
            costs=costs,
            capacity=capacity,
        )
        return part._settled(gone, stays, best)

    @abstractmethod
    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> Self | None:
        """Work out what the features that were free until now do to the rest of the region."""

    def branching(self, minimum: Minimum) -> int:
        """Choose the free feature on which to split: the one that the minimiser removes first."""
        return int(minimum.order[0])

    def halves(self) -> list[Self]:
        """Split on one feature; the half that removes it comes last."""
        minimum = next(self.minorants())
        one = np.zeros(len(self.free), dtype=bool)
        one[self.branching(minimum)] = True
        none = np.zeros_like(one)
        halves = [self.narrowed(none, one, None), self.narrowed(one, none, None)]
        return [half for half in halves if half is not None]


@dataclass(frozen=True, eq=False, kw_only=True)
class TouchingRegion(Region):
    """A region whose minorant touches the score at a candidate set, which follows the minimiser."""

    candidate: BoolArray
    """Which free features the candidate removes."""

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum of the minorant at the candidate, then at its minimiser, and so on."""
        for _ in range(CANDIDATES):
            minimum = self.lowest(self._minorant())
            yield minimum
            before = self.candidate.copy()
            self.candidate[:] = False
            self.candidate[minimum.chosen] = True
            if (before == self.candidate).all():
                return

    @abstractmethod
    def _minorant(self) -> Minorant: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class AllOf(Region):
    """A region of sets that must flip in several regions of the same sets at once."""

    members: tuple[Region, ...]

    @staticmethod
    def over(members: Sequence[Region]) -> "AllOf":
        """Make a region of members that have not been narrowed yet."""
        first = members[0]
        return AllOf(free=first.free, k=first.k, check_deadline=first.check_deadline, members=tuple(members))

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of every member's minorants: each of them must be below zero."""
        for member in self.members:
            for minimum in member.minorants():
                yield self.lowest(minimum.minorant)

    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "AllOf | None":
        k = self.k + int(gone.sum())
        members = [replace(each, k=k).narrowed(gone, ~(gone | stays), best) for each in self.members]
        left = tuple(member for member in members if member is not None)
        return replace(self, members=left) if len(left) == len(members) else None


def _settled_by_count(minimum: Minimum, k: int) -> tuple[BoolArray, BoolArray]:
    """To leave out one of the k lowest costs the step to the next one; to take another costs its step from
    the last of the k. Where that lifts the minimum of the minorant above zero, no flipping set does so.
    """
    c, order = minimum.minorant.coefficients, minimum.order
    lowest = np.minimum(c[order], 0.0)
    next_best = lowest[k] if len(order) > k else 0.0
    last = lowest[k - 1] if len(order) >= k else 0.0
    gone = np.zeros(len(c), dtype=bool)
    gone[order[:k]] = minimum.bound - lowest[:k] + next_best > 0
    kept = minimum.bound - last + c > 0
    kept[order[:k]] = False
    return gone, kept


def _cheapest(minorant: Minorant, costs: FloatArray, capacity: float) -> Minimum:
    """Find the minimum if features may go in part (Dantzig), which bounds it if they may not.

    They go in the order of what they gain for their cost; the first that does not fit sets the price. Whole
    features that still fit are the minimiser that is tried.
    """
    c = minorant.coefficients
    gains = np.minimum(c, 0.0) / costs
    order = np.argsort(gains, kind="stable")
    spent = np.cumsum(costs[order])
    first_left = int(np.searchsorted(spent, capacity, side="right"))
    price = -float(gains[order[min(first_left, len(order) - 1)]])
    bound = minorant.constant - price * capacity + float(np.minimum(c + price * costs, 0.0).sum())
    chosen, left = [], capacity
    for feature in order[gains[order] < 0]:
        if costs[feature] <= left:
            chosen.append(int(feature))
            left -= costs[feature]
    return Minimum(minorant, bound, order, np.array(chosen, dtype=np.intp), price)
