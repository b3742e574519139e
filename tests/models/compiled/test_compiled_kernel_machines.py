"""Compiled loops over sums of kernels do what numpy does, and what they say holds for every set."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import loops
from profiles import n_examples
from scipy import sparse

from butfor.models import kernels
from butfor.models.bounds.quadratic import QuadraticRegion
from butfor.models.formula.activations import Exponential, Power, Tanh

SEEDS = st.integers(0, 2**32 - 1)
CURVES = pytest.mark.parametrize(
    "curve", [Exponential(), Power(1), Power(2), Power(3), Power(5), Tanh()], ids=str
)


def region_of(rng, curve, most_units=25):
    """Return a root region of sparse drops: neurons that no unit moves, one, two, or many."""
    n_units, n_neurons = int(rng.integers(1, most_units + 1)), int(rng.integers(1, 30))
    drops = rng.normal(size=(n_units, n_neurons)) * (
        rng.random((n_units, n_neurons)) < rng.uniform(0.05, 0.8)
    )
    weights, z = rng.normal(size=n_neurons), rng.normal(size=n_neurons)
    return QuadraticRegion(
        free=np.arange(n_units),
        k=int(rng.integers(0, n_units + 1)),
        check_deadline=lambda: None,
        constant=rng.uniform(0, 4) - float(weights @ curve.value(z)),  # sets that flip, or none
        activation=curve,
        weights=weights,
        z=z,
        drops=sparse.csr_array(drops),
        candidate=rng.random(n_units) < 0.2,
    ).without_idle_neurons()


def checked(which, region):
    """Return the check of a region by these loops; the candidate of the region stays."""
    with loops(which):
        return replace(region, candidate=region.candidate.copy()).check()


def assert_same_region(one, other):
    """Compare two regions, or the lack of them."""
    assert (one is None) == (other is None)
    if one is not None:
        for name in ("constant", "weights", "z", "candidate"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(one.drops.toarray(), other.drops.toarray())
        assert (one.removed, one.free.tolist(), one.k) == (other.removed, other.free.tolist(), other.k)


@CURVES
@n_examples(60)
@given(seed=SEEDS)
def test_regions_are_checked_alike(curve, seed):
    region = region_of(np.random.default_rng(seed), curve)
    for _ in range(3):
        ours, plain = checked("compiled", region), checked("plain", region)
        assert ours.refuted == plain.refuted
        assert ours.gap == pytest.approx(plain.gap, rel=1e-7, abs=1e-9)
        assert ours.best.constant == pytest.approx(plain.best.constant, rel=1e-7, abs=1e-9)
        np.testing.assert_allclose(ours.best.coefficients, plain.best.coefficients, rtol=1e-7, atol=1e-9)
        assert (ours.gone == plain.gone).all()
        assert (ours.kept == plain.kept).all()
        assert ours.candidates == plain.candidates
        fixed = plain.gone, plain.kept, plain.best
        with loops("compiled"):
            one = region.narrowed(*fixed)
        with loops("plain"):
            region = region.narrowed(*fixed)
        assert_same_region(one, region)
        if region is None or plain.refuted:
            return


@pytest.mark.parametrize("which", ["compiled", "plain"])
@CURVES
@n_examples(40)
@given(seed=SEEDS)
def test_what_is_said_of_a_region_holds_for_each_of_its_sets(curve, which, seed):
    region = region_of(np.random.default_rng(seed), curve, most_units=9)
    sets = np.array([each for each in product([0, 1], repeat=len(region.free)) if sum(each) <= region.k])
    z = region.z - sets @ region.drops.toarray()
    scores = region.constant + curve.value(z) @ region.weights
    check = checked(which, region)
    size = 1e-9 * (1 + np.abs(scores).max())
    assert scores.min() >= -check.gap - size
    assert (check.best.constant + sets @ check.best.coefficients <= scores + size).all()
    flipping = sets[scores < -size]
    assert not (check.refuted and len(flipping))
    assert flipping[:, check.gone].all()
    assert not flipping[:, check.kept].any()


@pytest.mark.parametrize("k", [1, 2, 5, 20, 40])
def test_the_sum_of_the_lowest(k):
    sum_of_lowest = kernels("kernel_machines").sum_of_lowest
    rng = np.random.default_rng(k)
    for _ in range(50):
        costs = rng.choice([rng.normal(), -1.0, 0.0, 2.0], 40) + rng.choice([0.0, rng.normal()], 40)
        lowest = np.minimum(np.sort(costs)[:k], 0.0).sum()
        assert sum_of_lowest(costs, k, np.empty(40)) == pytest.approx(lowest)


def test_the_factored_exponential_is_the_exponential():
    compiled, rng = kernels("kernel_machines"), np.random.default_rng(0)
    for _ in range(50):
        region = region_of(rng, Exponential())
        constant, weights, z, values, (*places, drops, _) = region._sums
        factored = constant, weights, z, values, (*places, drops, np.exp(-drops))
        kinds = (compiled.EXPONENTIAL, region._sums), (compiled.FACTORED, factored)
        (_, one, *_), (_, other, *_) = (
            compiled.check((kind, 0), sums, region.k, region.candidate.copy(), 1) for kind, sums in kinds
        )
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
