"""Native boosters: what is explained is what their own `predict` says."""

import pickle
import subprocess
import sys

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoost
from scipy import sparse

from butfor import Explainer, InputError
from butfor.models import as_scorer
from butfor.models.objects import NativeBooster, adapted

NAMES = tuple("abcdefgh")
rng = np.random.default_rng(3)
X = sparse.csr_matrix((rng.random((200, 8)) < 0.5) * rng.integers(1, 4, (200, 8)).astype(float))
SIGNAL = X @ rng.normal(size=8)
BINARY = (np.median(SIGNAL) < SIGNAL).astype(int)
THREE = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.33, 0.67]))
FRAME = pd.DataFrame(X.toarray(), columns=list(NAMES))


def lightgbm_booster(objective="binary", labels=BINARY, data=X, rounds=6, **others):
    settings = {"objective": objective, "num_threads": 1, "verbose": -1, "min_data_in_leaf": 5, **others}
    return lgb.train(settings, lgb.Dataset(data, labels), rounds)


def xgboost_booster(objective="binary:logistic", labels=BINARY, data=X, **others):
    settings = {"objective": objective, "nthread": 1, "max_depth": 3, **others}
    return xgb.train(settings, xgb.DMatrix(data, labels), 6)


def catboost_booster(objective="Logloss", labels=BINARY, data=X):
    settings = {
        "iterations": 6,
        "learning_rate": 0.4,
        "verbose": 0,
        "thread_count": 1,
        "allow_writing_files": False,
    }
    return CatBoost({"loss_function": objective, **settings}).fit(data, labels)


TWO_CLASSES = {
    "lightgbm": lightgbm_booster(),
    "lightgbm cross_entropy": lightgbm_booster("cross_entropy", 0.8 * BINARY + 0.1),
    "xgboost": xgboost_booster(),
    "catboost": catboost_booster(),
    "catboost CrossEntropy": catboost_booster("CrossEntropy", 0.8 * BINARY + 0.1),
}
MANY_CLASSES = {
    "lightgbm": lightgbm_booster("multiclass", THREE, num_class=3),
    "lightgbm multiclassova": lightgbm_booster("multiclassova", THREE, num_class=3),
    "xgboost": xgboost_booster("multi:softprob", THREE, num_class=3),
    "catboost": catboost_booster("MultiClass", THREE),
}


def scores(booster, rows):
    """Return what the user's own call returns: the score of the second class, or one of each class."""
    if isinstance(booster, xgb.Booster):
        return booster.predict(xgb.DMatrix(rows))
    if isinstance(booster, CatBoost):
        probabilities = booster.predict(rows, prediction_type="Probability")
        return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
    return booster.predict(rows)


def without(row, columns):
    """Return a row of the same form with columns removed: absent from CSR, or zero."""
    changed = row.copy()
    changed[:, list(columns)] = 0
    if sparse.issparse(changed):
        changed.eliminate_zeros()
    return changed


@pytest.mark.parametrize("form", [sparse.csr_matrix.copy, sparse.csr_matrix.toarray], ids=["CSR", "dense"])
@pytest.mark.parametrize("name", TWO_CLASSES)
@pytest.mark.parametrize("threshold", [None, 0.4])
def test_the_decision_is_that_of_the_boosters_own_score(name, form, threshold):
    booster, rows = TWO_CLASSES[name], form(X)
    explainer, n_found = Explainer(booster, threshold=threshold), 0
    for i in range(12):
        row = rows[[i]]
        why, own = explainer.explain(row), scores(booster, row)[0]
        assert why.score == pytest.approx(own, rel=1e-6)
        assert why.decision == str(int(own >= (threshold or 0.5)))
        if why.status == "found":
            n_found += 1
            flipped = scores(booster, without(row, why.columns))[0] >= (threshold or 0.5)
            assert flipped != (why.decision == "1")
    assert n_found


@pytest.mark.parametrize("name", MANY_CLASSES)
def test_of_many_classes_the_highest_score_decides(name):
    booster, n_found = MANY_CLASSES[name], 0
    explainer = Explainer(booster)
    for i in range(12):
        why = explainer.explain(X[[i]])
        assert why.decision == str(scores(booster, X[[i]])[0].argmax())
        if why.status == "found":
            n_found += 1
            assert str(scores(booster, without(X[[i]], why.columns))[0].argmax()) != why.decision
    assert n_found
    with pytest.raises(InputError, match="threshold must not be given for 3 classes"):
        Explainer(booster, threshold=0.4)


def test_xgboosts_softmax_returns_classes_and_is_explained_by_its_margins():
    booster = xgboost_booster("multi:softmax", THREE, num_class=3)
    np.testing.assert_array_equal(Explainer(booster).decide(X)[1], scores(booster, X))


