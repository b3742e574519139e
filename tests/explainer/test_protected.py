"""Features that may never be part of an explanation."""

import numpy as np
import pytest
from handmade import logistic_regression, mlp
from model_catalogue import data
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from butfor import SEARCHES, Explainer, InputError

NAMES = ["free", "prize", "call", "mum"]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("model", [logistic_regression([4.0, 3.0, 2.0, 0.5], -4.2), "black box"])
def test_every_search_honours_them(search, model):
    if model == "black box":
        formula = logistic_regression([4.0, 3.0, 2.0, 0.5], -4.2)

        def model(X):
            return formula.decision_function(X)

    threshold = 0.5 if hasattr(model, "predict_proba") else 0.0
    free = Explainer(model, feature_names=NAMES, threshold=threshold, search=search).explain([1, 1, 1, 1])
    protected = Explainer(
        model, feature_names=NAMES, threshold=threshold, search=search, protected=["free"]
    ).explain([1, 1, 1, 1])
    assert search == "random" or "free" in free.features
    assert protected
    assert "free" not in protected.features
    assert (protected.n_active, protected.n_protected) == (4, 1)
    assert protected.score_without == pytest.approx(
        Explainer(model, threshold=threshold).decide(without(protected.columns))[0][0]
    )


def without(columns):
    from scipy.sparse import csr_matrix

    row = np.ones((1, 4))
    row[0, list(columns)] = 0
    return csr_matrix(row)


def test_the_proof_is_about_the_others():
    model = mlp((np.eye(4), np.zeros(4)), ([[4.0], [1.0], [1.0], [1.0]], [-4.5]))
    explainer = Explainer(model, protected=[0], search="certified")
    why = explainer.explain([1, 1, 1, 1])
    assert (why.status, why.size, why.proven_minimum) == ("found", 3, True)
    assert Explainer(model, protected=[0, 1]).explain([1, 1, 1, 1]).status == "none"
    assert Explainer(model, protected=[0, 1, 2, 3]).explain([1, 1, 1, 1]).status == "none"
    assert [why.columns for why in explainer.alternatives([1, 1, 1, 1])] == [(1, 2, 3)]


def test_a_protected_feature_that_is_not_active_changes_nothing():
    model = logistic_regression([4.0, 3.0, 2.0, 0.5], -4.2)
    assert Explainer(model, protected=[3]).explain([1, 1, 1, 0]).columns == (
        Explainer(model).explain([1, 1, 1, 0]).columns
    )


@pytest.mark.parametrize("dense", [True, False])
def test_behind_steps_and_kernels(dense):
    known = data("reals", dense=True)
    model = make_pipeline(StandardScaler(with_mean=dense), SVC()).fit(known.X, known.y)
    row = known.X[[3]]
    column = int(np.flatnonzero(row)[0])
    explainer = Explainer(model, protected=[column], search="certified")
    local = explainer.local_model(row)
    removed = np.zeros((1, local.n_features), dtype=bool)
    removed[0, 2] = True
    changed = row.copy()
    changed[0, np.flatnonzero(row)[3]] = 0  # the third that may go is the fourth that is active
    assert local.reported(local.scores(removed))[0] == pytest.approx(
        model.decision_function(changed)[0], rel=1e-9
    )
    assert column not in explainer.explain(row).columns


@pytest.mark.parametrize(
    ("protected", "message"),
    [
        ("free", "protected must be a collection of features, got the string 'free'"),
        (
            ["freee"],
            "protected must hold names or columns of features, got 'freee': no feature has that name",
        ),
        ([4], "protected must hold columns from 0 to 3, got 4"),
        ([-1], "protected must hold columns from 0 to 3, got -1"),
        ([1.5], "protected must hold names or columns of features, got 1.5"),
        ([True], "protected must hold names or columns of features, got True"),
    ],
)
def test_bad_input(protected, message):
    with pytest.raises(InputError, match=message):
        Explainer(logistic_regression(np.ones(4)), feature_names=NAMES, protected=protected)


def test_names_must_be_known():
    with pytest.raises(InputError, match="names are known only with feature_names"):
        Explainer(logistic_regression(np.ones(4)), protected=["free"])
