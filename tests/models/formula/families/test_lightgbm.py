"""LightGBM's models are read as the functions that they are."""

import warnings

import lightgbm
import numpy as np
import pytest
from scipy import sparse
from tree_walk import (
    TINY,
    assert_sound,
    classes_of,
    probabilities_of,
    rows_on_thresholds,
    sparse_numbers,
    squared_error,
    walked_outputs,
    walked_probabilities,
)

from butfor.models.formula.families.lightgbm import read_lightgbm
from butfor.models.formula.preprocessing import Preprocessing

QUIET = {"verbose": -1, "n_jobs": 1, "random_state": 0}
SMALL = {"n_estimators": 12, "num_leaves": 9, "min_child_samples": 3}
CATEGORICAL = {"min_data_per_group": 2, "cat_smooth": 1.0, "cat_l2": 0.1, "max_cat_to_onehot": 3}


def fit(X, y, fit_options=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lightgbm.LGBMClassifier(**{**QUIET, **SMALL, **options})
        return model.fit(X, y, **(fit_options or {}))


def train(X, y, n_rounds=10, **options):
    options = {"num_leaves": 9, "min_data_in_leaf": 3, "verbose": -1, "num_threads": 1, "seed": 0, **options}
    return lightgbm.train(options, lightgbm.Dataset(X, y), n_rounds)


def read(model, method="predict_proba"):
    return read_lightgbm(model, method, Preprocessing())


def questions(network, X):
    """Return rows of every form: as fitted, dense, on thresholds, and with numbers that are almost zero."""
    at = rows_on_thresholds(network.affine_maps[0].trees, X)
    tiny = np.where(at == 0, np.random.default_rng(1).choice([-TINY / 2, TINY / 2, TINY], at.shape), at)
    # The last number that is zero in dense rows, and nowhere else, is a threshold.
    dense = [np.where(rows == -TINY, 0, rows) for rows in (at, tiny, -at)]
    return X[:60], X[:60].toarray(), sparse.csr_matrix(at), sparse.csr_matrix(tiny), *dense


def assert_reads(model, X):
    """Compare what was read with the model itself, on all rows in question."""
    network = read(model)
    assert network.kind == "tree ensemble"
    trees = network.affine_maps[0].trees
    assert_sound(trees)
    booster = getattr(model, "booster_", model)
    assert len(network.affine_maps[0].bias) == booster.num_model_per_iteration()
    for rows in questions(network, X):
        outputs = walked_outputs(network, rows)
        raw = booster.predict(rows, raw_score=True, num_threads=1).reshape(outputs.shape)
        np.testing.assert_allclose(outputs / factor(booster, trees), raw, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(probabilities_of(network, outputs), asked(model, rows), rtol=1e-11)
    return network


def factor(booster, trees):
    """Return by what the sums of the trees are multiplied before the link."""
    n_rounds = len(trees.roots) // booster.num_model_per_iteration()
    head = booster.model_to_string().partition("\nTree=")[0]
    slope = float(head.partition("sigmoid:")[2].split()[0]) if "sigmoid:" in head else 1.0
    return slope / n_rounds if "\naverage_output\n" in head else slope


def asked(model, rows):
    """Return the model's own probabilities."""
    if isinstance(model, lightgbm.LGBMClassifier):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.predict_proba(rows)
    answers = model.predict(rows, num_threads=1)
    return answers if answers.ndim == 2 else np.column_stack([1 - answers, answers])


@pytest.mark.parametrize("kind", ["bits", "counts", "reals"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting_type": "dart", "drop_rate": 0.5},
        {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1},
        {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1, "sigmoid": 0.5},
        {"data_sample_strategy": "goss"},
        {"sigmoid": 2.0},
        {"sigmoid": 0.3, "is_unbalance": True},
        {"scale_pos_weight": 3.0, "boost_from_average": False},
        {"objective": "cross_entropy"},
        {"extra_trees": True, "path_smooth": 1.0, "max_bin": 7},
    ],
    ids=lambda options: " ".join(map(str, options.values())) or "default",
)
def test_two_classes(kind, options):
    X = sparse_numbers(1, kind)
    assert_reads(fit(X, classes_of(X, 2), **options), X)


@pytest.mark.parametrize("boosting", ["gbdt", "dart", "rf"])
def test_many_classes(boosting):
    X = sparse_numbers(3, "reals")
    model = fit(X, classes_of(X, 4, 4), boosting_type=boosting, subsample=0.6, subsample_freq=1)
    network = assert_reads(model, X)
    assert network.softmax


@pytest.mark.parametrize(
    "options", [{}, {"zero_as_missing": True}, {"sigmoid": 2.0}, {"boosting_type": "rf"}]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_scores(options, n_classes):
    X = sparse_numbers(5, "reals")
    objective = "binary" if n_classes == 2 else "multiclassova"
    more = {"objective": objective, "subsample": 0.6, "subsample_freq": 1}
    model = fit(X, classes_of(X, 6, n_classes), **more, **options)
    network = read(model, "decision_function")
    for rows in questions(network, X):
        raw = model.predict_proba(rows, raw_score=True).reshape(len(walked_outputs(network, rows)), -1)
        np.testing.assert_allclose(walked_outputs(network, rows), raw, rtol=1e-12, atol=1e-13)


def test_missing_values_go_where_the_model_sends_them():
    rng = np.random.default_rng(0)
    X = sparse_numbers(7, "reals").toarray()
    X[:, :4][rng.random((len(X), 4)) < 0.3] = np.nan
    y = classes_of(sparse.csr_matrix(np.nan_to_num(X, nan=1.0)), 8)
    for options in ({}, {"use_missing": False}, {"zero_as_missing": True}):
        model = fit(X, y, **options)
        asked_rows = X[:80].copy()
        asked_rows[rng.random(asked_rows.shape) < 0.3] = np.nan
        for rows in (asked_rows, sparse.csr_matrix(asked_rows)):
            np.testing.assert_allclose(
                walked_probabilities(read(model), rows), model.predict_proba(rows), rtol=1e-11
            )


@pytest.mark.parametrize(
    "options", [{}, {"zero_as_missing": True}, {"use_missing": False}, {"max_cat_to_onehot": 50}]
)
def test_categories(options):
    X = sparse_numbers(9, "categories", n_rows=600)
    y = np.isin(X.toarray(), [0, 3, 5, 17, 33, 38]).sum(axis=1) % 2
    y = np.where(X.toarray()[:, 6] > 20, 1 - y, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(X, y, {"categorical_feature": [0, 1, 2]}, **{**CATEGORICAL, **options})
    network = assert_reads(model, X)
    categories = network.affine_maps[0].trees.categories
    by_category = categories.start >= 0
    assert 0 < by_category.sum() < (network.affine_maps[0].trees.feature >= 0).sum()
    odd = np.array([-7.0, -1.0, -0.5, 0.5, 2.9, 31.0, 32.0, 63.0, 64.0, 1000.0, 2.0**31, 2.0**32 + 3, np.nan])
    rows = np.random.default_rng(0).choice(odd, (80, X.shape[1]))
    np.testing.assert_allclose(walked_probabilities(network, rows), model.predict_proba(rows), rtol=1e-11)


def test_the_best_iteration_ends_the_trees():
    X = sparse_numbers(11, "counts")
    y = classes_of(X, 12)
    stopping = lightgbm.early_stopping(3, verbose=False)
    held_out = {"eval_set": [(X[:80], y[:80])], "callbacks": [stopping]}
    model = fit(X[80:], y[80:], held_out, n_estimators=60, learning_rate=0.3)
    assert 2 < model.best_iteration_ < 60
    assert len(assert_reads(model, X).affine_maps[0].trees.roots) == model.best_iteration_
    model.booster_.best_iteration = 2
    assert len(assert_reads(model, X).affine_maps[0].trees.roots) == 2


@pytest.mark.parametrize("objective", ["binary", "cross_entropy", "multiclass"])
def test_boosters(objective):
    X = sparse_numbers(13, "reals")
    y = classes_of(X, 14, 3 if objective == "multiclass" else 2)
    more = {"num_class": 3} if objective == "multiclass" else {}
    booster = train(X, y, objective=objective, **more)
    assert_reads(booster, X)
    assert_reads(lightgbm.Booster(model_str=booster.model_to_string()), X)
    booster.best_iteration = 4
    assert_reads(booster, X)


def test_trees_of_one_leaf():
    X = sparse_numbers(15, "bits")
    y = classes_of(X, 16)
    network = assert_reads(fit(X, y, min_child_samples=10_000), X)
    assert (network.affine_maps[0].trees.feature < 0).all()
    trees = assert_reads(fit(X, classes_of(X, 16, 3), min_split_gain=4.0), X).affine_maps[0].trees
    assert len(set(trees.feature[trees.roots] < 0)) == 2


def test_more_columns_than_the_model_holds_in_a_buffer():
    X = sparse_numbers(17, "counts")
    wide = sparse.csr_matrix((X.data, X.indices * 20_000, X.indptr), shape=(X.shape[0], 160_000))
    model = fit(wide, classes_of(X, 18), n_estimators=3, zero_as_missing=True)
    network = read(model)
    assert network.affine_maps[0].trees.n_features > 100_000
    np.testing.assert_allclose(
        walked_probabilities(network, wide[:40]), model.predict_proba(wide[:40]), rtol=1e-11
    )


def test_models_that_were_trained_again():
    X = sparse_numbers(19, "reals")
    y = classes_of(X, 20)
    first = fit(X, y, {"init_score": np.ones(len(y))})
    assert_reads(fit(X, 1 - y, {"init_model": first}), X)
    booster = train(X, y, objective="binary")
    assert_reads(booster.refit(X[:100], 1 - y[:100], decay_rate=0.3), X)


X_REFUSED = sparse_numbers(21, "reals")
Y_REFUSED = classes_of(X_REFUSED, 22)
Y_MANY = classes_of(X_REFUSED, 22, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"linear_tree": True},
        {"objective": squared_error},
        {"objective": "regression"},
        {"objective": "cross_entropy_lambda"},
        {"pred_early_stop": True},
        {"sigmoid": 0.123456789},
    ],
)
def test_refused(options):
    model = fit(X_REFUSED.toarray(), Y_REFUSED, **options)
    assert read(model) is None


def test_refused_with_many_classes():
    assert read(fit(X_REFUSED, Y_MANY, objective="multiclassova")) is None
    assert read(train(X_REFUSED, Y_REFUSED, objective="multiclass", num_class=2)) is None
    assert read(fit(X_REFUSED, Y_MANY, objective=lambda y, s: (s, np.ones_like(s)))) is None


def test_refused_with_categories_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": Y_REFUSED, "b": X_REFUSED.toarray()[:, 0].round()})
    model = fit(frame.astype({"b": "category"}), Y_REFUSED)
    assert read(model) is None
    assert read(fit(frame, Y_REFUSED)) is not None


def test_refused_methods():
    model = fit(X_REFUSED, Y_REFUSED)
    assert read(model, "predict") is None
    assert read(model, "decision_function").link != read(model).link


def test_predictions_that_stop_early_are_other_ones():
    model = fit(X_REFUSED, Y_REFUSED, n_estimators=60, pred_early_stop=True, pred_early_stop_margin=0.5)
    exact = model.booster_.predict(X_REFUSED)
    assert np.abs(model.predict_proba(X_REFUSED)[:, 1] - exact).max() > 0.01
    assert read(model) is None
    assert read(fit(X_REFUSED, Y_REFUSED, pred_early_stop=False)) is not None
    assert_reads(train(X_REFUSED, Y_REFUSED, objective="binary", pred_early_stop=True), X_REFUSED)
