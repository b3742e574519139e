"""Compiled loops do what numpy does, on rows of more units than a word has bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import loops
from profiles import n_examples
from random_trees import random_trees

from butfor.models import compiled, kernels
from butfor.models.bounds.ascent import Ascent
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.formula.trees.growing import INACTIVE, STAYS, reach
from butfor.models.formula.trees.local_leaves import LocalLeaves
from butfor.models.formula.trees.spines import Spines

SEEDS = st.integers(0, 2**32 - 1)
N_FEATURES = 300


def in_numpy(function):
    """Return the result of a function that must not use compiled loops."""
    with loops("plain"):
        return function()


def question(rng):
    """Return trees, and the units and values of a long row."""
    trees = random_trees(rng, N_FEATURES, n_trees=12, depth=7, plain=rng.random() < 0.5, whole=False)
    n_units = int(rng.integers(60, 200))
    unit_of = rng.choice(
        [INACTIVE, STAYS, *range(n_units)], N_FEATURES, p=[0.1, 0.1, *[0.8 / n_units] * n_units]
    )
    present = np.where(unit_of == INACTIVE, 0.0, rng.choice([1.0, -1.0, 2.7, 0.1, np.nan], N_FEATURES))
    return Spines.of(trees, np.zeros(1)), unit_of, present, n_units


def leaves_of(rng):
    """Return the leaves of a long row, with numbers for two functions."""
    spines, unit_of, present, n_units = question(rng)
    reached = reach(spines, unit_of, present, n_units)
    values = rng.normal(size=(len(reached.node), 2))
    return LocalLeaves(reached.must, reached.must | reached.keep, values, reached.tree, n_units)


@n_examples(60)
@given(seed=SEEDS)
def test_the_same_leaves_are_reached(seed):
    asked = question(np.random.default_rng(seed))
    ours, plain = reach(*asked), in_numpy(lambda: reach(*asked))
    seen = [
        sorted(zip(each.tree, each.node, map(bytes, each.must), map(bytes, each.keep), strict=True))
        for each in (ours, plain)
    ]
    assert seen[0] == seen[1]


@n_examples(60)
@given(seed=SEEDS)
def test_the_same_numbers_for_removal_sets(seed):
    rng = np.random.default_rng(seed)
    leaves = leaves_of(rng)
    removed = rng.random((9, leaves.n_units)) < rng.random((9, 1))
    np.testing.assert_allclose(leaves.without(removed), in_numpy(lambda: leaves.without(removed)), atol=1e-12)
    for each in removed[:3]:
        with_each, plain = leaves.with_each(each), in_numpy(lambda each=each: leaves.with_each(each))
        np.testing.assert_allclose(with_each, plain, atol=1e-12)


@n_examples(60)
@given(seed=SEEDS)
def test_the_same_trees_are_left_open(seed):
    rng = np.random.default_rng(seed)
    leaves = leaves_of(rng)
    ours, plain = OpenTrees.of(leaves), in_numpy(lambda: OpenTrees.of(leaves))
    assert_same(ours, plain)
    fate = rng.choice(["gone", "kept", "stays"], leaves.n_units, p=rng.dirichlet([1, 1, 3]))
    ours = ours.weighted(np.array([1.0, -0.5]))
    for gone, stays in ((fate == "gone", fate == "stays"), (fate == "", fate != "")):
        for k in (0, 2, 100):
            left = ours.fixed(gone, stays, k)
            expected = in_numpy(lambda gone=gone, stays=stays, k=k: ours.fixed(gone, stays, k))
            assert_same(left.trees, expected.trees)
            np.testing.assert_array_equal(left.pairs, expected.pairs)
            assert left.constant == pytest.approx(expected.constant)
            np.testing.assert_allclose(left.linear, expected.linear, atol=1e-12)


def assert_same(ours, plain):
    """Assert that trees have the same arrays."""
    for one, other in zip(ours.flat, plain.flat, strict=True):
        np.testing.assert_array_equal(one, other)


@n_examples(60)
@given(seed=SEEDS)
def test_the_same_step_uphill(seed):
    """From random slopes, at which no two leaves of a tree are equally low."""
    rng = np.random.default_rng(seed)
    leaves = leaves_of(rng)
    trees = OpenTrees.of(leaves).weighted(np.array([1.0, 0.7]))
    k, linear = int(rng.integers(0, leaves.n_units + 1)), rng.normal(size=leaves.n_units)
    slopes = rng.normal(size=len(trees.unit_of_pair))

    def first_step():
        ascent = Ascent(trees, 1.5, linear, k, 0.1, slopes.copy())
        assert ascent.advance()
        return (
            ascent.minorant.constant,
            ascent.minorant.coefficients,
            ascent.slopes,
            ascent.uphill,
            ascent.state,
        )

    for one, other in zip(first_step(), in_numpy(first_step), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_a_machine_without_numba(monkeypatch, caplog):
    """Nothing is said where it is not installed; where it cannot be used, a warning says why."""
    for error, n_warnings in (
        (ModuleNotFoundError("none", name="numba"), 0),
        (RuntimeError("no locator"), 1),
    ):

        def fails(name, error=error):
            raise error

        monkeypatch.setattr(compiled, "import_module", fails)
        kernels.cache_clear()
        assert kernels("trees") is None
        assert len(caplog.records) == n_warnings
    kernels.cache_clear()
