"""Scores and classes of many rows, asked about together."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from butfor import Budget, Explainer
from butfor.datasets import load_inbox


@pytest.mark.parametrize("target", [None, "school"])
def test_as_explanations_score_them(target):
    inbox = load_inbox()
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(inbox.texts, inbox.topics)
    # No score depends on how long is searched.
    explainer = Explainer(model, target=target, budget=Budget(max_size=1))
    scores, classes = explainer.decide(inbox.texts[:60])
    assert [explainer.class_names[i] for i in classes] == model.predict(inbox.texts[:60]).tolist()
    whys = [explainer.explain(text) for text in inbox.texts[:60]]
    assert scores == pytest.approx([why.score for why in whys], rel=1e-9)


def test_rows_that_the_model_fails_on_are_found_in_few_calls():
    calls = []

    def score(X):
        calls.append(X.shape[0])
        if (X.toarray() == 13).any():
            raise RuntimeError("no 13")
        return np.asarray(X.sum(axis=1)).ravel()

    rows = sparse.csr_matrix(np.arange(1.0, 1001.0)[:, np.newaxis])
    scores, classes = Explainer(score, threshold=500).decide(rows)
    assert np.isnan(scores).nonzero()[0].tolist() == [12]
    assert classes.tolist() == [*[0] * 12, -1, *[0] * 486, *[1] * 501]
    assert len(calls) <= 25


def test_rows_that_cannot_be_read():
    explainer = Explainer(lambda X: X.sum(axis=1), threshold=2)
    scores, classes = explainer.decide(np.array([[1.0, np.nan], [1, 1]]))
    assert (np.isnan(scores).tolist(), classes.tolist()) == ([True, False], [-1, 1])
    assert [len(each) for each in explainer.decide(np.zeros((0, 2)))] == [0, 0]
