"""Leaves as functions of the removal set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from random_trees import random_case

from butfor.models.formula.trees import local_leaves as module
from butfor.models.formula.trees.local_leaves import LocalLeaves, as_bits, as_words

pytestmark = pytest.mark.usefixtures("both_loops")


def leaves_of(rng, n_outputs=1):
    """Return the leaves of a random row, and all of its removal sets."""
    while True:
        case = random_case(rng, n_outputs=n_outputs)
        leaves = case.tree_map.at(case.row).leaves
        if leaves is not None:
            return leaves, case.sets


def plain_sums(leaves, sets):
    """Add up leaf by leaf, in plain Python."""
    must, care = as_bits(leaves.must, leaves.n_units), as_bits(leaves.care, leaves.n_units)
    sums = np.zeros((len(sets), leaves.values.shape[1]))
    for i, removed in enumerate(sets):
        for leaf in range(len(leaves)):
            if (removed[care[leaf]] == must[leaf][care[leaf]]).all():
                sums[i] += leaves.values[leaf]
    return sums


@n_examples(60)
@given(seed=st.integers(0, 2**32 - 1), n_outputs=st.sampled_from([1, 3]))
def test_values_for_removal_sets(seed, n_outputs):
    leaves, sets = leaves_of(np.random.default_rng(seed), n_outputs)
    np.testing.assert_array_equal(leaves.without(sets), plain_sums(leaves, sets))
    assert not leaves.without(sets[:1]).any()  # the row itself
    assert leaves.without(sets[:0]).shape == (0, n_outputs)
    n_trees = leaves.tree[-1] + 1
    assert (leaves.reached(sets).sum(axis=0) == n_trees).all()


@n_examples(60)
@given(seed=st.integers(0, 2**32 - 1), n_outputs=st.sampled_from([1, 3]))
def test_with_each_single_unit_more(seed, n_outputs):
    rng = np.random.default_rng(seed)
    leaves, sets = leaves_of(rng, n_outputs)
    for removed in sets[rng.permutation(len(sets))[:6]]:
        with_each = removed | np.eye(leaves.n_units, dtype=bool)
        np.testing.assert_array_equal(leaves.with_each(removed), leaves.without(with_each))


def test_many_sets_are_looked_at_in_parts(monkeypatch):
    leaves, sets = leaves_of(np.random.default_rng(1))
    expected = leaves.without(sets)
    for cells in (1, 3 * len(leaves)):
        monkeypatch.setattr(module, "MAX_CELLS", cells)
        np.testing.assert_array_equal(leaves.without(sets), expected)


def test_side_by_side():
    rng = np.random.default_rng(2)
    leaves, sets = leaves_of(rng, 3)
    weights = rng.integers(-2, 3, (3, 2)).astype(float)
    other = leaves.transformed(weights)
    joined = LocalLeaves.side_by_side([None, leaves, None, other], [1, 3, 2, 2])
    own = leaves.without(sets)
    zeros = np.zeros((len(sets), 3))
    expected = np.hstack([zeros[:, :1], own, zeros[:, :2], own @ weights])
    np.testing.assert_array_equal(joined.without(sets), expected)
    assert list(np.unique(joined.tree)) == list(range(2 * (leaves.tree[-1] + 1)))
    assert LocalLeaves.side_by_side([None, None], [1, 2]) is None


@pytest.mark.parametrize("n_units", [0, 1, 63, 64, 65, 128, 129, 200])
def test_words_and_bits(n_units):
    sets = np.random.default_rng(n_units).random((20, n_units)) < 0.4
    words = as_words(sets)
    assert words.shape == (20, max(1, -(-n_units // 64)))
    for line, some in zip(words, sets, strict=True):
        number = sum(int(word) << (64 * i) for i, word in enumerate(line))
        assert number == sum(1 << int(unit) for unit in np.flatnonzero(some))
    np.testing.assert_array_equal(as_bits(words, n_units), sets)


@n_examples(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_literals_are_the_conditions_of_leaves(seed):
    leaves, _ = leaves_of(np.random.default_rng(seed))
    leaf, unit, must = leaves.literals
    assert (np.diff(leaf) >= 0).all()
    care = np.zeros((len(leaves), leaves.n_units), dtype=bool)
    care[leaf, unit] = True
    np.testing.assert_array_equal(care, as_bits(leaves.care, leaves.n_units))
    np.testing.assert_array_equal(as_bits(leaves.must, leaves.n_units)[leaf, unit], must)
