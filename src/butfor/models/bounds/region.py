"""Regions of removal sets, and minorants: linear functions that lie below the score on a whole region."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, combinations
from math import comb
from typing import Self

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray

CANDIDATES = 3
"""How often a minorant is moved to the last minimiser."""
ROUNDS = 12
"""How often a region is narrowed at most before it is split."""
FEW_SETS = 500
"""A region of at most so many sets is scored set by set."""
PROGRESS = 0.9
"""A round that leaves more than this share of the gap, and of the free units, is the last one."""


@dataclass(frozen=True, eq=False)
class Minorant:
    """A linear function of which free units are removed. Where it is above zero, no set flips."""

    constant: float
    coefficients: FloatArray
    """One for each free unit of the region."""
    behind: "Minorant | None" = None
    """The minorant of another region from which this one was made."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The minimum of a minorant over a region."""

    minorant: Minorant
    bound: float
    """No set of the region scores lower."""
    order: IntArray
    """Free units by what their removal gains, best first. It has at least those of the minimiser."""
    chosen: IntArray
    """The free units that the minimiser removes."""
    price: float = 0.0
    """What one more of cost would lower the minimum by, if units have costs."""


@dataclass(frozen=True, eq=False)
class RegionCheck:
    """The result of one round of minorants for a region."""

    refuted: bool
    """Whether no set of the region flips."""
    gap: float
    """How far the best bound is below zero."""
    best: Minorant | None
    """The minorant with the highest bound."""
    gone: BoolArray
    """The free units that every flipping set removes."""
    kept: BoolArray
    """The free units that no flipping set removes."""
    candidates: list[tuple[int, ...]]
    """The minimisers, which may flip."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Region(ABC):
    """The removal sets that contain `removed` and at most `k` more units, all of them from `free`.

    A subclass knows a score. It yields minorants of that score, and computes what is left of it after units
    have been fixed.
    """

    removed: tuple[int, ...] = ()
    free: IntArray
    k: int
    check_deadline: Callable[[], None]
    """Is called before every longer piece of work."""
    costs: FloatArray | None = None
    """What the removal of each free unit costs, if that is limited."""
    capacity: float = np.inf
    """What the further removals may cost together."""

    def limited(self, costs: FloatArray, capacity: float) -> Self | None:
        """Return the sets whose further removals cost at most `capacity`; None if there are none."""
        none = np.zeros(len(self.free), dtype=bool)
        rounded_up = (1 + 1e-12) * capacity  # so that rounding loses no set that costs exactly that
        return replace(self, costs=costs, capacity=rounded_up).narrowed(none, none, None)

    def sets(self, *, at_most: int, beyond: int = 0) -> list[tuple[int, ...]] | None:
        """Return all sets of more than `beyond` units if they are at most `at_most`, otherwise None."""
        sizes = range(max(0, beyond + 1 - len(self.removed)), self.k + 1)
        counts = accumulate(comb(len(self.free), size) for size in sizes)
        if any(count > at_most for count in counts):
            return None
        free, costs = [int(unit) for unit in self.free], self.costs
        more = chain.from_iterable(combinations(range(len(free)), size) for size in sizes)
        return [
            (*self.removed, *(free[i] for i in chosen))
            for chosen in more
            if costs is None or costs[list(chosen)].sum() <= self.capacity
        ]

    def check(self) -> RegionCheck:
        """Have the minorants fix units and propose sets, one after the other."""
        gone = np.zeros(len(self.free), dtype=bool)
        kept = gone.copy()
        best, highest = None, -np.inf
        minimisers = []
        for minimum in self.minorants():
            if best is None or minimum.bound > highest:
                best, highest = minimum.minorant, minimum.bound
            if minimum.bound > 0:
                break
            minimisers.append(tuple(np.sort(minimum.chosen).tolist()))
            if self.k:
                must, cannot = self.fixed(minimum)
                gone |= must
                kept |= cannot
        return RegionCheck(highest > 0, -highest, best, gone, kept & ~gone, self._with_removed(minimisers))

    def _with_removed(self, minimisers: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the different sets that remove some free units, by their places, and what is removed."""
        return [(*self.removed, *self.free[list(each)].tolist()) for each in dict.fromkeys(minimisers)]

    @abstractmethod
    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of a few minorants, each better than the last where possible."""

    def lowest(self, minorant: Minorant) -> Minimum:
        """Return the minimum of a minorant over the region."""
        c, k = minorant.coefficients, self.k
        order = c.argsort(kind="stable")[: k + 1]
        chosen = order[:k][c[order[:k]] < 0]
        by_count = Minimum(minorant, minorant.constant + float(c[chosen].sum()), order, chosen)
        if self.costs is None or self.costs[chosen].sum() <= self.capacity:
            return by_count
        by_cost = _cheapest(minorant, self.costs, self.capacity)
        return replace(by_cost, bound=max(by_cost.bound, by_count.bound))

    def minima_of(self, other: "Region") -> Iterator[Minimum]:
        """Yield the minima, over this region, of the minorants of another."""
        for minimum in other.minorants():
            yield self.lowest(minimum.minorant)

    def fixed(self, minimum: Minimum) -> tuple[BoolArray, BoolArray]:
        """Return which free units every flipping set must remove, and which it cannot remove.

        This is reduced cost fixing.
        """
        if minimum.price:
            assert self.costs is not None
            reduced = minimum.minorant.coefficients + minimum.price * self.costs
            bound = minimum.minorant.constant - minimum.price * self.capacity
            bound += float(np.minimum(reduced, 0.0).sum())
            return (reduced < 0) & (bound - reduced > 0), (reduced > 0) & (bound + reduced > 0)
        return _fixed_by_count(minimum, self.k)

    def narrowed(self, gone: BoolArray, kept: BoolArray, best: Minorant | None) -> Self | None:
        """Return the region after some units are fixed: those in `gone` are removed, those in `kept` are not.

        `best` is a minorant that a flipping set must bring to zero or below, which may narrow the region
        further. Returns None if the region has become empty.
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
        region = replace(
            self,
            removed=(*self.removed, *(int(unit) for unit in self.free[gone])),
            free=self.free[stays],
            k=k,
            costs=costs,
            capacity=capacity,
        )
        return region._after_fixing(gone, stays, best)

    @abstractmethod
    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> Self | None:
        """Return this region with its score brought up to date, after units that were free have been fixed.

        `removed`, `free`, `k`, `costs` and `capacity` are those of the narrowed region already. `gone` and
        `stays` mark the units that were removed and those that are still free, among those that were free
        before.
        """

    def branching(self, minimum: Minimum) -> int:
        """Return the free unit on which to split: the one that the minimiser removes first."""
        return int(minimum.order[0])

    def halves(self) -> list[Self]:
        """Split the region on one unit; the half that removes it comes last."""
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
    """Which free units the candidate removes."""

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum of the minorant at the candidate, then at its minimiser, and so on."""
        yield from at_candidates(self.candidate, lambda: iter([self.lowest(self._minorant())]))

    @abstractmethod
    def _minorant(self) -> Minorant: ...


def at_candidates(candidate: BoolArray, minima: Callable[[], Iterator[Minimum]]) -> Iterator[Minimum]:
    """Yield the minima at a candidate, which then moves to the last minimiser, a few times; it is changed."""
    for _ in range(CANDIDATES):
        last = None
        for last in minima():
            yield last
        before = candidate.copy()
        candidate[:] = False
        if last is not None:
            candidate[last.chosen] = True
        if (before == candidate).all():
            return


@dataclass(frozen=True, eq=False, kw_only=True)
class AllOf(Region):
    """A region of sets that must flip in several regions of the same sets at once."""

    members: tuple[Region, ...]

    @staticmethod
    def over(members: Sequence[Region]) -> "AllOf":
        """Return a region of members that have not been narrowed yet."""
        first = members[0]
        return AllOf(free=first.free, k=first.k, check_deadline=first.check_deadline, members=tuple(members))

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of the minorants of all members: a flipping set must bring each below zero."""
        for member in self.members:
            yield from self.minima_of(member)

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "AllOf | None":
        k = self.k + int(gone.sum())
        members = [replace(each, k=k).narrowed(gone, ~(gone | stays), best) for each in self.members]
        left = tuple(member for member in members if member is not None)
        return replace(self, members=left) if len(left) == len(members) else None


def _fixed_by_count(minimum: Minimum, k: int) -> tuple[BoolArray, BoolArray]:
    """Fix units where at most k may be removed.

    To leave out one of the k best units costs the step to the next best one. To take another unit costs its
    step from the last of the k best. Where that step lifts the minimum of the minorant above zero, no
    flipping set takes it.
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
    """Return the minimum if units may be removed in fractions (Dantzig), which is a bound if they may not.

    Units are taken by what they gain for their cost. The first one that does not fit sets the price. The
    minimiser to try is made of the whole units that still fit.
    """
    c = minorant.coefficients
    gains = np.minimum(c, 0.0) / costs
    order = np.argsort(gains, kind="stable")
    spent = np.cumsum(costs[order])
    first_left = int(np.searchsorted(spent, capacity, side="right"))
    price = -float(gains[order[min(first_left, len(order) - 1)]])
    bound = minorant.constant - price * capacity + float(np.minimum(c + price * costs, 0.0).sum())
    chosen, left = [], capacity
    for unit in order[gains[order] < 0]:
        if costs[unit] <= left:
            chosen.append(int(unit))
            left -= costs[unit]
    return Minimum(minorant, bound, order, np.array(chosen, dtype=np.intp), price)
