"""Proofs by branch and bound: regions of removal sets are narrowed by minorants, scored or split."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import comb

import numpy as np

from butfor.budget import Budget
from butfor.models.arrays import removal_sets
from butfor.models.bounds.region import FEW_SETS, PROGRESS, ROUNDS, Region
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding, cost_of
from butfor.searches.shared.enumeration import search_sizes

MAX_ENUMERATED = 100_000
"""Where at most so many sets are in question, all of them may be scored instead of splitting regions further.

That happens once there are as many regions as all sets of a size would take batches of `FEW_SETS`.
"""
FEW_SIZES = 3
"""So many sizes are looked at one after the other; more are halved first."""
FEW_REGIONS = 8
"""At least so many regions are tried before all sets are scored."""


def prove(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding until its lower bound meets its size, or the size limit."""
    for best in prove_at_once(local, budget, best):  # noqa: B020 - each replaces the last
        yield best
    yield from prove_size_by_size(local, budget, best)


def prove_size_by_size(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding, smallest sets first: by splitting regions, or by scoring all sets of a size.

    All sets are scored where they are few and splitting does not help: on a plateau no bound rules out any.
    """
    for best in _prove_by_halving(local, budget, best):  # noqa: B020 - each replaces the last
        yield best
    sizes = range(best.lower_bound, largest_better(local, budget, best) + 1)
    are_few = sum(comb(local.n_features, size) for size in sizes) <= MAX_ENUMERATED
    for k in sizes:
        n_sets = comb(local.n_features, k)
        at_most = max(FEW_REGIONS, n_sets // FEW_SETS) if are_few else None
        found = search_regions(local, local.regions(k), beyond=k - 1, at_most=at_most)
        if found is None:
            found = _strongest(local, k)
        if found:
            yield Finding(found, lower_bound=len(found))
            return
        best = replace(best, lower_bound=k + 1)
        yield best


def _prove_by_halving(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Rule out sizes as far as possible without splitting regions, by halving the sizes in question.

    What is ruled out for one size is ruled out for all smaller ones.
    """
    high = largest_better(local, budget, best)
    while high - best.lower_bound >= FEW_SIZES:
        k = (best.lower_bound + high) // 2
        found, is_done = narrow_all(local, local.regions(k), beyond=best.lower_bound - 1)
        if found:
            best = Finding(found, best.lower_bound)
            high = len(found) - 1
        elif is_done:
            best = replace(best, lower_bound=k + 1)
        else:
            high = k
        if found or is_done:
            yield best


def _strongest(local: LocalModel, size: int) -> tuple[int, ...]:
    """Return the strongest flipping set of a size, if there is one, by scoring all of them."""
    *_, last = search_sizes(local, [size])
    return last.removed


def prove_at_once(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Improve on a finding as far as possible without splitting regions of the largest size in question."""
    while (k := largest_better(local, budget, best)) >= best.lower_bound:
        if local.is_out_of_reach(k):
            yield replace(best, lower_bound=k + 1)
            return
        found, is_done = narrow_all(local, local.regions(k), beyond=best.lower_bound - 1)
        if found:
            best = Finding(found, best.lower_bound)
            yield best
        elif is_done:
            yield replace(best, lower_bound=k + 1)
            return
        else:
            return


def largest_better(local: LocalModel, budget: Budget, best: Finding) -> int:
    """Return the largest size of a set that would be better than the best."""
    return len(best.removed) - 1 if best.removed else budget.largest(local.n_features)


def narrow_all(
    local: LocalModel, regions: Iterable[Region | None], *, beyond: int = 0
) -> tuple[tuple[int, ...], bool]:
    """Narrow regions one after the other, until one gives a flipping set.

    Sets of at most `beyond` units are known not to flip. Returns the flipping set, if one was found, and
    whether the regions are done: a set was found, or no set of theirs flips.
    """
    is_done = True
    for region in regions:
        left, found = _narrow(local, region, beyond)
        if found:
            return found, True
        is_done = is_done and left is None
    return (), is_done


def search_regions(
    local: LocalModel, regions: Iterable[Region | None], *, beyond: int = 0, at_most: int | None = None
) -> tuple[int, ...] | None:
    """Return a flipping set of some regions, by depth first search; an empty set if there is none.

    Sets of at most `beyond` units are known not to flip. Returns None if `at_most` regions have been narrowed
    and some are left.
    """
    open_regions = list(regions)
    n_narrowed = 0
    while open_regions:
        if n_narrowed == at_most:
            return None
        n_narrowed += 1
        region, found = _narrow(local, open_regions.pop(), beyond)
        if found:
            return found
        if region is not None:
            open_regions += region.halves()
    return ()


def _narrow(local: LocalModel, region: Region | None, beyond: int) -> tuple[Region | None, tuple[int, ...]]:
    """Narrow a region: to nothing if no set of it flips, to a flipping set, or as far as possible.

    Returns the region that is left, or None, and the flipping set, or an empty one.
    """
    gap = np.inf
    for _ in range(ROUNDS):
        if region is None:
            break
        local.check_deadline()
        check = region.check()
        if check.refuted:
            return None, ()
        few = region.sets(at_most=FEW_SETS, beyond=beyond)
        if few is not None:
            return None, _flipping(local, few)
        found = _flipping(local, [each for each in check.candidates if len(each) > beyond])
        if found:
            return None, found
        n_free = len(region.free)
        region = region.narrowed(check.gone, check.kept, check.best)
        if region is not None and check.gap > PROGRESS * gap and len(region.free) > PROGRESS * n_free:
            break
        gap = check.gap
    if region is not None and (few := region.sets(at_most=FEW_SETS, beyond=beyond)) is not None:
        return None, _flipping(local, few)
    return region, ()


def _flipping(local: LocalModel, candidates: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the smallest (or cheapest), then strongest, of the candidates that flips, if any does."""
    if not candidates:
        return ()
    scores = local.scores(removal_sets(candidates, local.n_features))
    flipping = [
        (cost_of(local, candidates[i]), scores[i], candidates[i])
        for i in np.flatnonzero(local.flips(scores))
        if candidates[i]
    ]
    return min(flipping)[2] if flipping else ()
