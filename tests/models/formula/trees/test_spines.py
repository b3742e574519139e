"""Spines are a partition of the nodes, and each is the way of a row without active features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from random_trees import random_trees

from butfor.models.formula.trees.spines import Spines


@n_examples(150)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["zeros", "missing", "numbers"]))
def test_spines_are_the_ways_of_rows_without_active_features(seed, kind):
    rng = np.random.default_rng(seed)
    trees = random_trees(rng, 5)
    absent = {"zeros": np.zeros(1), "missing": np.full(1, np.nan), "numbers": rng.normal(size=5)}[kind]
    spines = Spines.of(trees, absent)
    moved, inner = spines.trees, spines.trees.feature >= 0
    n = len(moved.feature)
    values = np.broadcast_to(absent, 5)[np.maximum(moved.feature, 0)]
    goes_left = moved.goes_left(np.arange(n), values)
    np.testing.assert_array_equal(spines.absent_left[inner], goes_left[inner])
    on_spine = np.where(goes_left, moved.left, moved.right)
    np.testing.assert_array_equal(on_spine[inner], np.flatnonzero(inner) + 1)  # side by side
    other = np.where(goes_left, moved.right, moved.left)
    np.testing.assert_array_equal(spines.off_spine, np.where(inner, other, -1))
    # Each spine begins at a root or off another one, and ends in the next leaf.
    starts = np.sort(np.concatenate([moved.roots, spines.off_spine[inner]]))
    np.testing.assert_array_equal(starts, np.concatenate([[0], np.flatnonzero(~inner)[:-1] + 1]))
    leaves = np.flatnonzero(~inner)
    for node in range(n):
        assert spines.end[node] == leaves[leaves >= node][0]


@n_examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_trees_stay_the_same(seed):
    """Leaf by leaf, from the left to the right."""
    trees = random_trees(np.random.default_rng(seed), 5)
    moved = Spines.of(trees, np.zeros(1)).trees
    for old, new in zip(trees.roots, moved.roots, strict=True):
        assert drawn(trees, old) == drawn(moved, new)


def drawn(trees, node):
    """Return a tree as nested tuples."""
    if trees.feature[node] < 0:
        return tuple(trees.values[node])
    at = int(trees.feature[node]), float(trees.threshold[node]), bool(trees.missing_left[node])
    if trees.zero_is_missing is not None:
        at = (*at, bool(trees.zero_is_missing[node]))
    if trees.categories is not None:
        start, count = trees.categories.start[node], trees.categories.count[node]
        left = tuple(trees.categories.goes_left[start : start + count]) if start >= 0 else None
        at = (*at, left, bool(trees.categories.others_left[node]))
    return at, drawn(trees, trees.left[node]), drawn(trees, trees.right[node])


@pytest.mark.parametrize("depth", [0, 3000])
def test_trees_of_one_leaf_and_very_deep_ones(depth):
    """A chain: the left child is a leaf, the right one goes on."""
    nodes = np.arange(2 * depth + 1)
    inner = (nodes % 2 == 0) & (nodes < 2 * depth)
    trees = random_trees(np.random.default_rng(0), 1, n_trees=1, depth=0, plain=True)
    chain = type(trees)(
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, -1.0, 0.0),
        left=np.where(inner, nodes + 1, -1).astype(np.int32),
        right=np.where(inner, nodes + 2, -1).astype(np.int32),
        missing_left=np.zeros(len(nodes), dtype=bool),
        values=np.zeros((len(nodes), 1)),
        roots=np.zeros(1, dtype=np.int32),
    )
    spines = Spines.of(chain, np.zeros(1))
    assert spines.end[0] == depth  # the whole chain is one spine
    assert not spines.trees.feature[depth:].max(initial=-1) >= 0
