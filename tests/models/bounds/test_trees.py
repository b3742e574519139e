"""No minorant of a sum of trees lies above it anywhere, and no flipping set is ever lost."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from random_trees import all_sets, tree_scores
from regions import Excess, everything, follow

from butfor.models.bounds.ascent import Ascent
from butfor.models.bounds.linear import LinearRegion
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import AllOf
from butfor.models.bounds.trees import TreeRegion

pytestmark = pytest.mark.usefixtures("both_loops")

SEEDS = st.integers(0, 2**32 - 1)


def problem(rng, most_units=7):
    """Return a region of trees, and its true score; the limit lies among the scores, on one, or beyond."""
    n_units = int(rng.integers(2, most_units + 1))
    affine, walked = tree_scores(rng, n_units)
    sign = float(rng.choice([1.0, -1.0]))
    scores = sign * walked(all_sets(n_units))[:, 0]
    limit = float(np.quantile(scores, rng.random()) + rng.choice([0.0, 1e-9, -1e-9, 0.3, -0.3]))
    region = TreeRegion.root(
        **everything(n_units, int(rng.integers(1, n_units + 1))),
        constant=sign * float(affine.now[0]) - limit,
        linear=-sign * affine.drops[:, 0],
        trees=OpenTrees.of(affine.leaves).weighted(np.array([sign])),
    )
    return region, Excess(n_units, lambda removed: sign * walked(removed)[:, 0] - limit)


@n_examples(240)
@given(seed=SEEDS)
def test_linear_functions_below_trees(seed):
    rng = np.random.default_rng(seed)
    region, excess = problem(rng)
    follow(region, excess, random.Random(seed))


@n_examples(80)
@given(seed=SEEDS, capacity=st.floats(0.0, 6.0))
def test_regions_of_sets_within_a_cost(seed, capacity):
    rng = np.random.default_rng(seed)
    region, excess = problem(rng)
    costs = rng.choice([0.1, 0.2, 0.3, 1.0, 1.7, 2.5], excess.n_features)
    limited = region.limited(costs, capacity)
    assert set(map(int, limited.free)) == set(np.flatnonzero(costs <= capacity))
    follow(limited, excess, random.Random(seed))


@n_examples(80)
@given(seed=SEEDS, with_costs=st.booleans())
def test_regions_that_must_flip_at_once(seed, with_costs):
    rng = np.random.default_rng(seed)
    region, excess = problem(rng)
    m, limit = excess.n_features, float(rng.normal())
    drops = rng.normal(size=m)
    affine, walked = tree_scores(rng, m)
    other = TreeRegion.root(
        **everything(m, region.k),
        constant=float(affine.now[0]) - limit,
        linear=-affine.drops[:, 0],
        trees=OpenTrees.of(affine.leaves).weighted(np.ones(1)),
    )
    straight = LinearRegion(**everything(m, region.k), constant=0.5, drops=drops)

    def highest(removed):
        return np.maximum.reduce([excess(removed > 0), walked(removed)[:, 0] - limit, 0.5 - removed @ drops])

    both = AllOf.over([region, other, straight])
    if with_costs:
        both = both.limited(rng.choice([0.5, 1.0, 2.0], m), 3.0)
    follow(both, Excess(m, highest), random.Random(seed))


@n_examples(40)
@given(seed=SEEDS)
def test_a_region_of_single_sets_is_decided(seed):
    """Once all units are fixed nothing is open, and the bound is the score."""
    rng = np.random.default_rng(seed)
    region, excess = problem(rng)
    while region.k and len(region.free):
        region = rng.choice(region.halves())
    nothing = np.zeros(len(region.free), dtype=bool)
    region = region.narrowed(nothing, ~nothing, None)
    removed = np.zeros((1, excess.n_features), dtype=bool)
    removed[0, list(region.removed)] = True
    *_, last = region.minorants()
    assert last.bound == pytest.approx(float(excess(removed)[0]), abs=1e-9)


def test_bounds_become_better():
    """Of many trees the last bound is far above the first one, and still below the least score."""
    gaps = []
    for seed in range(40):
        region, excess = problem(np.random.default_rng(seed))
        bounds = [minimum.bound for minimum in region.minorants()]
        sets = all_sets(excess.n_features)
        least = float(excess(sets[sets.sum(axis=1) <= region.k]).min())
        assert max(bounds) <= least + 1e-9
        gaps.append((least - bounds[0], least - max(bounds)))
    first, last = np.array(gaps).sum(axis=0)
    assert last < 0.7 * first


def judge_many(n=50):
    for seed in range(n):
        region, excess = problem(np.random.default_rng(seed))
        follow(region, excess, random.Random(seed))


@pytest.mark.parametrize("wrong", ["offset", "leaf", "fixing"])
def test_a_wrong_bound_would_be_noticed(monkeypatch, wrong):
    """The judge is no rubber stamp: plant a bug in a bound, and it fails."""
    minorant, advance, fixed = Ascent.minorant.fget, Ascent.advance, OpenTrees.fixed
    if wrong == "offset":

        def too_high(self):
            true = minorant(self)
            return replace(true, constant=true.constant + 1e-3)

        monkeypatch.setattr(Ascent, "minorant", property(too_high))
    elif wrong == "leaf":  # one leaf of each sum is a little too high

        def lifted(self):
            values = self.trees.values.copy()
            values[-1] += 0.01
            self.trees = replace(self.trees, values=values)
            return advance(self)

        monkeypatch.setattr(Ascent, "advance", lifted)
    else:  # units that are removed are taken for kept ones
        monkeypatch.setattr(
            OpenTrees, "fixed", lambda self, gone, stays, k: fixed(self, np.zeros_like(gone), stays, k)
        )
    with pytest.raises((AssertionError, ValueError)):
        judge_many()


def test_without_such_a_bug_the_judge_is_content():
    judge_many()
