"""Proofs by branch and bound: regions of sets, narrowed by minorants, scored or split."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.budget import Budget
from butfor.models.base import BoolArray, LocalModel, removal_sets
from butfor.models.region import Minorant, Region
from butfor.searches.base import Finding, cost_of

ROUNDS = 12
"""How often a region is narrowed at most before it is split."""
FEW_SETS = 500
"""A region of at most so many sets is scored set by set."""
PROGRESS = 0.9
"""A round that leaves more than this of the gap, and of the free features, is not worth another."""


def prove(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding until its lower bound meets its size, or the size limit."""
    for best in prove_at_once(local, budget, best):  # noqa: B020 - each stands in the place of the last
        yield best
    yield from prove_by_regions(local, budget, best)


def prove_by_regions(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding by splitting regions, of ever larger sizes."""
    for k in range(best.lower_bound, largest_better(local, budget, best) + 1):
        found = search_regions(local, local.regions(k))
        if found:
            yield Finding(found, lower_bound=len(found))
            return
        best = replace(best, lower_bound=k + 1)
        yield best


def prove_at_once(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding as far as regions can tell that are not split, of the largest size in question."""
    while (k := largest_better(local, budget, best)) >= best.lower_bound:
        found, is_all = settle_all(local, local.regions(k))
        if found:
            best = Finding(found, best.lower_bound)
            yield best
        elif is_all:
            yield replace(best, lower_bound=k + 1)
            return
        else:
            return


def largest_better(local: LocalModel, budget: Budget, best: Finding) -> int:
    """Give the largest size of a set that would be better than the best."""
    return len(best.removed) - 1 if best.removed else budget.largest(local.n_features)


def settle_all(local: LocalModel, regions: Iterable[Region | None]) -> tuple[tuple[int, ...], bool]:
    """Narrow regions down one after the other, until one gives a flipping set; tell if that says all."""
    is_all = True
    for region in regions:
        left, found = _settle(local, region)
        if found:
            return found, True
        is_all = is_all and left is None
    return (), is_all


def search_regions(local: LocalModel, regions: Iterable[Region | None]) -> tuple[int, ...]:
    """Give a flipping set of some regions, or nothing: then there is none. Depth first."""
    open_regions = list(regions)
    while open_regions:
        region, found = _settle(local, open_regions.pop())
        if found:
            return found
        if region is not None:
            open_regions += region.halves()
    return ()


def _settle(local: LocalModel, region: Region | None) -> tuple[Region | None, tuple[int, ...]]:
    """Narrow a region down: to nothing (no set of it flips), to a flipping set, or as far as it goes."""
    gap = np.inf
    for _ in range(ROUNDS):
        if region is None:
            break
        local.check_deadline()
        verdict = _judge(region)
        if verdict.refuted:
            return None, ()
        few = region.sets(at_most=FEW_SETS)
        found = _flipping(local, few or verdict.candidates)
        if found or few:
            return None, found
        n_free = len(region.free)
        region = region.narrowed(verdict.gone, verdict.kept, verdict.best)
        if region is not None and verdict.gap > PROGRESS * gap and len(region.free) > PROGRESS * n_free:
            break
        gap = verdict.gap
    if region is not None and (few := region.sets(at_most=FEW_SETS)):
        return None, _flipping(local, few)
    return region, ()


@dataclass(frozen=True, eq=False)
class _Verdict:
    """What a round of minorants says of a region."""

    refuted: bool
    gap: float
    """How far the best bound is below zero."""
    best: Minorant | None
    gone: BoolArray
    kept: BoolArray
    candidates: list[tuple[int, ...]]


def _judge(region: Region) -> _Verdict:
    """Have the region's minorants settle features and propose sets, one after the other."""
    gone = np.zeros(len(region.free), dtype=bool)
    kept = gone.copy()
    best, highest = None, -np.inf
    candidates: dict[tuple[int, ...], None] = {}
    for minimum in region.minorants():
        if best is None or minimum.bound > highest:
            best, highest = minimum.minorant, minimum.bound
        if minimum.bound > 0:
            break
        candidates[(*region.removed, *map(int, region.free[np.sort(minimum.chosen)]))] = None
        if region.k:
            must, cannot = region.settled(minimum)
            gone |= must
            kept |= cannot
    return _Verdict(highest > 0, -highest, best, gone, kept & ~gone, list(candidates))


def _flipping(local: LocalModel, candidates: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Give the smallest (or cheapest), then strongest, of the candidates that flips, if any does."""
    scores = local.scores(removal_sets(candidates, local.n_features))
    flipping = [
        (cost_of(local, candidates[i]), scores[i], candidates[i])
        for i in np.flatnonzero(local.flips(scores))
        if candidates[i]
    ]
    return min(flipping)[2] if flipping else ()
