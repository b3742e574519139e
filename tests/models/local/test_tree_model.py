"""Trees seen from a row: near a threshold the model decides, about as few rows as possible."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tree_walk import classes_of, sparse_numbers
from xgboost import XGBClassifier

from butfor import Explainer
from butfor.models import BlackBox, TreeModel
from butfor.models.bounds.linear import LinearRegion
from butfor.models.bounds.tree_layers import TreeLayersRegion
from butfor.models.bounds.trees import TreeRegion

SETS = np.array(list(product([False, True], repeat=6)))


def fitted(model, kind="counts"):
    X = sparse_numbers(8, kind, n_rows=150)
    return model.fit(X, classes_of(X, 9)), X


def row_of_six(X):
    """Return a row with six active features, and copies of it without each of `SETS`."""
    row = X[[np.flatnonzero(X.astype(bool).sum(axis=1).A1 == 6)[0]]]
    row.eliminate_zeros()
    copies = np.repeat(row.toarray(), len(SETS), axis=0)
    for copy, gone in zip(copies, SETS, strict=True):
        copy[row.indices[gone]] = 0
    return row, sparse.csr_matrix(copies)


@pytest.fixture
def asked(monkeypatch):
    """How many rows each question to the model itself was about."""
    asked, scores = [], BlackBox.scores
    monkeypatch.setattr(BlackBox, "scores", lambda self, sets: asked.append(len(sets)) or scores(self, sets))
    return asked


MODELS = {
    "XGBoost": XGBClassifier(n_estimators=15, max_depth=4, n_jobs=1),
    "boosted": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "forest": RandomForestClassifier(9, random_state=0),
    "calibrated": CalibratedClassifierCV(GradientBoostingClassifier(n_estimators=5, random_state=0), cv=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_at_a_threshold_the_model_has_the_last_word(name):
    """Thresholds are the very scores of removal sets, in single precision too, and those beside them."""
    model, X = fitted(MODELS[name])
    row, copies = row_of_six(X)
    scores = np.concatenate([model.predict_proba(copy)[:, 1] for copy in copies]).astype(float)
    for score in np.unique(scores)[::3]:
        for threshold in (score, np.nextafter(score, 0), np.nextafter(score, 1)):
            local = Explainer(model, threshold=float(threshold)).local_model(row)
            assert isinstance(local, TreeModel)
            expected = (scores >= threshold) != (scores[0] >= threshold)
            np.testing.assert_array_equal(local.flips(local.scores(SETS)), expected)
            with_each = local.flips(local.scores_with_each((), np.arange(6)))
            np.testing.assert_array_equal(with_each, expected[2 ** np.arange(6)[::-1]])


def test_sets_that_reach_the_same_leaves_are_asked_about_once(asked):
    model, X = fitted(MODELS["XGBoost"])
    row, copies = row_of_six(X)
    scores = np.concatenate([model.predict_proba(copy)[:, 1] for copy in copies]).astype(float)
    leaves = model.apply(copies)
    for score in np.unique(scores)[:5]:
        local = Explainer(model, threshold=float(score)).local_model(row)
        asked.clear()
        local.scores(SETS)
        at = np.abs(scores - score) < 1e-5
        assert 0 < len(asked) <= len(np.unique(leaves[at], axis=0))
        n_asked = len(asked)
        local.scores(SETS)
        assert len(asked) == n_asked


def test_sums_without_rounding_need_no_model(asked):
    """Means of whole leaves: the formula knows the ties of a forest."""
    model, X = fitted(RandomForestClassifier(8, random_state=0, bootstrap=False, max_features=1))
    row, copies = row_of_six(X)
    leaves = np.concatenate([tree.tree_.value[tree.tree_.feature < 0, 0, 1] for tree in model.estimators_])
    assert set(leaves) <= {0.0, 1.0}
    for threshold in (None, 0.5, 0.25, 0.3):
        local = Explainer(model, threshold=threshold).local_model(row)
        asked.clear()
        decided = (
            model.predict(copies) if threshold is None else model.predict_proba(copies)[:, 1] >= threshold
        )
        np.testing.assert_array_equal(local.flips(local.scores(SETS)), decided != decided[0])
        assert not asked


def test_the_number_of_open_leaves():
    """Trees of one unit are affine; of two units in a row, three leaves are open."""
    X = np.array(list(product([0.0, 1.0], repeat=2)) * 5)
    both = DecisionTreeClassifier().fit(X, X.all(axis=1))
    assert Explainer(both).local_model(np.ones(2)).n_leaves == 3
    assert Explainer(both).local_model(np.array([1.0, 0.0])).n_leaves == 0
    one = DecisionTreeClassifier().fit(X, X[:, 0])
    assert Explainer(one).local_model(np.ones(2)).n_leaves == 0


def test_the_regions_of_trees():
    X = np.array(list(product([0.0, 1.0], repeat=3)) * 5)
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0.5
    tree = DecisionTreeClassifier().fit(X, y)
    (region,) = Explainer(tree).local_model(np.ones(3)).regions(2)
    assert isinstance(region, TreeRegion)
    (region,) = Explainer(tree).local_model(np.array([1.0, 0.0, 0.0])).regions(1)
    assert isinstance(region, LinearRegion)
    layered = CalibratedClassifierCV(tree, cv=2).fit(X, y)
    (region,) = Explainer(layered).local_model(np.ones(3)).regions(2)
    assert isinstance(region, TreeLayersRegion)


def test_scores_with_each_are_the_scores_of_the_sets():
    for name in MODELS:
        model, X = fitted(MODELS[name])
        row, _ = row_of_six(X)
        local = Explainer(model).local_model(row)
        for removed in ((), (2,), (0, 5)):
            others = np.setdiff1d(np.arange(6), removed)
            sets = np.zeros((len(others), 6), dtype=bool)
            sets[:, list(removed)] = True
            sets[np.arange(len(others)), others] = True
            np.testing.assert_allclose(
                local.scores_with_each(removed, others), local.scores(sets), rtol=1e-12
            )
