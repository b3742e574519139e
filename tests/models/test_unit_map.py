"""Units that share features: what goes with them, and bounds through them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from regions import Excess, everything, follow

from butfor.models import as_row
from butfor.models.bounds.hidden_layer import HiddenLayerRegion
from butfor.models.bounds.linear import LinearRegion
from butfor.models.formula.activations import Tanh
from butfor.models.local.overlapping import OverlappingRegion
from butfor.models.row_units import with_units


@st.composite
def clauses(draw):
    """Some bundles, each held by some clauses of some units."""
    n_units = draw(st.integers(1, 5))
    clause = st.lists(st.integers(0, n_units - 1), min_size=1, max_size=3).map(
        lambda h: tuple(sorted(set(h)))
    )
    bundles = draw(st.lists(st.lists(clause, min_size=1, max_size=3), min_size=1, max_size=6))
    return n_units, bundles


def gone_by_definition(bundles, removed):
    return [all(any(removed[unit] for unit in clause) for clause in bundle) for bundle in bundles]


def all_sets(n_units):
    return np.array(list(product([False, True], repeat=n_units)), dtype=bool).reshape(2**n_units, n_units)


@n_examples(200)
@given(held=clauses())
def test_a_bundle_is_gone_once_each_clause_has_lost_a_unit(held):
    n_units, bundles = held
    row = with_units(as_row(np.arange(1.0, len(bundles) + 1)), bundles, n_units)
    sets = all_sets(n_units)
    expected = np.array([gone_by_definition(bundles, removed) for removed in sets])
    np.testing.assert_array_equal(row.without(sets).toarray() == 0, expected)


def test_features_of_one_unit_each_need_no_unit_map():
    row = with_units(as_row([1, 1, 1]), [[(1,)], [(0,)], [(1,)]], 2)
    assert row.unit_map is None
    assert row.n_units == row.n_bundles == 2
    np.testing.assert_array_equal(row.without(np.array([[False, True]])).toarray(), [[0, 1, 0]])
    assert row.columns_without((1,)) == [0, 2]


def test_what_nothing_holds_never_goes():
    row = with_units(as_row([1, 1, 1]), [[], [(0,)], [(0,), ()]], 1)
    np.testing.assert_array_equal(row.without(np.array([[True]])).toarray(), [[1, 0, 1]])


@n_examples(200)
@given(held=clauses(), seed=st.integers(0, 1000))
def test_folding_gives_a_function_of_the_units_that_lies_below(held, seed):
    n_units, bundles = held
    unit_map = with_units(
        as_row(np.ones(len(bundles))), [*bundles[:-1], [*bundles[-1], bundles[-1][0]]], n_units
    ).unit_map
    if unit_map is None:
        return
    coefficients = np.random.default_rng(seed).normal(size=unit_map.n_bundles)
    sets = all_sets(n_units)
    shares = np.random.default_rng(seed + 1).random(unit_map.n_bundles)
    for share in (np.ones(unit_map.n_bundles), shares):
        constant, folded = unit_map.fold(coefficients, share)
        assert (constant + sets @ folded <= unit_map.gone(sets) @ coefficients + 1e-12).all()


@n_examples(200)
@given(held=clauses(), seed=st.integers(0, 1000))
def test_narrowing_keeps_the_same_bundles_going(held, seed):
    n_units, bundles = held
    unit_map = with_units(as_row(np.ones(len(bundles))), bundles, n_units).unit_map
    if unit_map is None:
        return
    fate = np.random.default_rng(seed).integers(0, 3, n_units)
    gone, stays = fate == 0, fate == 1
    narrowed, bundles_gone, bundles_kept = unit_map.narrowed(gone, stays)
    left = ~(bundles_gone | bundles_kept)
    for some in all_sets(int(stays.sum())):
        full = gone.copy()
        full[np.flatnonzero(stays)[some]] = True
        expected = unit_map.gone(full[np.newaxis])[0]
        assert expected[bundles_gone].all()
        assert not expected[bundles_kept].any()
        np.testing.assert_array_equal(narrowed.gone(some[np.newaxis])[0], expected[left])
    for k in range(int(stays.sum()) + 1):
        most = max(
            (
                int(narrowed.gone(some[np.newaxis]).sum())
                for some in all_sets(int(stays.sum()))
                if some.sum() <= k
            ),
        )
        assert most <= narrowed.most_bundles(k)


@pytest.mark.parametrize("kind", ["linear", "neurons"])
@n_examples(150)
@given(held=clauses(), seed=st.integers(0, 10_000), random=st.randoms())
def test_bounds_through_bundles_lose_no_flipping_set(kind, held, seed, random):
    n_units, bundles = held
    unit_map = with_units(as_row(np.ones(len(bundles))), bundles, n_units).unit_map
    if unit_map is None:
        return
    rng = np.random.default_rng(seed)
    n_bundles, constant = unit_map.n_bundles, float(rng.normal(scale=0.5))
    k = int(rng.integers(1, n_units + 1))
    drops, weights, z = rng.normal(size=(n_bundles, 3)), rng.normal(size=3), rng.normal(size=3)
    everything_of_bundles = everything(n_bundles, unit_map.most_bundles(k))
    if kind == "linear":
        inner = LinearRegion(**everything_of_bundles, constant=constant, drops=drops[:, 0])
        function = lambda gone: constant - gone @ drops[:, 0]  # noqa: E731
    else:
        tanh = Tanh()
        inner = HiddenLayerRegion.root(
            **everything_of_bundles, constant=constant, activation=tanh, weights=weights, z=z, drops=drops
        )
        function = lambda gone: constant + tanh.value(z - gone @ drops) @ weights  # noqa: E731
    region = OverlappingRegion(**everything(n_units, k), inner=inner, unit_map=unit_map)
    excess = Excess(n_units, lambda removed: function(unit_map.gone(removed > 0).astype(float)))
    follow(region, excess, random)
