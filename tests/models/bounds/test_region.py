"""No minorant lies above the score anywhere, and no flipping set is ever lost: what all proofs rest on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from regions import Excess, everything, follow
from scipy import sparse

from butfor.models.bounds.deep import DeepRegion
from butfor.models.bounds.hidden_layer import HiddenLayerRegion
from butfor.models.bounds.linear import LinearRegion
from butfor.models.bounds.quadratic import QuadraticRegion
from butfor.models.bounds.region import AllOf
from butfor.models.formula.activations import (
    Exponential,
    Identity,
    Logistic,
    Power,
    Relu,
    SideBySide,
    Steps,
    Tanh,
)
from butfor.models.formula.network import Layer

N_UNITS = 4
KNOTS = Steps(np.array([-1.0, -0.5, 0.2, 1.5]), np.array([0.0, 0.3, 0.3, 1.0]))
UNIT_ACTIVATIONS = {
    "identity": Identity(),
    "relu": Relu(),
    "tanh": Tanh(),
    "logistic": Logistic(),
    "exponential": Exponential(),
    "square": Power(2),
    "cube": Power(3),
    "fourth power": Power(4),
    "first power": Power(1),
    "steps": KNOTS,
    "side by side": SideBySide((KNOTS, Relu(), Tanh()), (1, 1, 2)),
}
CURVED = {name: UNIT_ACTIVATIONS[name] for name in ("tanh", "exponential", "square", "cube", "fourth power")}


def nothing(n_features):
    return np.zeros(n_features, dtype=bool)


@st.composite
def problems(draw, largest=1.5):
    """Numbers of both signs with ties, zeros and duplicated features."""
    m = draw(st.integers(1, 7))
    number = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5]), st.floats(-largest, largest, width=32))
    numbers = st.lists(number, min_size=N_UNITS, max_size=N_UNITS)
    drops = np.array(draw(st.lists(numbers, min_size=m, max_size=m)))
    if draw(st.booleans()):
        drops[-1] = drops[0]
    weights, z = np.array(draw(numbers)), np.array(draw(numbers))
    return weights, z, drops, float(draw(number)), draw(st.integers(1, m)), draw(st.randoms())


@pytest.mark.usefixtures("both_loops")
@pytest.mark.parametrize("name", UNIT_ACTIVATIONS)
@n_examples(100)
@given(problem=problems())
def test_lines_below_neurons(name, problem):
    weights, z, drops, constant, k, random = problem
    activation = UNIT_ACTIVATIONS[name]
    excess = Excess(len(drops), lambda r: constant + activation.value(z - r @ drops) @ weights)
    region = HiddenLayerRegion.root(
        **everything(len(drops), k),
        constant=constant,
        activation=activation,
        weights=weights,
        z=z,
        drops=drops,
    )
    follow(region, excess, random)


@n_examples(60)
@given(problem=problems())
def test_a_linear_score_is_its_own_minorant(problem):
    _, _, drops, constant, k, random = problem
    excess = Excess(len(drops), lambda r: constant - r @ drops[:, 0])
    region = LinearRegion(**everything(len(drops), k), constant=constant, drops=drops[:, 0])
    (minimum,) = region.minorants()
    np.testing.assert_array_equal(minimum.minorant.coefficients, -drops[:, 0])
    follow(region, excess, random)


@pytest.mark.parametrize("kind", ["linear", "neurons", "kernel"])
@n_examples(100)
@given(problem=problems(), capacity=st.floats(0.0, 6.0), seed=st.integers(0, 1000))
def test_regions_of_sets_within_a_cost(kind, problem, capacity, seed):
    weights, z, drops, constant, k, random = problem
    costs = np.random.default_rng(seed).choice([0.1, 0.2, 0.3, 1.0, 1.7, 2.5], len(drops))
    tanh = Tanh()
    if kind == "linear":
        excess = Excess(len(drops), lambda r: constant - r @ drops[:, 0])
        region = LinearRegion(**everything(len(drops), k), constant=constant, drops=drops[:, 0])
    else:
        excess = Excess(len(drops), lambda r: constant + tanh.value(z - r @ drops) @ weights)
        terms = {"constant": constant, "activation": tanh, "weights": weights, "z": z}
        if kind == "neurons":
            region = HiddenLayerRegion.root(**everything(len(drops), k), **terms, drops=drops)
        else:
            region = QuadraticRegion(
                **everything(len(drops), k),
                **terms,
                drops=sparse.csr_array(drops),
                candidate=nothing(len(drops)),
            ).without_idle_neurons()
    limited = region.limited(costs, capacity)
    assert limited is not None
    affordable = [int(i) for i in np.flatnonzero(costs <= capacity)]
    assert set(map(int, limited.free)) == set(affordable)
    follow(limited, excess, random)


@n_examples(60)
@given(problem=problems())
def test_regions_that_must_flip_at_once(problem):
    weights, z, drops, constant, k, random = problem
    tanh = Tanh()
    members = [
        LinearRegion(**everything(len(drops), k), constant=constant, drops=drops[:, 0]),
        HiddenLayerRegion.root(
            **everything(len(drops), k), constant=0.2, activation=tanh, weights=weights, z=z, drops=drops
        ),
    ]
    excess = Excess(
        len(drops),
        lambda r: np.maximum(constant - r @ drops[:, 0], 0.2 + tanh.value(z - r @ drops) @ weights),
    )
    follow(AllOf.over(members), excess, random)


@pytest.mark.parametrize("name", CURVED)
@n_examples(100)
@given(problem=problems())
def test_parabolas_below_neurons(name, problem):
    weights, z, drops, constant, k, random = problem
    activation = CURVED[name]
    excess = Excess(len(drops), lambda r: constant + activation.value(z - r @ drops) @ weights)
    region = QuadraticRegion(
        **everything(len(drops), k),
        constant=constant,
        activation=activation,
        weights=weights,
        z=z,
        drops=sparse.csr_array(drops),
        candidate=nothing(len(drops)),
    ).without_idle_neurons()
    follow(region, excess, random)


@pytest.mark.usefixtures("both_loops")
@pytest.mark.parametrize("name", ["relu", "tanh", "logistic", "identity", "steps"])
@n_examples(100)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_lines_through_layers(name, problem, seed):
    weights, z, drops, constant, k, random = problem
    activation = UNIT_ACTIVATIONS[name]
    rng = np.random.default_rng(seed)
    layers = (
        Layer(activation, rng.normal(size=(N_UNITS, 3)), rng.normal(size=3)),
        Layer(Tanh(), rng.normal(size=(3, 3)), rng.normal(size=3)),
        Layer(activation, weights[:3, np.newaxis], np.array([constant])),
    )

    def function(r):
        value = z - r @ drops
        for layer in layers:
            value = layer.value(value)
        return value[:, 0]

    region = DeepRegion.root(**everything(len(drops), k), layers=layers, z=z, drops=drops)
    follow(region, Excess(len(drops), function), random)


def test_narrowing_beyond_the_size_leaves_nothing():
    region = LinearRegion(**everything(3, 1), constant=0.5, drops=np.array([1.0, 2.0, 3.0]))
    assert region.narrowed(np.array([True, True, False]), nothing(3), None) is None
    one = region.narrowed(np.array([False, True, False]), nothing(3), None)
    assert (one.removed, one.k, list(one.free)) == ((1,), 0, [0, 2])
