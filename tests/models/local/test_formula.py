"""The formula and the model: who has the last word, and what happens when they differ."""

from itertools import combinations, product

import numpy as np
import pytest
from handmade import logistic_regression, mlp
from model_catalogue import data
from scipy import sparse
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC

from butfor import Explainer
from butfor.models import (
    BlackBox,
    FormulaModel,
    SparseKernel,
    as_row,
    as_scorer,
    local_model,
    recognise,
    removal_sets,
    with_units,
)
from butfor.verify import brute_force_minimum, is_counterfactual


def test_at_the_threshold_the_model_has_the_last_word():
    """0.1 + 0.2 is not 0.3: our sums and the model's need not round alike, its decision counts."""
    weights = [0.1, 0.2, 0.3, 0.7, -0.4]
    row = np.ones(5)
    for threshold in (0.3, 0.6, 0.8, 0.1 + 0.2, 0.9, 0.1 + 0.2 + 0.3, 0.2 + 0.3 + 0.1):
        model = logistic_regression(weights).decision_function
        why = Explainer(model, threshold=threshold, search="certified").explain(row)
        minimum = brute_force_minimum(model, row, threshold=threshold)
        assert why.size == (len(minimum[0]) if minimum else 0)
        assert why.local_model == "linear"


@pytest.mark.parametrize("row_sign", [1, -1])
def test_borderline_scores_are_decided_by_the_model(row_sign):
    """A model whose own arithmetic differs in the last bits from the formula's."""

    class Shaky(LogisticRegression):
        def decision_function(self, X):
            return np.asarray(X @ self.coef_[0]) + 1e-15 * self.shake

    Shaky.__module__ = "sklearn.shaky"
    Shaky.__name__ = "LogisticRegression"
    for shake in (1, -1):
        model = Shaky()
        model.coef_ = row_sign * np.array([[1.0, 0.5, 0.25]])
        model.intercept_, model.classes_, model.n_features_in_ = np.zeros(1), np.array([0, 1]), 3
        model.shake = shake
        explainer = Explainer(model.decision_function, threshold=row_sign * 0.75)
        local = explainer.local_model(np.ones(3))
        assert isinstance(local, FormulaModel)
        removed = np.array([[True, False, False], [False, True, False], [True, True, False]])
        # Without the first the formula says exactly the threshold; the model a trifle more or less.
        true = model.decision_function(np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1]]))
        expected = (true >= explainer.threshold) != local.positive
        np.testing.assert_array_equal(local.flips(local.scores(removed)), expected)
        np.testing.assert_array_equal(local.flips(local.scores_with_each((), np.arange(2))), expected[:2])


@pytest.mark.parametrize("sign", [1, -1])
def test_what_the_model_says_of_a_single_row_counts(sign):
    """A model whose sums round otherwise where several rows are scored at once, as those of BLAS may."""

    class Uneven(LogisticRegression):
        def decision_function(self, X):
            self.asked.append(X.shape[0])
            return np.asarray(X @ self.coef_[0]) + (1e-15 if X.shape[0] > 1 else -1e-15)

    Uneven.__module__ = "sklearn.uneven"
    Uneven.__name__ = "LogisticRegression"
    model = Uneven()
    model.coef_ = sign * np.array([[1.0, 0.5, 0.25, 0.0]])
    model.intercept_, model.classes_, model.n_features_in_ = np.zeros(1), np.array([0, 1]), 4
    model.asked = []
    row = np.ones(4)
    local = Explainer(model.decision_function, threshold=sign * 0.75).local_model(row)
    assert isinstance(local, FormulaModel)
    removed = np.array([[True, False, False, False], [False, True, False, False], [True, False, False, True]])
    alone = [model.decision_function(np.where(each, 0.0, row)[np.newaxis])[0] for each in removed]
    expected = (np.array(alone) >= sign * 0.75) != local.positive
    model.asked.clear()
    for _ in range(3):
        np.testing.assert_array_equal(local.flips(local.scores(removed)), expected)
        np.testing.assert_array_equal(local.flips(local.scores_with_each((), np.arange(2))), expected[:2])
    assert model.asked == [1]  # of two sets the formula is not sure, but the last feature weighs nothing


