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
from butfor.models.bounds import hidden_layer
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


def test_they_are_used():
    with loops("compiled"):
        assert kernels("networks") is not None
    with loops("plain"):
        assert kernels("networks") is None
