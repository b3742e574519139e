"""The cheapest set instead of the smallest, where the removal of units has costs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, combinations
from math import comb

import numpy as np

from butfor.budget import Budget
from butfor.models.arrays import FloatArray, removal_sets
from butfor.models.bounds.region import Region
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding, cost_of
from butfor.searches.shared.prefixes import shortest_prefix
from butfor.searches.shared.proving import narrow_all, search_regions

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the best cost so far: sets that cost less are ruled out one limit after the other."""
CHEAPER = 1 - 1e-9
"""A set must cost less than this share of another to count as cheaper, since sums are rounded."""
TRIED = 8
"""How many units of a black box are tried at each step, after all were removed alone."""
Limited = Callable[[Iterator[Finding]], Iterator[Finding]]


def cheapest(
    local: LocalModel, budget: Budget, *, limited: Limited = iter, max_scorings: int = 5_000
) -> Iterator[Finding]:
    """Yield cheaper and cheaper sets that flip, and higher bounds on what one must cost.

    Two quick answers go by what removals gain for their cost. Then sets that cost less are ruled out: by
    branch and bound, under `limited`, or on a black box by scoring them all, if they are at most
    `max_scorings`.
    """
    costs = _costs(local)
    gains = (local.score - local.scores_with_each((), np.arange(local.n_features))) / costs
    best = Finding(cost_bound=float(costs.min()), reason="no set was found that flips")
    for removed in (shortest_prefix(local, budget, gains).removed, _one_by_one(local, budget, gains)):
        if removed:
            removed = _spared(local, removed, costs)
            if not best.removed or cost_of(local, removed) < CHEAPER * cost_of(local, best.removed):
                best = replace(best, removed=removed, reason="")
                yield best
    proof = _prove(local, budget, best) if local.has_bounds else _score_all(local, budget, best, max_scorings)
    yield from limited(proof)


def _costs(local: LocalModel) -> FloatArray:
    assert local.costs is not None
    return local.costs


def _one_by_one(local: LocalModel, budget: Budget, gains: FloatArray) -> tuple[int, ...]:
    """Remove the unit that gains most for its cost, score again, until some flip; then take the cheapest.

    Of a black box only a few are tried at each step: those that gain most alone.
    """
    removed: tuple[int, ...] = ()
    score, costs = local.score, _costs(local)
    order = np.arange(local.n_features) if local.has_bounds else np.argsort(-gains, kind="stable")
    for _ in range(budget.largest(local.n_features)):
        candidates = order[~np.isin(order, removed)]
        if removed and not local.has_bounds:
            candidates = candidates[:TRIED]
        scores = local.scores_with_each(removed, candidates)
        flipping = np.flatnonzero(local.flips(scores))
        if flipping.size:
            cheapest_one = flipping[np.lexsort((scores[flipping], costs[candidates[flipping]]))[0]]
            return (*removed, int(candidates[cheapest_one]))
        best = int(np.argmax((score - scores) / costs[candidates]))
        removed, score = (*removed, int(candidates[best])), float(scores[best])
    return ()


def _spared(local: LocalModel, removed: tuple[int, ...], costs: FloatArray) -> tuple[int, ...]:
    """Put back the dearest unit that is not needed for the flip, again and again."""
    while len(removed) > 1:
        subsets = [removed[:i] + removed[i + 1 :] for i in range(len(removed))]
        flipping = np.flatnonzero(local.flips(local.scores(removal_sets(subsets, local.n_features))))
        if not flipping.size:
            break
        removed = subsets[max(flipping, key=lambda i: costs[removed[i]])]
    return removed


def _prove(local: LocalModel, budget: Budget, best: Finding) -> Iterator[Finding]:
    """Look for cheaper sets until there are none: at once, then below a growing share of the cost."""
    while True:
        found, is_done = narrow_all(local, _regions(local, budget, _limit(local, best)))
        if found or is_done:
            best = _merged(local, best, found, _limit(local, best))
            yield best
            if is_done and not found:
                return
            continue
        for share in SHARES if best.removed else SHARES[-1:]:
            limit = share * _limit(local, best)
            found = search_regions(local, _regions(local, budget, limit)) or ()
            best = _merged(local, best, found, limit)
            yield best
            if found:
                break
        if not found:
            return


def _limit(local: LocalModel, best: Finding) -> float:
    """Return what a better set may cost."""
    return CHEAPER * cost_of(local, best.removed) if best.removed else np.inf


def _merged(local: LocalModel, best: Finding, found: tuple[int, ...], limit: float) -> Finding:
    """Add to the finding a cheaper set, or the bound that no set within the limit flips."""
    if found:
        return replace(best, removed=found, reason="")
    if limit < _limit(local, best):
        return replace(best, cost_bound=max(best.cost_bound, limit))
    return replace(best, cost_bound=cost_of(local, best.removed) if best.removed else np.inf, reason="")


def _regions(local: LocalModel, budget: Budget, limit: float) -> Iterator[Region | None]:
    for region in local.regions(budget.largest(local.n_features)):
        yield region if limit == np.inf else region.limited(_costs(local), limit)


def _score_all(local: LocalModel, budget: Budget, best: Finding, max_scorings: int) -> Iterator[Finding]:
    """Score every set that costs less, if they are few enough."""
    limit, costs = _limit(local, best), _costs(local)
    affordable = np.flatnonzero(costs <= limit)
    fits = int(np.searchsorted(np.cumsum(np.sort(costs)), limit, side="right"))
    sizes = range(1, min(fits, budget.largest(local.n_features)) + 1)
    if sum(comb(len(affordable), size) for size in sizes) > max_scorings:
        yield replace(best, reason=best.reason or f"max_proof_scorings={max_scorings} reached")
        return
    units = [int(unit) for unit in affordable]
    sets = [
        each
        for each in chain.from_iterable(combinations(units, size) for size in sizes)
        if costs[list(each)].sum() <= limit
    ]
    found: tuple[int, ...] = ()
    if sets:
        scores = local.scores(removal_sets(sets, local.n_features))
        flipping = np.flatnonzero(local.flips(scores))
        if flipping.size:
            found = sets[min(flipping, key=lambda i: (cost_of(local, sets[i]), scores[i]))]
    best = replace(best, removed=found or best.removed)
    yield _merged(local, best, (), _limit(local, best))
