"""Fast local models are the same function as the model, on the real sparse rows."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_catalogue import (
    BENT,
    BLACK_BOX,
    CALIBRATED,
    DENSE,
    DENSE_TREES,
    FAST,
    FOR_POSITIVE_VALUES,
    LINEAR,
    MIXED,
    data,
    thresholds,
)
from profiles import n_examples
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from butfor import Explainer
from butfor.models import as_row, as_scorer, local_model, recognise
from butfor.models.arrays import prefixes


def fit(model, known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(known.X, known.y)


def real_rows(row, removed):
    """Put zeros into dense copies of the row, by hand; rows of CSR become CSR again."""
    full = np.asarray(row.toarray() if sparse.issparse(row) else row).reshape(1, -1)
    changed = np.repeat(full, len(removed), axis=0)
    active = np.flatnonzero(full[0])
    for copy, gone in zip(changed, removed, strict=True):
        copy[active[gone]] = 0
    return sparse.csr_matrix(changed) if sparse.issparse(row) else changed


def real_scores(scorer, row, removed):
    """Ask the model itself about these rows."""
    return np.asarray(scorer.function(real_rows(row, removed)), dtype=float)


def assert_agrees(model, X, seed, tolerance=1e-9):
    scorer = as_scorer(model)
    explainer = Explainer(model)
    rng = np.random.default_rng(seed)
    for i in rng.integers(0, X.shape[0], 2):
        row = X[[i]]
        n_active = row.nnz if sparse.issparse(row) else np.count_nonzero(row)
        if n_active == 0:
            continue
        local = explainer.local_model(row)
        assert local.kind != "black box"
        removed = rng.random((12, n_active)) < rng.random((12, 1))
        changed = real_rows(row, removed)
        expected = real_scores(scorer, row, removed)
        close = {"rtol": tolerance, "atol": tolerance * max(1e-3, np.abs(expected).max())}
        np.testing.assert_allclose(local.reported(local.scores(removed)), expected, **close)
        flips = model.predict(changed) != model.predict(row)
        np.testing.assert_array_equal(local.flips(local.scores(removed)), flips)
        order = rng.permutation(n_active)[:12]
        with_first = prefixes(order, n_active)
        first_gone = local.scores_of_prefixes(order)
        np.testing.assert_allclose(local.reported(first_gone), real_scores(scorer, row, with_first), **close)
        flips = model.predict(real_rows(row, with_first)) != model.predict(row)
        np.testing.assert_array_equal(local.flips(first_gone), flips)
        some = tuple(np.flatnonzero(removed[0]))
        others = np.flatnonzero(~removed[0])
        if not len(others):
            continue
        sets = np.repeat(removed[:1], len(others), axis=0)
        sets[np.arange(len(others)), others] = True
        np.testing.assert_allclose(
            local.reported(local.scores_with_each(some, others)),
            real_scores(scorer, row, sets),
            **close,
        )


@cache
def fitted(name, values, dtype=np.float64):
    known = data(values, dtype=dtype)
    return fit((FAST | FOR_POSITIVE_VALUES)[name], known), known.X


@pytest.mark.parametrize("name", FAST)
@n_examples(4)
@given(seed=st.integers(0, 1000))
def test_the_formula_is_the_model(name, seed):
    for values in ("bits", "counts", "reals", "positive"):
        assert_agrees(*fitted(name, values), seed)


@pytest.mark.parametrize("name", FOR_POSITIVE_VALUES)
@n_examples(4)
@given(seed=st.integers(0, 1000))
def test_the_formula_is_the_model_where_values_must_be_positive(name, seed):
    for values in ("bits", "counts", "positive"):
        assert_agrees(*fitted(name, values), seed)


@pytest.mark.parametrize("name", DENSE | DENSE_TREES)
def test_the_formula_is_the_model_on_dense_rows(name):
    known = data("counts" if "categories" in name else "reals", dense=True)
    model = fit((DENSE | DENSE_TREES)[name], known)
    for seed in range(10):
        assert_agrees(model, known.X, seed)


def of_library(library):
    """Return a small classifier of a tree library, and how far its own arithmetic may be off."""
    if library == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=8, min_child_samples=3, n_jobs=1, verbose=-1), 1e-9
    if library == "XGBoost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=8, max_depth=4, n_jobs=1), 2e-5
    from catboost import CatBoostClassifier

    options = {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
    return CatBoostClassifier(iterations=8, depth=4, **options), 1e-9


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("library", ["LightGBM", "XGBoost", "CatBoost"])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_the_formula_is_the_model_of_another_library(library, dense):
    model, tolerance = of_library(library)
    for values in ("bits", "counts", "reals", "positive"):
        known = data(values, dense=dense)
        model.fit(known.X, known.y)
        for seed in range(3):
            assert_agrees(model, known.X, seed, tolerance)


@pytest.mark.parametrize("name", FAST)
def test_models_and_rows_of_single_precision(name):
    """The model's own sums are then off by 1e-7 or so; on rows of double precision they are not."""
    model, X = fitted(name, "reals", np.float32)
    assert_agrees(model, X, 1, tolerance=2e-4)
    if "isotonic" not in name:  # whose own tables are of single precision
        assert_agrees(model, X.astype(np.float64), 1)


