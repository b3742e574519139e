"""Real models on real data: everything proven, every answer judged by the model itself."""

import os
from pathlib import Path

import numpy as np
import pytest
from profiles import is_nightly
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from benchmarks.cases import films
from butfor import Budget, Explainer
from butfor.verify import is_counterfactual

DATA = Path(os.environ.get("BUTFOR_DATA", "nowhere"))


def needs(folder):
    return pytest.mark.skipif(
        not (DATA / folder).exists(),
        reason=f"needs {folder}: download it from grouplens.org, unpack it, set BUTFOR_DATA to its parent",
    )


@needs("ml-1m")
def test_movielens_1m():
    name, X, y = films()
    assert (name, X.shape, round(100 * y.mean(), 2)) == ("MovieLens 1M", (6_040, 3_706), 28.29)
    model = MLPClassifier((30,), alpha=1.0, max_iter=8, tol=0.0, random_state=0)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        model.fit(X[:4_800], y[:4_800])
    scores = model.predict_proba(X[4_800:])[:, 1]
    threshold = float(np.quantile(scores, 0.75))
    rows = 4_800 + np.flatnonzero(scores >= threshold)[:40]
    sizes = {}
    for search in ("sedc", "certified", "auto"):
        explainer = Explainer(model, threshold=threshold, search=search, budget=Budget(max_seconds=10))
        answers = [explainer.explain(X[[i]]) for i in rows]
        sizes[search] = [why.size or np.inf for why in answers]
        for i, why in zip(rows, answers, strict=True):
            assert why.local_model == "neural network"
            assert not why or is_counterfactual(model, X[[i]], why.columns, threshold=threshold)
            assert search == "sedc" or why.proven_minimum or why.status == "none"
    assert sizes["certified"] == sizes["auto"]
    assert all(certified <= sedc for certified, sedc in zip(sizes["certified"], sizes["sedc"], strict=True))


@needs("ml-100k")
@pytest.mark.parametrize("model", [LogisticRegression(C=0.1), LinearSVC(C=0.1)], ids=["logistic", "svm"])
def test_lime_c_and_shap_c_are_minimum_on_linear_models_of_movielens_100k(model):
    ratings = np.loadtxt(DATA / "ml-100k" / "u.data", dtype=int)
    X = sparse.csr_matrix((np.ones(len(ratings)), (ratings[:, 0] - 1, ratings[:, 1] - 1)))
    users = (DATA / "ml-100k" / "u.user").read_text(encoding="latin-1").splitlines()
    y = np.array([user.split("|")[2] == "F" for user in users])
    assert (X.shape, round(100 * y.mean(), 2)) == ((943, 1_682), 28.95)
    train, test = np.arange(750), np.arange(750, 943)
    model.fit(X[train], y[train])
    method = "predict_proba" if isinstance(model, LogisticRegression) else "decision_function"
    scores = getattr(model, method)(X[test])
    scores = scores[:, 1] if scores.ndim == 2 else scores
    threshold = float(np.quantile(scores, 1 - 0.2895))
    positive = test[scores >= threshold]
    assert len(positive) == 56
    if not is_nightly():  # which of them is no matter
        positive = positive[::2]

    def sizes(search):
        explainer = Explainer(model, threshold=threshold, search=search)
        return np.array([explainer.explain(X[[i]]).size for i in positive])

    smallest = sizes("certified")
    assert smallest.min() > 0
    for search in ("lime-c", "shap-c"):
        assert (sizes(search) == smallest).mean() >= 0.95, search
    for search in ("lime-sedc", "shap-sedc"):
        assert (sizes(search) == smallest).all(), search