@pytest.mark.parametrize("booster", [TWO_CLASSES[n] for n in ("lightgbm", "xgboost", "catboost")])
def test_the_scorer_of_a_booster(booster):
    scorer = as_scorer(booster)
    assert scorer.name == f"{type(booster).__name__}.predict"
    assert (scorer.method, scorer.threshold, scorer.predict, scorer.n_features) == (
        "predict_proba",
        0.5,
        None,
        8,
    )
    assert isinstance(scorer.model, NativeBooster)
    assert scorer.model.booster is booster
    assert scorer.feature_names is None
    assert not hasattr(scorer.model, "feature_names_in_")
    copied = pickle.loads(pickle.dumps(scorer.model))
    assert as_scorer(copied.booster).n_features == 8
    np.testing.assert_array_equal(copied.predict_proba(X), scorer.model.predict_proba(X))
    np.testing.assert_array_equal(scorer.model.predict_proba(sparse.csr_array(X)), copied.predict_proba(X))
    with pytest.raises(InputError, match=r"label must not be given for (Booster|CatBoost)\.predict"):
        Explainer(booster, label=1)
    with pytest.raises(InputError, match=r"threshold must be between 0 and 1, .* got 3\.$"):
        Explainer(booster, threshold=3)


@pytest.mark.parametrize("fit", [lightgbm_booster, xgboost_booster, catboost_booster])
def test_names_that_were_given_are_used_for_rows_of_any_form(fit):
    booster = fit(data=FRAME)
    explainer = Explainer(booster)
    assert explainer.feature_names == NAMES
    of_frame, of_array = (explainer.explain(rows) for rows in (FRAME[:1], FRAME[:1].to_numpy()))
    assert set(of_frame.features) <= set(NAMES)
    assert (of_frame.features, of_frame.score) == (of_array.features, of_array.score)
    assert of_frame.score == pytest.approx(scores(booster, FRAME[:1])[0])


@pytest.mark.parametrize("names", [[f"f{i}" for i in range(8)], [f"Column_{i}" for i in range(8)]])
def test_names_that_a_library_made_up_are_none(names):
    booster = xgboost_booster(data=pd.DataFrame(X.toarray(), columns=names))
    assert as_scorer(booster).feature_names is None
    assert Explainer(booster, feature_names=NAMES).explain(X[[0]].toarray()).n_active == X[[0]].nnz


def test_catboosts_own_classes():
    booster = catboost_booster(labels=np.where(BINARY, "yes", "no"))
    assert Explainer(booster).explain(X[[0]]).decision in ("yes", "no")


def test_as_many_trees_as_the_users_own_call_takes():
    """LightGBM's Booster stops at its best iteration, XGBoost's does not."""
    noise = rng.permutation(BINARY)
    settings = {"objective": "binary", "num_threads": 1, "verbose": -1, "min_data_in_leaf": 5}
    early = lgb.early_stopping(3, verbose=False)
    lightgbm = lgb.train(
        settings, train := lgb.Dataset(X, BINARY), 40, [lgb.Dataset(X, noise, train)], callbacks=[early]
    )
    lightgbm.best_iteration = 2
    evaluated = {
        "evals": [(xgb.DMatrix(X, noise), "noise")],
        "early_stopping_rounds": 3,
        "verbose_eval": False,
    }
    settings = {"objective": "binary:logistic", "nthread": 1, "max_depth": 3}
    xgboost = xgb.train(settings, xgb.DMatrix(X, BINARY), 40, **evaluated)
    assert xgboost.best_iteration + 1 < xgboost.num_boosted_rounds()
    copies = [pickle.loads(pickle.dumps(booster)) for booster in (lightgbm, xgboost)]
    for booster in (lightgbm, xgboost, *copies):
        np.testing.assert_allclose(Explainer(booster).decide(X)[0], scores(booster, X), rtol=1e-7)


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (lambda: lightgbm_booster("regression", SIGNAL), "Booster of lightgbm with the objective regression"),
        (lambda: lightgbm_booster("cross_entropy_lambda"), "with the objective cross_entropy_lambda"),
        (lambda: lightgbm_booster(lambda p, d: (p - d.get_label(), np.ones(200))), "objective custom"),
        (
            lambda: xgboost_booster("reg:squarederror"),
            "Booster of xgboost with the objective reg:squarederror",
        ),
        (lambda: xgboost_booster("binary:logitraw"), "with the objective binary:logitraw"),
        (lambda: xgboost_booster(labels=np.column_stack([BINARY, BINARY])), "logistic of several targets"),
        (lambda: catboost_booster("RMSE", SIGNAL), "CatBoost of catboost with the objective RMSE"),
        (lambda: catboost_booster("MultiLogloss", np.column_stack([BINARY, 1 - BINARY])), "MultiLogloss"),
    ],
)
def test_a_booster_that_is_no_classifier_is_refused(fit, said):
    with pytest.raises(InputError, match=rf"{said}\. Pass a function that scores rows, and a threshold"):
        Explainer(fit())


def test_a_booster_without_a_model_is_refused():
    for booster in (xgb.Booster(), CatBoost()):
        with pytest.raises(InputError, match="model must be fitted, got an "):
            Explainer(booster)


def test_the_method_of_a_booster_is_a_function():
    booster = TWO_CLASSES["lightgbm"]
    why = Explainer(booster.predict, threshold=0.5).explain(X[[0]])
    assert (why.score, why.local_model) == (booster.predict(X[[0]])[0], "black box")


def test_other_models_are_none_and_nothing_is_imported():
    assert adapted(lgb.LGBMClassifier()) is None
    code = """
import sys
from butfor import Explainer
class Booster:
    predict_proba = None
Explainer(Booster())
assert not {"lightgbm", "xgboost", "catboost"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
