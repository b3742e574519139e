"""Rows of bools and of small whole numbers: the formula must be that of the same numbers as floats."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from butfor import Explainer

MODELS = [
    SVC(gamma=1e-4),
    LogisticRegression(max_iter=5_000),
    make_pipeline(VarianceThreshold(), LogisticRegression(max_iter=5_000)),
]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float16, ">f8", ">i4"])
@pytest.mark.parametrize("model", MODELS, ids=["rbf", "linear", "selected"])
def test_values_of_other_types(model, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 120, (60, 12)) * (rng.random((60, 12)) < 0.5)
    model.fit(sparse.csr_matrix(X, dtype=float), X @ rng.normal(size=12) > 0)
    explainer = Explainer(model)
    given = X[:10].astype(dtype)
    rows = given if np.dtype(dtype) in (np.float16, ">f8", ">i4") else sparse.csr_matrix(given)
    expected = [explainer.explain(row) for row in given.astype(np.float64)]
    for found in ([explainer.explain(row) for row in rows], explainer.explain_block(rows)):
        assert [why.columns for why in found] == [why.columns for why in expected]
        assert [why.local_model for why in found] == [why.local_model for why in expected]
