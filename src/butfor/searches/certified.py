"""Certified: the smallest set, proven by branch and bound over linear minorants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.models.base import BoolArray, LocalModel
from butfor.models.region import Minorant, Region, settled
from butfor.searches.base import Finding, removal_sets
from butfor.searches.sedc import SEDC

ROUNDS = 12
"""How often a region is narrowed at most before it is split."""
FEW_SETS = 500
"""A region of at most so many sets is scored set by set."""
PROGRESS = 0.9
"""A round that leaves more than this of the gap, and of the free features, is not worth another."""


@dataclass(frozen=True)
class Certified:
    """From sedc's answer of size s: prove that no set of at most s − 1 features flips, or find one.

    For a region of sets the local model gives a linear function below the score. If its minimum over the
    region lies above the threshold no set of the region flips. Otherwise the minimiser is scored, features
    are settled that every flipping set must remove or keep, and what is left is split in two.

    Needs a local model with bounds: scikit-learn's linear models, naive Bayes, neural networks and kernel
    machines. Among minimum sets the answer is the one with the lowest score that was met, which is not proven
    to be the lowest of all.
    """

    name: ClassVar[str] = "certified"

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield sedc's answer, then ever smaller ones and ever higher bounds, until they meet."""
        best = Finding()
        for finding in SEDC()(local, budget, seed):
            best = replace(finding, reason="")
            yield best
        if local.has_bounds:
            yield from prove(local, budget, best)
        else:
            yield replace(best, reason=f"a {local.kind} has no bounds to prove with")


def prove(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding until its lower bound meets its size, or the size limit."""
    for best in prove_at_once(local, budget, best):  # noqa: B020 - each stands in the place of the last
        yield best
    yield from prove_by_regions(local, budget, best)


def prove_by_regions(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding by splitting regions, of ever larger sizes."""
    for k in range(best.lower_bound, largest_better(local, budget, best) + 1):
        found = _search(local, k)
        if found:
            yield Finding(found, lower_bound=len(found))
            return
        best = replace(best, lower_bound=k + 1)
        yield best


def prove_at_once(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding as far as one region of all sets can tell, of the largest size in question."""
    while (k := largest_better(local, budget, best)) >= best.lower_bound:
        region, found = _settle(local, local.region(k))
        if found:
            best = Finding(found, best.lower_bound)
            yield best
        elif region is None:
            yield replace(best, lower_bound=k + 1)
            return
        else:
            return


def largest_better(local: LocalModel, budget: Budget, best: Finding) -> int:
    """Give the largest size of a set that would be better than the best."""
    return len(best.removed) - 1 if best.removed else budget.largest(local.n_features)


def _search(local: LocalModel, k: int) -> tuple[int, ...]:
    """Give a flipping set of at most k features, or nothing: then there is none. Depth first."""
    open_regions = [local.region(k)]
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
    for minorant in region.minorants():
        bound, order = minorant.lowest(region.k)
        if best is None or bound > highest:
            best, highest = minorant, bound
        if bound > 0:
            break
        taken = order[: region.k]
        chosen = np.sort(taken[minorant.coefficients[taken] < 0])
        candidates[(*region.removed, *map(int, region.free[chosen]))] = None
        if region.k:
            must, cannot = settled(minorant, region.k, bound, order)
            gone |= must
            kept |= cannot
    return _Verdict(highest > 0, -highest, best, gone, kept & ~gone, list(candidates))


def _flipping(local: LocalModel, candidates: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Give the smallest, then strongest, of the candidates that flips, if any does."""
    scores = local.scores(removal_sets(candidates, local.n_features))
    flipping = [
        (len(candidates[i]), scores[i], candidates[i])
        for i in np.flatnonzero(local.flips(scores))
        if candidates[i]
    ]
    return min(flipping)[2] if flipping else ()