def test_on_a_plateau_the_model_is_asked_once(monkeypatch):
    """Dead neurons, level pieces of a calibration and sums of halves are the same number for many sets."""
    asked = []
    scores = BlackBox.scores
    monkeypatch.setattr(BlackBox, "scores", lambda self, sets: asked.append(len(sets)) or scores(self, sets))
    sets = np.array(list(product([False, True], repeat=6)))
    dead = mlp((-np.ones((6, 2)), -np.ones(2)), ([[1.0], [2.0]], [0.3]))
    known = data("bits")
    level = CalibratedClassifierCV(SVC(kernel="linear"), method="isotonic", ensemble=False, cv=2)
    level.fit(known.X, known.y)
    steps = level.calibrated_classifiers_[0].calibrators[0]
    steps.X_thresholds_, steps.y_thresholds_ = np.array([-1e3, 1e3]), np.array([0.4, 0.4])
    steps.X_min_, steps.X_max_, steps.f_ = -1e3, 1e3, lambda T: np.full(len(T), 0.4)
    row = known.X[[np.flatnonzero(np.diff(known.X.indptr) == 6)[0]]]
    cancelling = mlp((np.outer([1, 2, 3, 0.5, 1, 1], [1, 1]), np.zeros(2)), ([[1.5], [-1.5]], [0.25]))
    cases = (dead, np.ones(6), expit(0.3)), (level, row, 0.4), (cancelling, np.ones(6), expit(0.25))
    for model, it, threshold in cases:
        local = Explainer(model, threshold=float(threshold)).local_model(it)
        asked.clear()
        assert not local.flips(local.scores(sets)).any()
        assert asked == [1]


def test_sums_of_whole_numbers_are_exact_and_others_are_not():
    row = as_row(np.ones(3))

    def is_exact(model):
        return recognise(as_scorer(model)).adds_exactly(row)

    halves = [[1.0, 0.5], [2.0, -3.0], [0.0, 1.5]]
    assert is_exact(logistic_regression([1.0, 0.5, -3.0], 2.0))
    assert is_exact(mlp((halves, [0.0, 1.0]), ([[1.0], [2.0]], [0.5])))
    assert not is_exact(logistic_regression([1.0, 0.1, -3.0], 2.0))
    assert not is_exact(logistic_regression([1.0, 2.0**60, 3.0], 0.0))
    assert not is_exact(mlp((halves, [0.0, 1.0]), ([[1.0], [0.1]], [0.5])))
    assert not is_exact(mlp((halves, [0.0, 1.0]), ([[1.0], [2.0]], [0.5]), activation="tanh"))


def test_what_cancels_in_a_group_is_not_taken_for_nothing():
    """Without it the model adds up other numbers, and may round otherwise."""
    model = logistic_regression([0.1, 0.2, 0.3, -0.3])
    row = with_units(as_row(np.ones(4)), [[(0,)], [(1,)], [(2,)], [(2,)]], n_units=3)
    scorer = as_scorer(model.decision_function, float(model.decision_function(np.ones((1, 4)))[0]))
    local = local_model(scorer, recognise(scorer), row)
    with_each = local.scores_with_each((), np.arange(3))
    alone = model.decision_function(np.array([[0.0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 0]]))
    expected = (alone >= scorer.threshold) != local.positive
    np.testing.assert_array_equal(local.flips(with_each), expected)


@pytest.mark.parametrize("said_among_others", [1.0, 0.0])
def test_a_row_at_the_threshold_is_asked_about_by_itself(said_among_others):
    model = logistic_regression([0.1, 0.2, 0.3])
    row = as_row(np.ones(3))
    threshold = float(model.decision_function(np.ones((1, 3)))[0])
    scorer = as_scorer(model.decision_function, threshold)
    local = local_model(scorer, recognise(scorer), row, row_score=said_among_others)
    assert local.positive


def test_a_row_at_the_threshold_is_on_the_side_where_the_model_puts_it():
    model = logistic_regression([0.1, 0.2, 0.3])
    row = np.ones(3)
    exact = float(model.decision_function(row[np.newaxis])[0])
    for threshold, positive in ((exact, True), (np.nextafter(exact, 1), False)):
        local = Explainer(model.decision_function, threshold=float(threshold)).local_model(row)
        assert local.positive == positive


