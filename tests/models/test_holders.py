"""Units that share features: what goes with them, and bounds through them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_region import Excess, everything, follow

from butfor.models.activations import Tanh
from butfor.models.linear_region import LinearRegion
from butfor.models.overlapping import OverlappingRegion
from butfor.models.row import as_row
from butfor.models.unit_region import UnitRegion
from butfor.models.units import with_units


@st.composite
def holdings(draw):
    """Some parts, each held by some holdings of some units."""
    n_units = draw(st.integers(1, 5))
    holding = st.lists(st.integers(0, n_units - 1), min_size=1, max_size=3).map(
        lambda h: tuple(sorted(set(h)))
    )
    parts = draw(st.lists(st.lists(holding, min_size=1, max_size=3), min_size=1, max_size=6))
    return n_units, parts


def gone_by_definition(parts, removed):
    return [all(any(removed[unit] for unit in holding) for holding in part) for part in parts]


def all_sets(n_units):
    return np.array(list(product([False, True], repeat=n_units)), dtype=bool).reshape(2**n_units, n_units)


@settings(max_examples=200)
@given(held=holdings())
def test_a_part_is_gone_once_each_holding_has_lost_a_unit(held):
    n_units, parts = held
    row = with_units(as_row(np.arange(1.0, len(parts) + 1)), parts, n_units)
    sets = all_sets(n_units)
    expected = np.array([gone_by_definition(parts, removed) for removed in sets])
    np.testing.assert_array_equal(row.without(sets).toarray() == 0, expected)


def test_features_of_one_unit_each_need_no_holders():
    row = with_units(as_row([1, 1, 1]), [[(1,)], [(0,)], [(1,)]], 2)
    assert row.holders is None
    assert row.n_units == row.n_parts == 2
    np.testing.assert_array_equal(row.without(np.array([[False, True]])).toarray(), [[0, 1, 0]])
    assert row.columns_without((1,)) == [0, 2]


def test_what_nothing_holds_never_goes():
    row = with_units(as_row([1, 1, 1]), [[], [(0,)], [(0,), ()]], 1)
    np.testing.assert_array_equal(row.without(np.array([[True]])).toarray(), [[1, 0, 1]])


@settings(max_examples=200)
@given(held=holdings(), seed=st.integers(0, 1000))
def test_folding_gives_a_function_of_the_units_that_lies_below(held, seed):
    n_units, parts = held
    holders = with_units(
        as_row(np.ones(len(parts))), [*parts[:-1], [*parts[-1], parts[-1][0]]], n_units
    ).holders
    if holders is None:
        return
    coefficients = np.random.default_rng(seed).normal(size=holders.n_parts)
    sets = all_sets(n_units)
    shares = np.random.default_rng(seed + 1).random(holders.n_parts)
    for share in (np.ones(holders.n_parts), shares):
        constant, folded = holders.fold(coefficients, share)
        assert (constant + sets @ folded <= holders.gone(sets) @ coefficients + 1e-12).all()


@settings(max_examples=200)
@given(held=holdings(), seed=st.integers(0, 1000))
def test_narrowing_keeps_the_same_parts_going(held, seed):
    n_units, parts = held
    holders = with_units(as_row(np.ones(len(parts))), parts, n_units).holders
    if holders is None:
        return
    fate = np.random.default_rng(seed).integers(0, 3, n_units)
    gone, stays = fate == 0, fate == 1
    narrowed, parts_gone, parts_kept = holders.narrowed(gone, stays)
    left = ~(parts_gone | parts_kept)
    for some in all_sets(int(stays.sum())):
        full = gone.copy()
        full[np.flatnonzero(stays)[some]] = True
        expected = holders.gone(full[np.newaxis])[0]
        assert expected[parts_gone].all()
        assert not expected[parts_kept].any()
        np.testing.assert_array_equal(narrowed.gone(some[np.newaxis])[0], expected[left])
    for k in range(int(stays.sum()) + 1):
        most = max(
            (
                int(narrowed.gone(some[np.newaxis]).sum())
                for some in all_sets(int(stays.sum()))
                if some.sum() <= k
            ),
        )
        assert most <= narrowed.most_parts(k)


@pytest.mark.parametrize("kind", ["linear", "units"])
@settings(max_examples=150)
@given(held=holdings(), seed=st.integers(0, 10_000), random=st.randoms())
def test_bounds_through_parts_lose_no_flipping_set(kind, held, seed, random):
    n_units, parts = held
    holders = with_units(as_row(np.ones(len(parts))), parts, n_units).holders
    if holders is None:
        return
    rng = np.random.default_rng(seed)
    n_parts, constant = holders.n_parts, float(rng.normal(scale=0.5))
    k = int(rng.integers(1, n_units + 1))
    drops, weights, z = rng.normal(size=(n_parts, 3)), rng.normal(size=3), rng.normal(size=3)
    everything_of_parts = everything(n_parts, holders.most_parts(k))
    if kind == "linear":
        inner = LinearRegion(**everything_of_parts, constant=constant, drops=drops[:, 0])
        function = lambda gone: constant - gone @ drops[:, 0]  # noqa: E731
    else:
        tanh = Tanh()
        inner = UnitRegion.root(
            **everything_of_parts, constant=constant, activation=tanh, weights=weights, z=z, drops=drops
        )
        function = lambda gone: constant + tanh.value(z - gone @ drops) @ weights  # noqa: E731
    region = OverlappingRegion(**everything(n_units, k), parts=inner, holders=holders)
    excess = Excess(n_units, lambda removed: function(holders.gone(removed > 0).astype(float)))
    follow(region, excess, random)
