"""Sums of trees seen from a row are the sums that copies of the row reach, whatever is removed."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from random_trees import all_sets, random_case, random_row, random_trees
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from butfor import Explainer
from butfor.models import as_row, as_scorer, recognise
from butfor.models.formula.affine import LocalAffine
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees import growing
from butfor.models.formula.trees.tree_map import TreeMap, is_first

SEEDS = st.integers(0, 2**32 - 1)


@n_examples(500)
@given(seed=SEEDS, n_outputs=st.sampled_from([1, 1, 3]))
def test_every_removal_set_reaches_what_the_walk_reaches(seed, n_outputs):
    case = random_case(np.random.default_rng(seed), n_outputs=n_outputs)
    local = case.tree_map.at(case.row)
    np.testing.assert_array_equal(local.without(case.sets), case.walked(case.sets))


@n_examples(60)
@given(seed=SEEDS)
def test_numbers_of_any_size(seed):
    case = random_case(np.random.default_rng(seed), whole=False)
    local = case.tree_map.at(case.row)
    walked = case.walked(case.sets)
    np.testing.assert_allclose(local.without(case.sets), walked, rtol=0, atol=1e-13)
    assert (np.abs(walked) <= local.size + 1e-12).all()
    assert local.precision < 1e-13
    single = replace(case.tree_map, precision=np.float32).at(case.row)
    assert single.precision > 1e-6


@n_examples(60)
@given(seed=SEEDS)
def test_the_grain_divides_all_numbers(seed):
    case = random_case(np.random.default_rng(seed))
    tree_map = replace(case.tree_map, adds_up_votes=True)
    local = tree_map.at(case.row)
    assert tree_map.grain(case.row) == local.grain >= 0.25
    multiples = case.walked(case.sets) / local.grain
    np.testing.assert_array_equal(multiples, np.round(multiples))


@n_examples(60)
@given(seed=SEEDS, scale=st.sampled_from([-1.0, 0.5, 4.0]), shift=st.sampled_from([0.0, -1.25]))
def test_rescaled(seed, scale, shift):
    case = random_case(np.random.default_rng(seed))
    local = case.tree_map.rescaled(scale, shift).at(case.row)
    np.testing.assert_array_equal(local.without(case.sets), scale * case.walked(case.sets) + shift)


@n_examples(60)
@given(seed=SEEDS)
def test_weighted_and_side_by_side(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, n_outputs=3)
    local = case.tree_map.at(case.row)
    weights, bias = rng.integers(-2, 3, (3, 2)).astype(float), np.array([0.5, 0.0])
    expected = case.walked(case.sets)
    transformed = local.transformed(weights, bias)
    np.testing.assert_array_equal(transformed.without(case.sets), expected @ weights + bias)
    joined = LocalAffine.side_by_side([local, transformed, local])
    np.testing.assert_array_equal(
        joined.without(case.sets), np.hstack([expected, expected @ weights + bias, expected])
    )


def test_one_map_serves_rows_of_every_kind():
    """What a row without active features sees depends on the kind of table, and is kept for each."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        case = random_case(rng)
        tree_map = replace(case.tree_map, steps=Preprocessing())
        for row in (as_row(case.numbers), as_row(sparse.csr_matrix(case.numbers[np.newaxis]))) * 2:
            units = {int(column): i for i, column in enumerate(row.columns)}
            now = replace(case, tree_map=tree_map, row=row, unit_of=units)
            np.testing.assert_array_equal(tree_map.at(row).without(now.sets), now.walked(now.sets))


def test_a_scaler_rounds_rows_of_single_precision():
    """The scaled zero of a row of single precision is another number than that of double precision."""
    scaler = StandardScaler().fit([[0.1], [0.7], [0.9]])
    in_double, in_single = (
        float(scaler.transform(np.zeros((1, 1), dtype=dtype))[0, 0]) for dtype in (np.float64, np.float32)
    )
    assert in_double != in_single
    trees = random_trees(np.random.default_rng(0), 1, n_trees=1, depth=1, plain=True)
    trees = replace(trees, threshold=np.full(len(trees.feature), min(in_double, in_single)))
    assert len(trees.feature) == 3
    tree_map = TreeMap(trees, np.zeros(1), Preprocessing((scaler,)))
    for dtype in (np.float64, np.float32, np.float64):
        row = as_row(np.ones(1, dtype=dtype))
        gone = float(scaler.transform(np.zeros((1, 1), dtype=dtype))[0, 0])
        leaf = trees.left[0] if gone <= trees.threshold[0] else trees.right[0]
        without = tree_map.at(row).without(np.ones((1, 1), dtype=bool))
        np.testing.assert_array_equal(without, trees.values[[leaf]])


