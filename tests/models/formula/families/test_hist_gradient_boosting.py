"""Histogram gradient boosting is read as the function that it is, categories included."""

from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from tree_walk import assert_sound, classes_of, rows_on_thresholds, sparse_numbers, walked_outputs

from butfor import Explainer
from butfor.models import as_row, as_scorer, recognise
from butfor.models.formula.families.hist_gradient_boosting import (
    MOST_CATEGORIES,
    read_hist_gradient_boosting,
)
from butfor.models.formula.preprocessing import Preprocessing

SMALL = {"max_iter": 6, "min_samples_leaf": 3, "max_leaf_nodes": 8}


def fit(kind="reals", n_classes=2, **options):
    X = sparse_numbers(3, kind, n_rows=200)
    y = classes_of(X, 4, n_classes)
    return HistGradientBoostingClassifier(**{**SMALL, **options}).fit(X.toarray(), y), X


@pytest.mark.parametrize("kind", ["bits", "counts", "reals"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_numbers(kind, n_classes):
    model, X = fit(kind, n_classes)
    network = read_hist_gradient_boosting(model, "decision_function", Preprocessing())
    trees = network.affine_maps[0].trees
    assert not trees.single
    trees.values[trees.feature >= 0] = 0.0
    assert_sound(trees)
    for rows in (X[:60].toarray(), rows_on_thresholds(trees, X)):
        outputs = walked_outputs(network, rows)
        expected = model.decision_function(rows).reshape(outputs.shape)
        np.testing.assert_allclose(outputs, expected, rtol=1e-12, atol=1e-13)
    by_probability = read_hist_gradient_boosting(model, "predict_proba", Preprocessing())
    assert by_probability.softmax == (n_classes > 2)


def test_missing_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=1.0) > 0.3) ^ np.isnan(X[:, 1])
    model = HistGradientBoostingClassifier(**SMALL).fit(X, y)
    network = read_hist_gradient_boosting(model, "decision_function", Preprocessing())
    outputs = walked_outputs(network, X)[:, 0]
    np.testing.assert_allclose(outputs, model.decision_function(X), rtol=1e-12, atol=1e-13)


CATEGORIES = np.array([0.0, 1.0, 2.0, 3.0, 7.0, 20.0])


def of_categories(with_zero=True, n_classes=2, seed=0):
    """Fit on two columns of categories and two of numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    X[:, [1, 3]] = rng.choice(CATEGORIES if with_zero else CATEGORIES[1:], (300, 2))
    signal = np.isin(X[:, 1], [0, 2, 7]) + 2 * np.isin(X[:, 3], [1, 20]) * (X[:, 0] > 0) + 0.4 * X[:, 2]
    y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return HistGradientBoostingClassifier(categorical_features=[1, 3], **SMALL).fit(X, y), X


@pytest.mark.parametrize("with_zero", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_categories(with_zero, n_classes):
    """Known ones, unknown ones, fractions, negative ones, and zero, which a removed feature becomes."""
    model, X = of_categories(with_zero, n_classes)
    rng = np.random.default_rng(1)
    rows = X[:40].copy()
    rows[:, [1, 3]] = rng.choice([*CATEGORIES, 5.0, 21.0, 500.0, 1.5, 0.5, -1.0, -0.5, 2000.0], (40, 2))
    for row in rows:
        active = np.flatnonzero(row)
        local = Explainer(model).local_model(row)
        assert local.kind == "tree ensemble"
        removed = np.array(list(product([False, True], repeat=len(active))))
        copies = np.repeat(row[np.newaxis], len(removed), axis=0)
        for copy, gone in zip(copies, removed, strict=True):
            copy[active[gone]] = 0
        z = local.network.outputs(local.affine.without(removed))
        expected = model.decision_function(copies).reshape(z.shape)
        np.testing.assert_allclose(z, expected, rtol=1e-11, atol=1e-12)


def test_more_categories_than_bits_of_a_word():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 90, (500, 2)).astype(float)
    y = np.isin(X[:, 0], rng.permutation(90)[:45]) ^ (X[:, 1] > 60)
    model = HistGradientBoostingClassifier(categorical_features=[0], **SMALL).fit(X, y)
    network = read_hist_gradient_boosting(model, "decision_function", Preprocessing())
    rows = np.column_stack([np.arange(120.0), np.full(120, 50.0)])
    np.testing.assert_allclose(categorical_outputs(network, rows), model.decision_function(rows), rtol=1e-12)


def categorical_outputs(network, rows):
    """Return the one output for dense rows, without removals."""
    return np.concatenate([network.at(as_row(row)).now for row in rows])


@pytest.mark.parametrize("change", [-3.0, 0.25, float(MOST_CATEGORIES)])
def test_categories_that_cannot_be_looked_up_are_refused(change):
    """Negative, fractional or very large ones among those that the model knows."""
    _, X = of_categories()
    X[X[:, 1] == 7.0, 1] = change
    model = HistGradientBoostingClassifier(categorical_features=[1], **SMALL).fit(X, X[:, 0] > 0)
    assert read_hist_gradient_boosting(model, "predict_proba", Preprocessing()) is None
    assert Explainer(model).local_model(X[0]).kind == "black box"


def test_subclasses_patched_methods_and_other_losses_are_refused():
    class Own(HistGradientBoostingClassifier):
        pass

    model, X = fit()
    assert recognise(as_scorer(model)) is not None
    assert recognise(as_scorer(Own(**SMALL).fit(X.toarray(), np.arange(200) % 2))) is None
    model.loss = "another"
    assert recognise(as_scorer(model)) is None
    model, _ = fit()
    model.predict_proba = model.predict_proba
    assert recognise(as_scorer(model)) is None