def test_a_model_that_does_not_act_on_its_weights_is_asked_instead():
    model = logistic_regression([1.0, 2.0, 3.0], -1.0)
    explainer = Explainer(model)
    assert explainer.explain([1, 1, 1]).local_model == "linear"
    model.coef_ = np.array([[3.0, 0.0, 0.0]])  # refitted behind the explainer's back
    why = explainer.explain([1, 1, 1])
    assert (why.columns, why.local_model) == ((0,), "black box")
    assert [each.columns for each in explainer.alternatives([1, 1, 1])] == [(0,)]
    model.predict_proba = lambda X: np.full((X.shape[0], 2), 0.5)
    assert Explainer(model).local_model([1, 1, 1]).kind == "black box"


def test_infinite_weights_stay_with_the_model():
    X = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 1, 0]])
    with np.errstate(divide="ignore"):
        model = MultinomialNB(alpha=0.0, force_alpha=True).fit(X, [0, 1, 0, 1])
        model.feature_log_prob_[0, 2] = -np.inf
    local = Explainer(model).local_model(sparse.csr_matrix([[1, 0, 0]]))
    assert local.kind in ("linear", "black box")
    assert np.isfinite(local.score)


def test_probabilities_that_round_to_one_leave_no_plateau():
    """The wide scale: on probabilities every single removal would look the same."""
    model = logistic_regression([30.0, 20.0, 10.0, 40.0], -5.0)
    local = Explainer(model).local_model(np.ones(4))
    scores = local.scores_with_each((), np.arange(4))
    assert len(set(scores)) == 4
    np.testing.assert_allclose(local.reported(scores), 1.0)
    why = Explainer(model, search="sedc").explain(np.ones(4))
    assert is_counterfactual(model, np.ones(4), why.columns)


def test_kernels_use_what_features_share():
    known = data("bits")
    explainer = Explainer(SVC().fit(known.X, known.y))
    local = explainer.local_model(known.X[[0]])
    assert isinstance(local, SparseKernel)
    assert local.affine.own.nnz < np.prod(local.affine.own.shape)


def test_scores_are_reported_on_the_users_scale():
    model = mlp((np.eye(3), np.zeros(3)), ([[2.0], [1.0], [0.5]], [-0.5]))
    why = Explainer(model, search="certified").explain([1, 1, 1])
    assert 0 < why.score_without <= 0.5 < why.score < 1
    assert why.to_dict()["local_model"] == "neural network"


def test_memory_is_bounded_for_large_batches():
    from butfor.models.local import formula

    local = Explainer(mlp((np.ones((6, 4)), np.zeros(4)), (np.ones((4, 1)), [-3.0]))).local_model(np.ones(6))
    sets = np.random.default_rng(0).random((1000, 6)) < 0.5
    whole = local.scores(sets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formula, "MAX_VALUES", 40)
        assert len(local._slices(1000)) == 100
        np.testing.assert_array_equal(local.scores(sets), whole)


def test_evidence_is_on_the_scale_of_the_user_and_turned_for_a_negative_row():
    model = logistic_regression([1.0, 2.0])
    nothing_and_first = np.array([[False, False], [True, False]])
    probabilities = model.predict_proba([[1, 1], [0, 1]])[:, 1]
    for threshold, sign in ((0.5, 1), (0.99, -1)):
        local = Explainer(model, threshold=threshold).local_model([1, 1])
        assert local.kind == "linear"
        np.testing.assert_allclose(local.evidence(nothing_and_first), sign * probabilities)
        np.testing.assert_allclose(local.evidence_of_row(), sign * probabilities[0])


@pytest.mark.parametrize("seed", range(20))
def test_out_of_reach_is_what_no_set_of_that_size_can_flip(seed):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=6)
    model = logistic_regression(weights, rng.normal())
    row = np.ones((1, 6))
    local = Explainer(model).local_model(row)
    own = model.predict(row)[0]
    for size in range(7):
        sets = removal_sets([each for k in range(size + 1) for each in combinations(range(6), k)], 6)
        flips = model.predict(np.where(sets, 0.0, 1.0)) != own
        assert local.is_out_of_reach(size) == (not flips.any())
    assert local.is_out_of_reach(100) == local.is_out_of_reach(6)
