"""Nodes compare as the libraries do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from random_trees import random_case, random_trees

from butfor.models.formula.trees.nodes import ALMOST_ZERO, Categories, Trees, joined


def stumps(threshold, **options):
    """Return trees of one split each, by these thresholds: the node 3i and its leaves."""
    n = len(threshold)
    return Trees(
        feature=np.tile(np.array([0, -1, -1], dtype=np.int32), n),
        threshold=np.repeat(np.asarray(threshold, dtype=float), 3),
        left=np.ravel([[3 * i + 1, -1, -1] for i in range(n)]).astype(np.int32),
        right=np.ravel([[3 * i + 2, -1, -1] for i in range(n)]).astype(np.int32),
        missing_left=np.zeros(3 * n, dtype=bool),
        values=np.zeros((3 * n, 1)),
        roots=np.arange(0, 3 * n, 3, dtype=np.int32),
        **options,
    )


def test_at_most_the_threshold_goes_left_in_double_precision():
    at = 0.1
    trees = stumps([at, np.nextafter(at, -1), np.nextafter(at, 1)])
    assert list(trees.goes_left(trees.roots, np.full(3, at))) == [True, False, True]


def test_values_are_rounded_to_single_precision_and_thresholds_are_not():
    rounded = float(np.float32(0.1))
    assert rounded > 0.1
    trees = stumps([0.1, rounded, np.nextafter(rounded, -1)], single=True)
    assert list(trees.goes_left(trees.roots, np.full(3, 0.1))) == [False, True, False]


def test_what_is_too_large_for_single_precision_is_infinite():
    trees = stumps([3e38, -3e38], single=True)
    assert list(trees.goes_left(trees.roots, np.array([1e300, -1e300]))) == [False, True]


@pytest.mark.parametrize("missing_left", [False, True])
def test_missing_values(missing_left):
    trees = stumps([1.0, -1.0, 1.0, -1.0, 1.0])
    trees.missing_left[:] = missing_left
    assert (trees.goes_left(trees.roots, np.full(5, np.nan)) == missing_left).all()
    by_zero = stumps([1.0, -1.0, 1.0, -1.0, 1.0], zero_is_missing=np.ones(15, dtype=bool))
    by_zero.missing_left[:] = missing_left
    values = np.array([0.0, ALMOST_ZERO, -ALMOST_ZERO, math.nan, np.nextafter(ALMOST_ZERO, 1)])
    left = by_zero.goes_left(by_zero.roots, values)
    assert (left[:4] == missing_left).all()
    assert left[4]  # no zero any more, and below the threshold


@pytest.mark.parametrize(
    ("fractions", "expected"),
    [
        # of -1, -0.5, 0, 0.5, 1, 1.9, 2, 3 and 1e300
        ("cut", "LrrrLLrLL"),
        ("cut if positive", "LLrrLLrLL"),
        ("unknown", "LLrLLLrLL"),
    ],
)
def test_categories(fractions, expected):
    """Zero and two go right, one goes left; what is no known category goes left."""
    trees = stumps([0.0] * 9)
    start = np.where(trees.feature >= 0, 0, -1).astype(np.int64)
    categories = Categories(
        start=start,
        count=np.where(start >= 0, 3, 0),
        goes_left=np.array([False, True, False]),
        others_left=np.ones(27, dtype=bool),
        fractions=fractions,
    )
    values = np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 1.9, 2.0, 3.0, 1e300])
    assert "".join("L" if left else "r" for left in categories.left(trees.roots, values)) == expected


def test_a_missing_category_is_a_missing_value():
    trees = stumps([0.0])
    categories = Categories(
        np.array([0, -1, -1]), np.array([1, 0, 0]), np.array([True]), np.ones(3, dtype=bool)
    )
    with_categories = Trees(**{**vars(trees), "categories": categories})
    nodes = np.zeros(3, dtype=int)
    assert list(with_categories.goes_left(nodes, np.array([np.nan, 0.0, 5.0]))) == [False, True, True]


@n_examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_another_order_is_the_same_trees(seed):
    """Nodes keep all that belongs to them, categories included."""
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    trees = case.tree_map.trees
    order = rng.permutation(len(trees.feature))
    place = np.argsort(order)
    left, right = (
        np.where(each < 0, -1, place[each])[order].astype(np.int32) for each in (trees.left, trees.right)
    )
    moved = trees.take(order, left=left, right=right, roots=place[trees.roots].astype(np.int32))
    nodes = np.flatnonzero(trees.feature >= 0)
    for value in (0.0, 1.0, 2.7, -0.3, np.nan):
        values = np.full(len(nodes), value)
        np.testing.assert_array_equal(trees.goes_left(nodes, values), moved.goes_left(place[nodes], values))


def test_joined_trees_lie_one_behind_the_other():
    rng = np.random.default_rng(0)
    members = [random_trees(rng, 4, n_trees=1, plain=True) for _ in range(5)]
    together = joined(members)
    sizes = [len(each.feature) for each in members]
    np.testing.assert_array_equal(together.roots, np.cumsum([0, *sizes[:-1]]))
    for member, root in zip(members, together.roots, strict=True):
        own = slice(root, root + len(member.feature))
        for name in ("feature", "threshold", "missing_left", "values"):
            np.testing.assert_array_equal(getattr(together, name)[own], getattr(member, name))
        for name in ("left", "right"):
            children = getattr(together, name)[own]
            np.testing.assert_array_equal(np.where(children < 0, -1, children - root), getattr(member, name))


def test_the_number_of_features():
    assert stumps([0.0]).n_features == 1
    leaf = Trees(**{**vars(stumps([0.0])), "feature": np.full(3, -1, dtype=np.int32)})
    assert leaf.n_features == 0


def test_rescaled():
    trees = random_trees(np.random.default_rng(0), 3)
    np.testing.assert_array_equal(trees.rescaled(-2.0).values, -2 * trees.values)
