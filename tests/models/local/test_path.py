"""`LocalModel.path`: the scores along a removal set, beside the search."""

import time
import warnings
from functools import cache

import numpy as np
import pytest
from model_catalogue import data
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from butfor.models import OutOfTime, Row, as_row, as_scorer, local_model, recognise, removal_sets, with_units

REMOVED = (3, 0, 2)
PREFIXES = [REMOVED[:1], REMOVED[:2], REMOVED]
MODELS = {
    "linear": LogisticRegression(),
    "neural network": MLPClassifier((5,), max_iter=40, learning_rate_init=0.05, random_state=0),
    "rbf kernel": SVC(),
}


@cache
def fitted(name):
    known = data("bits")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name].fit(known.X, known.y)


def plain(number: int) -> Row:
    return as_row(data("bits").X[[number]])


def overlapping(number: int) -> Row:
    """Four units; every third feature goes with either of two."""
    row = plain(number)
    held = [[(i % 4, (i + 1) % 4)] if i % 3 == 0 else [(i % 4,)] for i in range(len(row.columns))]
    return with_units(row, held, n_units=4)


def score(name, X):
    model = fitted(name)
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.decision_function(X)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("row_at", [plain, overlapping])
@pytest.mark.parametrize("by_formula", [True, False])
def test_the_path_is_on_the_users_scale_and_costs_the_search_nothing(name, row_at, by_formula):
    scorer = as_scorer(fitted(name), None)
    network = recognise(scorer) if by_formula else None
    sides = set()
    for number in range(6):
        row = row_at(number)
        local = local_model(scorer, network, row, deadline=time.monotonic() - 1)
        assert (local.kind == "black box") != by_formula
        expected = score(name, row.without(removal_sets(PREFIXES, row.n_units)))
        np.testing.assert_allclose(local.path(REMOVED), expected, rtol=1e-9, atol=1e-12)
        assert local.n_scored == 0
        with pytest.raises(OutOfTime):  # the search itself is still out of time
            local.scores(removal_sets(PREFIXES, row.n_units))
        sides.add(local.positive)
    assert sides == {True, False}


def test_the_path_of_many_classes_is_the_margin():
    known = data("counts")
    model = LogisticRegression().fit(known.X, np.arange(80) % 3)
    row = as_row(known.X[[0]])
    scorer = as_scorer(model, None)
    decisions = scorer.decide(row.whole())
    scorer = scorer.at(decisions)
    local = local_model(scorer, recognise(scorer), row)
    outputs = model.predict_proba(row.without(removal_sets(PREFIXES, row.n_units)))
    own = int(decisions.classes[0])
    expected = outputs[:, own] - np.delete(outputs, own, axis=1).max(axis=1)
    np.testing.assert_allclose(local.path(REMOVED), expected, atol=1e-12)
    assert local.n_scored == 0


def test_the_path_of_nothing_is_empty():
    scorer = as_scorer(lambda X: X.sum(axis=1), 1.0)
    assert local_model(scorer, None, as_row([1, 1])).path(()).shape == (0,)
