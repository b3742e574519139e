"""Real models on real data: everything proven, every answer judged by the model itself."""

import os

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from benchmarks.cases import films
from butfor import Budget, Explainer
from butfor.verify import is_counterfactual

needs_data = pytest.mark.skipif(
    not os.path.exists(os.path.join(os.environ.get("BUTFOR_DATA", ""), "ml-1m")),
    reason="needs MovieLens 1M: download ml-1m from grouplens.org, unpack it, set BUTFOR_DATA to its parent",
)


@needs_data
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
