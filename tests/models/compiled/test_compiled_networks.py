"""Compiled loops over neurons do what numpy does."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import loops
from profiles import n_examples

from butfor.models import kernels
from butfor.models.bounds import hidden_layer, lines
from butfor.models.bounds.deep import LayerLines
from butfor.models.bounds.hidden_layer import HIGH, LOW, WEIGHTS, HiddenLayerRegion
from butfor.models.formula.activations import Logistic, Relu, Tanh

SEEDS = st.integers(0, 2**32 - 1)
ACTIVATIONS = pytest.mark.parametrize("activation", [Relu(), Tanh(), Logistic()])


def question(rng, activation, most_units=40):
    """Return the arguments of a root region: few units or many, with neurons that some do not move."""
    n_units, n_neurons = int(rng.integers(1, most_units + 1)), int(rng.integers(1, 30))
    drops = rng.normal(size=(n_units, n_neurons)) * (rng.random((n_units, n_neurons)) < 0.8)
    weights = rng.normal(size=n_neurons) * (rng.random(n_neurons) < 0.9)
    z = rng.normal(size=n_neurons)
    score = float(weights @ activation.value(z))
    return {
        "free": np.arange(n_units),
        "k": int(rng.integers(0, n_units + 1)),
        "check_deadline": lambda: None,
        "constant": rng.uniform(0, 4) - score,  # a region of sets that flip, or of none
        "activation": activation,
        "weights": weights,
        "z": z,
        "drops": drops,
    }


def both(function):
    """Return what a function gives with compiled loops, and with those of numpy."""
    results = []
    for which in ("compiled", "plain"):
        with loops(which):
            results.append(function())
    return results


def copied(region):
    """Return the same region, with slopes of its own."""
    return replace(region, neurons=region.neurons.copy(), drops=np.ascontiguousarray(region.drops))


def assert_same_region(one, other):
    """Compare two regions, or the lack of them."""
    assert (one is None) == (other is None)
    if one is not None:
        for name in ("constant", "linear", "drops"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9)
        # The ends of its range do not matter to a line below a neuron that bends upwards at zero.
        matters = np.ones(one.neurons.shape, dtype=bool)
        if one.activation == Relu():
            matters[[LOW, HIGH]] = one.neurons[WEIGHTS] < 0
        np.testing.assert_allclose(one.neurons[matters], other.neurons[matters], rtol=1e-9, atol=1e-9)
        assert (one.removed, one.free.tolist(), one.k) == (other.removed, other.free.tolist(), other.k)


def assert_same_check(one, other):
    """Compare what the minorants of two regions say."""
    assert one.refuted == other.refuted
    assert one.gap == pytest.approx(other.gap, rel=1e-7, abs=1e-9)
    assert one.best.constant == pytest.approx(other.best.constant, rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(one.best.coefficients, other.best.coefficients, rtol=1e-7, atol=1e-9)
    assert (one.gone == other.gone).all()
    assert (one.kept == other.kept).all()
    assert one.candidates == other.candidates


@ACTIVATIONS
@n_examples(200)
@given(seed=SEEDS)
def test_regions_are_checked_and_narrowed_alike(activation, seed):
    """One step at a time: where two lines are equally high, the last bit decides which way the next goes."""
    asked = question(np.random.default_rng(seed), activation)
    ours, plain = both(lambda: HiddenLayerRegion.root(**asked))
    assert_same_region(ours, plain)
    for _ in range(4):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hidden_layer, "STEPS", 1)
            patch.setattr(hidden_layer, "COMPILED_STEPS", 1)
            ours, check = both(lambda region=plain: copied(region).check())
        assert_same_check(ours, check)
        if check.refuted:
            return
        fixed = check.gone, check.kept, check.best
        ours, plain = both(lambda region=plain, fixed=fixed: region.narrowed(*fixed))
        assert_same_region(ours, plain)
        if plain is None:
            return


@ACTIVATIONS
@n_examples(200)
@given(seed=SEEDS)
def test_what_is_said_of_a_region_holds_for_each_of_its_sets(activation, seed):
    asked = question(np.random.default_rng(seed), activation, most_units=9)
    sets = np.array([each for each in product([0, 1], repeat=len(asked["free"])) if sum(each) <= asked["k"]])
    z = asked["z"] - sets @ asked["drops"]
    scores = asked["constant"] + activation.value(z) @ asked["weights"]
    with loops("compiled"):
        check = HiddenLayerRegion.root(**asked).check()
    assert scores.min() >= -check.gap - 1e-9
    below = check.best.constant + sets @ check.best.coefficients
    assert (below <= scores + 1e-9).all()
    flipping = sets[scores < -1e-9]
    assert not (check.refuted and len(flipping))
    assert flipping[:, check.gone].all()
    assert not flipping[:, check.kept].any()


@ACTIVATIONS
def test_halves_are_alike(activation):
    for seed in range(40):
        asked = question(np.random.default_rng(seed), activation)
        asked["k"] = max(1, asked["k"])
        ours, plain = both(lambda asked=asked: HiddenLayerRegion.root(**asked).halves())
        assert len(ours) == len(plain)
        for one, other in zip(ours, plain, strict=True):
            assert_same_region(one, other)


def terms_and_costs(rng):
    """Return terms and costs of units, with ties, zeros and numbers that get lost in sums."""
    shape = int(rng.integers(1, 10)), int(rng.integers(1, 6))
    terms = rng.choice([rng.normal(), 1.0, -1.0, 0.0, 1e-24, 1e6], shape) + rng.normal(size=shape) * (
        rng.random(shape) < 0.5
    )
    costs = np.round(rng.normal(size=shape[0]), int(rng.integers(0, 4)))
    return terms, costs, int(rng.integers(0, shape[0] + 1))


@pytest.mark.parametrize("which", ["compiled", "plain"])
@n_examples(300)
@given(seed=SEEDS)
def test_largest_sums_are_those_of_some_set_and_exceeded_by_none(which, seed):
    rng = np.random.default_rng(seed)
    terms, costs, k = terms_and_costs(rng)
    sets = np.array([each for each in product([0, 1], repeat=len(terms)) if sum(each) <= k])
    sums, spent = sets @ terms, sets @ costs
    slack = float(rng.choice(spent)) + float(rng.choice([0.0, 1.0, 1e-3]))
    size = 1 + np.abs(terms).sum(axis=0)
    with loops(which):
        at_most_k = lines.largest_sums(terms, k)
        affordable = lines.largest_sums_under(terms, costs, slack, k, lambda: None)
    assert (np.abs(at_most_k - sums.max(axis=0)) <= 1e-9 * size).all()
    assert (affordable <= at_most_k + 1e-9 * size).all()
    assert (affordable >= sums[spent <= slack].max(axis=0) - 1e-9 * size).all()


@n_examples(100)
@given(seed=SEEDS)
def test_largest_sums_are_alike(seed):
    rng = np.random.default_rng(seed)
    terms, costs = rng.normal(size=(int(rng.integers(1, 200)), 5)), rng.normal(size=200)
    costs, k = costs[: len(terms)], int(rng.integers(0, len(terms) + 1))
    for slack in (-3.0, -0.1, 2.0):
        ours, plain = both(lambda slack=slack: lines.largest_sums_under(terms, costs, slack, k, lambda: None))
        np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-9)


@ACTIVATIONS
@n_examples(100)
@given(seed=SEEDS)
def test_lines_of_a_layer_are_alike_and_on_their_sides(activation, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    low, at, high = np.sort(rng.choice([-1.0, 0.0, 1.0, 3.0], (3, n)) + rng.normal(size=(3, n)), axis=0)
    ours, plain = both(lambda: LayerLines.of(activation, at, low, high))
    np.testing.assert_allclose(ours.lines, plain.lines, rtol=1e-9, atol=1e-9)
    z = low + np.linspace(0, 1, 101)[:, np.newaxis] * (high - low)
    below, above = ours.lines[0] * z + ours.lines[1], ours.lines[2] * z + ours.lines[3]
    assert (below <= activation.value(z) + 1e-9).all()
    assert (above >= activation.value(z) - 1e-9).all()
    weights = rng.normal(size=(n, 3))
    of_ours, of_plain = both(lambda: ours.below_sums(weights))
    for one, other in zip(of_ours, of_plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    assert (of_ours[0] + z @ of_ours[1] <= activation.value(z) @ weights + 1e-9).all()


def test_they_are_used():
    with loops("compiled"):
        assert kernels("networks") is not None
    with loops("plain"):
        assert kernels("networks") is None