def test_a_scaler_may_make_an_active_feature_zero():
    """In dense rows that zero is another number than the scaled zero of a feature that is gone."""
    X = np.array([[1.0, 0.0], [3.0, 1.0], [2.0, 0.0], [1.0, 1.0]] * 3)
    model = make_pipeline(MinMaxScaler(), DecisionTreeClassifier(random_state=0)).fit(X, X[:, 0] > 1)
    tree = model[-1].tree_
    tree.threshold[0] = -0.25  # between the scaled zero, -0.5, and the scaled one, which is zero
    row = as_row(np.array([1.0, 1.0]))
    removed = all_sets(2)
    sums = recognise(as_scorer(model)).at(row).without(removed)[:, 0]
    expected = model.predict_proba(row.without(removed).toarray())[:, 1]
    assert set(expected) == {0.0, 1.0}
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("n_units", [64, 65, 130, 200])
def test_rows_of_several_words(n_units):
    rng = np.random.default_rng(n_units)
    case = random_case(rng)
    numbers = np.ones(n_units)
    trees = random_trees(rng, n_units + 3, n_trees=40, depth=6, plain=True)
    trees = replace(trees, threshold=np.full(len(trees.feature), 0.5))
    row = as_row(np.concatenate([numbers, np.zeros(3)]))
    case = replace(
        case,
        tree_map=TreeMap(trees, np.zeros(1), Preprocessing()),
        row=row,
        numbers=np.concatenate([numbers, np.zeros(3)]),
        unit_of={i: i for i in range(n_units)},
    )
    removed = rng.random((60, n_units)) < rng.random((60, 1))
    local = case.tree_map.at(row)
    np.testing.assert_array_equal(local.without(removed), case.walked(removed))
    assert local.leaves.must.shape[1] == -(-n_units // 64)
    for some in removed[:5]:
        sets = np.repeat(some[np.newaxis], n_units, axis=0) | np.eye(n_units, dtype=bool)
        np.testing.assert_array_equal(local.leaves.with_each(some), local.leaves.without(sets))


def now_at(tree_map, row):
    return float(tree_map.at(as_row(row)).now[0])


def test_whole_numbers_of_dense_rows_are_rounded_where_the_model_gets_them():
    """Behind a scaler they are whole numbers no more."""
    trees = random_trees(np.random.default_rng(0), 1, n_trees=1, depth=1, plain=True)
    left, right = (float(trees.values[child[0], 0]) for child in (trees.left, trees.right))
    assert left != right
    large = 2**24 + 1  # which single precision rounds down
    at = replace(trees, threshold=np.full(3, 2.0**24))
    rounding = TreeMap(at, np.zeros(1), Preprocessing(), rounds_integers=True)
    assert now_at(rounding, np.array([large])) == left
    assert now_at(rounding, np.array([float(large)])) == right
    assert now_at(rounding, sparse.csr_matrix([[large]])) == right
    selection = Preprocessing((VarianceThreshold().fit([[0], [1]]),))
    assert now_at(replace(rounding, steps=selection), np.array([large])) == left
    third = replace(trees, threshold=np.full(3, 1 / 3))  # which single precision rounds up
    scaler = Preprocessing((MaxAbsScaler().fit([[3], [1]]),))
    assert now_at(TreeMap(third, np.zeros(1), scaler, rounds_integers=True), np.array([1])) == left


def test_a_selection_of_few_features():
    """There are then more units than features of the trees."""
    rng = np.random.default_rng(0)
    X = (rng.random((200, 60)) < 0.5).astype(float)
    y = X[:, [3, 20, 33, 47, 58]].sum(axis=1) > 2.5
    model = make_pipeline(SelectKBest(k=6), RandomForestClassifier(20, random_state=0)).fit(X, y)
    row = as_row(sparse.csr_matrix(np.ones((1, 60))))
    removed = rng.random((60, 60)) < 0.5
    sums = recognise(as_scorer(model)).at(row).without(removed)[:, 0]
    np.testing.assert_allclose(sums / 20, model.predict_proba(row.without(removed))[:, 1], rtol=1e-12)


def test_a_tree_of_one_unit_is_affine():
    """Its two leaves are a drop of the unit, so that no leaf is left."""
    rng = np.random.default_rng(3)
    trees = random_trees(rng, 5, n_trees=12, depth=1, plain=True)
    row, _ = random_row(rng, 5)
    local = TreeMap(trees, np.zeros(1), Preprocessing()).at(row)
    assert local.leaves is None
    assert local.drops.any()


def test_rows_that_leave_too_much_open_are_asked_about(monkeypatch, caplog):
    monkeypatch.setattr(growing, "MAX_WORDS", 40)
    rng = np.random.default_rng(0)
    X = (rng.random((60, 8)) < 0.6).astype(float)
    model = RandomForestClassifier(10, random_state=0).fit(X, X[:, 0] + X[:, 1] * X[:, 2] > 0.5)
    with caplog.at_level(logging.INFO, logger="butfor"):
        assert Explainer(model).local_model(np.ones(8)).kind == "black box"
    assert "too much of the trees open" in caplog.text
    assert Explainer(model).explain(np.ones(8)).local_model == "black box"
    monkeypatch.undo()
    assert Explainer(model).local_model(np.ones(8)).kind == "tree ensemble"


def test_the_first_of_ascending_numbers():
    assert list(is_first(np.array([0, 0, 2, 3, 3]))) == [True, False, True, True, False]
