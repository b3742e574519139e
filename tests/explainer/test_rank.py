"""`Explainer.rank`: the rankings, for users."""

from functools import partial

import numpy as np
import pytest
from handmade import logistic_regression
from sklearn.linear_model import LogisticRegression

from butfor import Explainer, InputError, SearchError
from butfor.rankings import RANKINGS, lime_weights

WEIGHTS = [0.5, 2.0, -1.0, 0.0, 1.0]
NAMES = ["a", "b", "c", "d", "e"]
ROW = [1, 1, 1, 0, 1]


def linear(X):
    return X @ np.array(WEIGHTS)


@pytest.mark.parametrize("by", RANKINGS)
def test_names_with_weights_highest_first(by):
    explainer = Explainer(linear, feature_names=NAMES, threshold=1.0)
    ranking = explainer.rank(ROW, by=by)
    assert [name for name, _ in ranking] == ["b", "e", "a", "c"]
    assert all(type(name) is str and type(weight) is float for name, weight in ranking)
    tolerance = 0.05 if by == "lime" else 1e-8  # its ridge draws weights towards zero
    for name, weight in ranking:
        assert weight == pytest.approx(WEIGHTS[NAMES.index(name)], abs=tolerance)


@pytest.mark.parametrize("by", RANKINGS)
def test_for_a_negative_row_the_evidence_is_what_keeps_it_negative(by):
    ranking = Explainer(linear, threshold=10.0).rank(ROW, by=by)
    assert [name for name, _ in ranking] == ["feature 2", "feature 0", "feature 4", "feature 1"]


def test_lime_and_shap_are_in_the_units_of_the_score():
    model = logistic_regression([1.0, 2.0, -0.5])
    whole, empty = model.predict_proba([[1, 1, 1], [0, 0, 0]])[:, 1]
    ranking = Explainer(model).rank([1, 1, 1], by="shap")
    assert sum(weight for _, weight in ranking) == pytest.approx(whole - empty)


def test_the_seed_is_the_explainer_s_and_parameters_are_the_ranking_s():
    rng = np.random.default_rng(0)
    inner, outer = rng.normal(size=(30, 5)), rng.normal(size=5)

    def rank(seed, **options):
        explainer = Explainer(lambda X: np.tanh(X @ inner) @ outer, threshold=-9.0, seed=seed)
        return explainer.rank(np.ones(30), **options)

    assert rank(1, by="lime") == rank(1, by="lime")
    assert rank(1, by="lime") != rank(2, by="lime")
    assert rank(1, by="lime", n_samples=50) != rank(1, by="lime")
    assert rank(1, by="lime", n_samples=50) == rank(1, by=partial(lime_weights, n_samples=50))


def test_protected_features_are_not_ranked():
    explainer = Explainer(linear, feature_names=NAMES, threshold=1.0, protected=["b"])
    for by in RANKINGS:
        assert [name for name, _ in explainer.rank(ROW, by=by)] == ["e", "a", "c"]


def test_rows_of_none_and_one():
    for by in RANKINGS:
        assert Explainer(linear, threshold=1.0).rank([0] * 5, by=by) == []
        ((name, weight),) = Explainer(linear, threshold=1.0).rank([0, 1, 0, 0, 0], by=by)
        assert name == "feature 1"
        assert weight == 2.0 or (by == "lime" and 0 < weight < 2)  # the empty row counts little there


def test_a_model_that_does_not_act_on_its_formula_is_asked():
    model = logistic_regression([1.0, 2.0])
    model.predict_proba = lambda X: 1 - LogisticRegression.predict_proba(model, X)
    explainer = Explainer(model, threshold=0.5)
    assert [name for name, _ in explainer.rank([1, 1])] == ["feature 1", "feature 0"]
    explainer = Explainer(logistic_regression([1.0, 2.0]))
    explainer.local_model([1, 1])
    explainer._engine.model.scorer.model.coef_ = np.array([[-3.0, -0.5]])  # refitted since
    assert explainer.rank([1, 1], by="shap")[0][0] == "feature 0"


@pytest.mark.parametrize(
    ("by", "parameters", "message"),
    [
        (
            "removal",
            {"n_samples": 50},
            r"by='removal' must be among its own \(none\), got 'n_samples'",
        ),
        ("lime", {"samples": 50}, r"must be among its own \(n_samples\), got 'samples'"),
        ("lime", {"seed": 3}, r"must be among its own \(n_samples\), got 'seed'"),
        ("shap", {"n_samples": 1}, "n_samples must be a whole number of at least 2, got 1"),
    ],
)
def test_unknown_parameters(by, parameters, message):
    with pytest.raises(InputError, match=message):
        Explainer(linear, threshold=1.0).rank(ROW, by=by, **parameters)


def test_single_removals_of_a_known_probability_are_its_log_odds():
    ranking = Explainer(logistic_regression([1.0, 2.0, -0.5])).rank([1, 1, 1])
    assert [weight for _, weight in ranking] == pytest.approx([2.0, 1.0, -0.5])


@pytest.mark.parametrize("by", ["lasso", 3, None, int])
def test_unknown_rankings(by):
    with pytest.raises(InputError, match=r"by must be one of removal, lime, shap, or a callable, got"):
        Explainer(linear, threshold=1.0).rank(ROW, by=by)


@pytest.mark.parametrize(
    "given",
    [[1.0, 2.0], np.ones((4, 1)), ["a", "b", "c", "d"], [1.0, 2.0, np.nan, 3.0], None, [[1.0], [2.0, 3.0]]],
)
def test_rankings_are_checked(given):
    with pytest.raises(SearchError, match="a ranking must give"):
        Explainer(linear, threshold=1.0).rank(ROW, by=lambda local, seed: given)
