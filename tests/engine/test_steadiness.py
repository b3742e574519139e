"""A model that gives the same row two scores is noticed, and nothing of it is called proven."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from butfor import Budget, Explainer, Explanation
from butfor._engine import steadiness
from butfor.batch import run_batch
from butfor.errors import VaryingScoresError

RNG = np.random.default_rng(0)
X = sparse.csr_matrix(np.column_stack([np.ones(200), RNG.random((200, 9)) < 0.4]))
SUMS = X @ RNG.normal(size=10)
Y = (np.median(SUMS) < SUMS).astype(int)
FAMILIES = {
    "linear": LogisticRegression(),
    "neural network": MLPClassifier((5,), max_iter=200, random_state=0),
    "trees": RandomForestClassifier(8, max_depth=3, random_state=0),
}


class Wavering:
    """Wraps predict_proba of a fitted model: some of the rows of a call, or all of some calls, are off."""

    def __init__(self, model, share=0.0, calls=0.0):
        self.own, self.share, self.calls = model.predict_proba, share, calls
        self.rng = np.random.default_rng(0)

    def __call__(self, X):
        scores = self.own(X)[:, 1]
        is_off = self.rng.random(len(scores)) < self.share
        is_off |= self.rng.random() < self.calls
        scores = np.where(is_off, scores + self.rng.normal(scale=0.1, size=len(scores)), scores).clip(0, 1)
        return np.column_stack([1 - scores, scores])


def fitted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(FAMILIES[name]).fit(X, Y)


def wavering(name, **how):
    """A model that is recognised by its formula, whose scores vary."""
    model = fitted(name)
    steady = Wavering(model, **how)
    kind = type(model)
    unsteady = type(kind.__name__, (kind,), {"predict_proba": lambda self, X: steady(X)})
    unsteady.__module__ = kind.__module__  # as its own library's, so that the formula is believed at first
    model.__class__ = unsteady
    return model


def proven(outcomes):
    return [
        why
        for why in outcomes
        if isinstance(why, Explanation) and (why.proven_minimum or why.status == "none")
    ]


def refused(outcomes):
    return [each for each in outcomes if isinstance(each, VaryingScoresError)]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("how", [{"share": 0.3}, {"share": 1.0}, {"calls": 0.8}], ids=str)
def test_models_with_a_formula(name, how):
    outcomes = Explainer(wavering(name, **how), budget=Budget(max_seconds=5)).explain_block(X[:60])
    assert refused(outcomes)
    assert not proven(outcomes)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_models_that_do_not_waver_are_proven(name):
    outcomes = Explainer(fitted(name), budget=Budget(max_seconds=5)).explain_block(X[:60])
    assert not refused(outcomes)
    assert len(proven(outcomes)) > 50


@pytest.mark.parametrize("how", [{"share": 0.3}, {"calls": 0.2}], ids=str)
def test_black_boxes(how):
    score = Wavering(fitted("linear"), **how)
    outcomes = list(Explainer(score, budget=Budget(max_seconds=5)).explain_block(X[:60]))
    assert refused(outcomes)
    assert not proven(outcomes)


class RandomPredict(LogisticRegression):
    """Its scores are steady, its decisions are not."""

    def predict(self, X):
        labels = super().predict(X)
        return np.where(RNG.random(len(labels)) < 0.3, 1 - labels, labels)


def test_decisions_that_vary_while_scores_do_not():
    outcomes = Explainer(RandomPredict().fit(X, Y)).explain_block(X[:60])
    assert "RandomPredict must decide the same on the same row, got" in str(refused(outcomes)[0])
    assert not proven(outcomes)


def test_a_step_that_drops_features_at_random():
    rng = np.random.default_rng(0)

    def dropped(X):
        X = X.copy()
        X.data = X.data * (rng.random(X.nnz) < 0.9)
        return X

    model = make_pipeline(FunctionTransformer(dropped, accept_sparse=True), LogisticRegression()).fit(X, Y)
    outcomes = Explainer(model).explain_block(X[:60])
    assert refused(outcomes)
    assert not proven(outcomes)


def test_records():
    texts = np.array(["late dreadful", "fine", "rude late", "good fine", "dreadful rude", "good"] * 4)
    table = pd.DataFrame({"said": texts})
    steps = make_column_transformer((CountVectorizer(), "said"))
    model = make_pipeline(steps, LogisticRegression()).fit(table, [1, 0] * 12)
    assert len(proven(Explainer(model).explain_block(table))) > 12
    last = model[-1]
    unsteady = type("LogisticRegression", (LogisticRegression,), {})
    unsteady.__module__ = LogisticRegression.__module__
    score = Wavering(
        LogisticRegression.fit(LogisticRegression(), steps.transform(table), [1, 0] * 12), share=0.3
    )
    unsteady.predict_proba = lambda self, X: score(X)
    last.__class__ = unsteady
    outcomes = Explainer(model).explain_block(table)
    assert refused(outcomes)
    assert not proven(outcomes)


def test_scores_that_differ_by_more_than_rounding_prove_nothing():
    rng = np.random.default_rng(0)
    why = Explainer(
        lambda X: X.sum(axis=1) + rng.uniform(1e-4, 2e-4) * rng.choice([-1, 1]), threshold=1.5
    ).explain(np.ones(4))
    assert (why.status, why.size, why.lower_bound, why.proven_minimum) == ("found", 3, 0, False)
    assert why.reason == steadiness.VARIES


def test_noise_that_is_declared_is_no_error():
    score = Wavering(fitted("linear"), share=1.0)
    outcomes = Explainer(lambda X: score(X)[:, 1], threshold=0.5, noise=0.9).explain_block(X[:20])
    assert not refused(outcomes)


def test_a_batch_stores_it_as_the_error_of_the_row(tmp_path):
    sparse.save_npz(tmp_path / "rows.npz", X[:85])
    for number, model in enumerate([wavering("linear", share=0.3), Wavering(fitted("trees"), share=0.3)]):
        out = tmp_path / f"why{number}"
        summary = run_batch(Explainer(model), tmp_path / "rows.npz", out, engine="here")
        table = pd.read_parquet(out)
        assert summary.statistics.statuses["error"] == (table.status == "error").sum() > 0
        assert table.error.dropna().str.contains("must give the same row the same score").all()
        assert not table.proven.fillna(False).any()
        assert not (table.status == "none").any()
