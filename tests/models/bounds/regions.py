"""The judge of regions: their minorants and parts, against the true score on every set."""

from itertools import combinations

import numpy as np
import pytest


def everything(n_features, k):
    """Give the parts of a region of all sets of at most k features, without a deadline."""
    return {"free": np.arange(n_features), "k": k, "check_deadline": lambda: None}


def sets_of(region):
    """Give all removal sets of a region, as a boolean matrix over its free features."""
    n = len(region.free)
    chosen = [c for size in range(region.k + 1) for c in combinations(range(n), size)]
    if region.costs is not None:
        chosen = [c for c in chosen if region.costs[list(c)].sum() <= region.capacity]
    sets = np.zeros((len(chosen), n), dtype=bool)
    for line, features in zip(sets, chosen, strict=True):
        line[list(features)] = True
    return sets


def judge(region, excess, everywhere):
    """Hold a region against the true excess over the limit, a function of full removal sets.

    Once it was narrowed by a minorant, its next ones need not hold for the sets that the first ruled out.
    """
    n = len(region.free)
    sets = sets_of(region)
    full = np.zeros((len(sets), excess.n_features), dtype=bool)
    full[:, list(region.removed)] = True
    full[:, region.free] = sets
    true = excess(full)
    gone, kept, best = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), None
    for minimum in region.minorants():
        minorant, bound = minimum.minorant, minimum.bound
        values = minorant.constant + sets @ minorant.coefficients
        below = values <= true + 1e-8 * (1 + np.abs(true))
        assert below[everywhere | (true <= 0)].all()
        if minimum.price:  # features that may go in part: a bound, no more
            assert bound <= values.min() + 1e-9 * (1 + abs(values.min()))
            assert region.costs[minimum.chosen].sum() <= region.capacity
        else:
            assert bound == pytest.approx(values.min(), rel=1e-9, abs=1e-9)
        best = minorant
        if bound <= 0 and region.k:
            must, cannot = region.fixed(minimum)
            gone |= must
            kept |= cannot
    flipping = {frozenset(np.flatnonzero(line)) for line in full[true <= -1e-9]}  # but for rounding
    narrowed = region.narrowed(gone, kept & ~gone, best)
    assert lost_from(narrowed, flipping) == set()
    return narrowed, flipping


def lost_from(region, sets):
    if region is None:
        return sets
    removed, free = set(region.removed), {int(feature): i for i, feature in enumerate(region.free)}

    def holds(each):
        more = each - removed
        if not (removed <= each and more <= set(free) and len(more) <= region.k):
            return False
        return region.costs is None or sum(region.costs[free[i]] for i in more) <= region.capacity + 1e-9

    return {each for each in sets if not holds(each)}


def follow(region, excess, random):
    """Judge a region, what is left of it, and its halves, some levels down."""
    for level in range(3):
        region, flipping = judge(region, excess, everywhere=level == 0)
        if region is None or not region.k:
            return
        halves = region.halves()
        kept_sets = {each for each in flipping if all(each in lost_from(half, {each}) for half in halves)}
        assert not kept_sets  # every flipping set is in one of the halves
        if not halves:
            return
        region = random.choice(halves)


class Excess:
    def __init__(self, n_features, function):
        self.n_features = n_features
        self._function = function

    def __call__(self, removed):
        return self._function(removed.astype(float))