@pytest.mark.parametrize("fitted_on", [np.float64, np.float32])
@pytest.mark.parametrize("name", LINEAR | BENT | CALIBRATED | MIXED | FOR_POSITIVE_VALUES)
def test_at_the_threshold_single_precision_is_the_models_own(name, fitted_on):
    """The model decides on each row by itself, in whatever precision it works; so must we."""
    model, X = fitted(name, "positive", fitted_on)
    network = recognise(as_scorer(model))
    for dtype in (np.float32, bool) if fitted_on == np.float32 else (np.float32,):
        row = X[[3]].astype(dtype)
        if dtype is bool and name in ("square roots", "logarithms and a norm"):
            continue  # of bits, SciPy has none
        removed = np.random.default_rng(0).random((6, row.nnz)) < 0.3
        removed[0] = False
        scores = np.concatenate([real_scores(as_scorer(model), row, each[np.newaxis]) for each in removed])
        for threshold in thresholds(scores):
            if as_scorer(model).method == "predict_proba" and not 0 <= threshold <= 1:
                continue
            local = local_model(as_scorer(model, threshold), network, as_row(row))
            assert local.kind != "black box"
            expected = (scores >= threshold) != (scores[0] >= threshold)
            np.testing.assert_array_equal(local.flips(local.scores(removed)), expected)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_are_seen_as_linear(name):
    model, X = fitted(name, "reals")
    local = Explainer(model).local_model(X[[0]])
    assert local.affine.drops.shape == (X[[0]].nnz, 1)


@pytest.mark.parametrize("name", BLACK_BOX)
def test_everything_else_is_a_black_box(name):
    known = data("positive")
    model = fit(BLACK_BOX[name], known)
    for each in (model, FrozenEstimator(model)):
        assert Explainer(each).local_model(known.X[[0]]).kind == "black box"


def test_a_callable_kernel_is_a_black_box():
    known = data("reals", dense=True)
    model = SVC(kernel=lambda A, B: A @ B.T).fit(known.X, known.y)
    assert Explainer(model).local_model(known.X[[0]]).kind == "black box"


def test_a_decision_function_is_recognised_as_the_models():
    known = data("reals")
    model = LogisticRegression().fit(known.X, known.y)
    explainer = Explainer(model.decision_function)
    assert explainer.threshold == 0.0
    assert explainer.local_model(known.X[[0]]).kind == "linear"
    assert Explainer(lambda X: model.decision_function(X), threshold=0.0).local_model(known.X[[0]]).kind == (
        "black box"
    )
