"""No minorant lies above the score anywhere, and no flipping set is ever lost: what all proofs rest on."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from butfor.models.activations import Exponential, Identity, Logistic, Power, Relu, SideBySide, Steps, Tanh
from butfor.models.deep_region import DeepRegion
from butfor.models.linear_region import LinearRegion
from butfor.models.network import Layer
from butfor.models.quadratic_region import QuadraticRegion
from butfor.models.region import AllOf
from butfor.models.unit_region import UnitRegion

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


def everything(n_features, k):
    """Give the parts of a region of all sets of at most k features, without a deadline."""
    return {"free": np.arange(n_features), "k": k, "check_deadline": lambda: None}


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
            must, cannot = region.settled(minimum)
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


@pytest.mark.parametrize("name", UNIT_ACTIVATIONS)
@settings(max_examples=100)
@given(problem=problems())
def test_lines_below_units(name, problem):
    weights, z, drops, constant, k, random = problem
    activation = UNIT_ACTIVATIONS[name]
    excess = Excess(len(drops), lambda r: constant + activation.value(z - r @ drops) @ weights)
    region = UnitRegion.root(
        **everything(len(drops), k),
        constant=constant,
        activation=activation,
        weights=weights,
        z=z,
        drops=drops,
    )
    follow(region, excess, random)


@settings(max_examples=60)
@given(problem=problems())
def test_a_linear_score_is_its_own_minorant(problem):
    _, _, drops, constant, k, random = problem
    excess = Excess(len(drops), lambda r: constant - r @ drops[:, 0])
    region = LinearRegion(**everything(len(drops), k), constant=constant, drops=drops[:, 0])
    (minimum,) = region.minorants()
    np.testing.assert_array_equal(minimum.minorant.coefficients, -drops[:, 0])
    follow(region, excess, random)


@pytest.mark.parametrize("kind", ["linear", "units", "kernel"])
@settings(max_examples=100)
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
        parts = {"constant": constant, "activation": tanh, "weights": weights, "z": z}
        if kind == "units":
            region = UnitRegion.root(**everything(len(drops), k), **parts, drops=drops)
        else:
            region = QuadraticRegion(
                **everything(len(drops), k),
                **parts,
                drops=sparse.csr_array(drops),
                candidate=nothing(len(drops)),
            ).without_idle_units()
    limited = region.limited(costs, capacity)
    assert limited is not None
    affordable = [int(i) for i in np.flatnonzero(costs <= capacity)]
    assert set(map(int, limited.free)) == set(affordable)
    follow(limited, excess, random)


@settings(max_examples=60)
@given(problem=problems())
def test_regions_that_must_flip_at_once(problem):
    weights, z, drops, constant, k, random = problem
    tanh = Tanh()
    members = [
        LinearRegion(**everything(len(drops), k), constant=constant, drops=drops[:, 0]),
        UnitRegion.root(
            **everything(len(drops), k), constant=0.2, activation=tanh, weights=weights, z=z, drops=drops
        ),
    ]
    excess = Excess(
        len(drops),
        lambda r: np.maximum(constant - r @ drops[:, 0], 0.2 + tanh.value(z - r @ drops) @ weights),
    )
    follow(AllOf.over(members), excess, random)


@pytest.mark.parametrize("name", CURVED)
@settings(max_examples=100)
@given(problem=problems())
def test_parabolas_below_units(name, problem):
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
    ).without_idle_units()
    follow(region, excess, random)


@pytest.mark.parametrize("name", ["relu", "tanh", "logistic", "identity", "steps"])
@settings(max_examples=100)
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

    region = DeepRegion(
        **everything(len(drops), k), layers=layers, z=z, drops=drops, candidate=nothing(len(drops))
    )
    follow(region, Excess(len(drops), function), random)


def test_narrowing_beyond_the_size_leaves_nothing():
    region = LinearRegion(**everything(3, 1), constant=0.5, drops=np.array([1.0, 2.0, 3.0]))
    assert region.narrowed(np.array([True, True, False]), nothing(3), None) is None
    one = region.narrowed(np.array([False, True, False]), nothing(3), None)
    assert (one.removed, one.k, list(one.free)) == ((1,), 0, [0, 2])
