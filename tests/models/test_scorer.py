import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from butfor import Explainer, InputError, ModelError
from butfor.models import as_scorer
from butfor.models.row_kind import RowKind

rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((120, 8)) < 0.4).astype(float))
Y = (X @ rng.normal(size=8) > 0).astype(int)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), MultinomialNB(), RandomForestClassifier(5), GaussianNB()]
)
def test_probabilities_are_positive_from_one_half_on(model):
    scorer = as_scorer(model.fit(X.toarray(), Y))
    assert scorer.threshold == 0.5
    assert scorer.n_features == 8
    scores = scorer.handing(RowKind("dense")).scores(X)
    np.testing.assert_array_equal(scores, model.predict_proba(X.toarray())[:, 1])


@pytest.mark.parametrize("model", [LinearSVC(), SVC(), Perceptron()])
def test_decision_values_are_positive_from_zero_on(model):
    scorer = as_scorer(model.fit(X, Y))
    assert scorer.threshold == 0.0
    np.testing.assert_array_equal(scorer.scores(X), model.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
        FixedThresholdClassifier(LogisticRegression()),
        FixedThresholdClassifier(LogisticRegression(), threshold=-0.4, response_method="decision_function"),
        FixedThresholdClassifier(LinearSVC(), threshold=0.2),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.7, pos_label=0),
        FixedThresholdClassifier(LinearSVC(), threshold=0.2, pos_label=0),
        TunedThresholdClassifierCV(LogisticRegression(), scoring="f1"),
        make_pipeline(TfidfTransformer(), FixedThresholdClassifier(LogisticRegression(), threshold=0.4)),
        GridSearchCV(
            FixedThresholdClassifier(LogisticRegression(), threshold=0.4), {"estimator__C": [0.1, 1.0]}, cv=2
        ),
    ],
    ids=lambda model: str(model).replace("\n", "")[:60],
)
def test_a_threshold_that_the_estimator_carries_decides_as_the_estimator_does(model):
    model.fit(X, Y)
    scorer = as_scorer(model)
    positive = np.array([scorer.is_positive(score) for score in scorer.scores(X)])
    pos_label = getattr(model, "pos_label", None)
    np.testing.assert_array_equal(positive, model.predict(X) == (1 if pos_label is None else pos_label))


def test_a_given_threshold_wins():
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3).fit(X, Y)
    assert as_scorer(model, 0.6).threshold == 0.6


def test_the_positive_class_is_the_second():
    model = LogisticRegression().fit(X, np.where(Y, "yes", "no"))
    np.testing.assert_array_equal(as_scorer(model).scores(X), model.predict_proba(X)[:, 1])
    assert model.classes_[1] == "yes"


@pytest.mark.parametrize("model", [HistGradientBoostingClassifier(max_iter=5), GaussianNB()])
def test_models_that_refuse_sparse_rows_get_dense_ones(model):
    model.fit(X.toarray(), Y)
    explainer = Explainer(model)
    answers = [explainer.explain(X[[i]]) for i in range(20)]
    assert any(answers)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(TfidfTransformer(), LogisticRegression()),
        CalibratedClassifierCV(LinearSVC(), cv=2),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        DecisionTreeClassifier(max_depth=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_pipelines_and_wrappers(model):
    explainer = Explainer(model.fit(X, Y))
    assert any(explainer.explain(X[[i]]) for i in range(20))


class OnlyProbabilities:
    """Not scikit-learn, no classes_, but two columns of probabilities."""

    def predict_proba(self, X):
        p = np.asarray(X.mean(axis=1)).ravel()
        return np.column_stack([1 - p, p])


def test_a_foreign_classifier():
    scorer = as_scorer(OnlyProbabilities())
    np.testing.assert_allclose(scorer.scores(X), np.asarray(X.mean(axis=1)).ravel())


class Unscoring(BaseEstimator):
    def fit(self, X, y):
        self.fitted_ = True
        return self


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "model must be fitted, got an unfitted LogisticRegression. Call fit first"),
        (make_pipeline(TfidfTransformer(), LinearSVC()), "model must be fitted, got an unfitted Pipeline"),
        (LogisticRegression, "model must be a fitted object, got the class LogisticRegression"),
        (
            DecisionTreeClassifier().fit(X, np.column_stack([Y, Y])),
            "label must be given, as .* decides about 2 labels at once: one of 0, 1",
        ),
        (DecisionTreeClassifier().fit(X, np.zeros(120)), "more classes, got .* with 1 class"),
        (
            LinearRegression().fit(X, Y),
            "predict_proba or decision_function, got LinearRegression with neither",
        ),
        (Unscoring().fit(X, Y), "predict_proba or decision_function, got Unscoring with neither"),
        ("model.pkl", "model must be a fitted classifier or a callable .*, got str"),
        (None, "model must be a fitted classifier or a callable .*, got NoneType"),
    ],
    ids=repr,
)
def test_models_that_cannot_be_explained(model, message):
    with pytest.raises(InputError, match=message):
        as_scorer(model)


def raising(X):
    raise KeyError("no such table")


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (raising, "raising raised KeyError on 3 rows: 'no such table'"),
        (lambda X: np.full(X.shape[0], np.nan), "must return finite scores, got nan for 3 of 3 rows"),
        (lambda X: [0.5, np.inf, 0.5], "must return finite scores, got inf for 1 of 3 rows"),
        (lambda X: np.ones(2), r"must return one score a row, shape \(3,\), got \(2,\)"),
        (lambda X: 0.5, r"must return one score a row, shape \(3,\), got \(\)"),
        (
            lambda X: np.ones((3, 4)),
            r"got \(3, 4\). Give class_names, one for each of its 4 columns",
        ),
        (lambda X: np.ones(3) * 1j, "must return real numbers, got dtype complex128"),
        (lambda X: np.array(["spam"] * 3), "must return real numbers, got dtype <U4"),
        (lambda X: None, r"must return one score a row, shape \(3,\), got \(\)"),
    ],
    ids=["raises", "nan", "inf", "short", "scalar", "four columns", "complex", "labels", "nothing"],
)
def test_models_that_misbehave(score, message):
    with pytest.raises(ModelError, match=message):
        as_scorer(score, 0.5).scores(X[:3])


def test_one_column_and_other_kinds_of_numbers_are_fine():
    for score in (lambda X: np.ones((3, 1)), lambda X: [1, 0, 1], lambda X: np.array([True, False, True])):
        assert as_scorer(score, 0.5).scores(X[:3]).dtype == np.float64


def test_a_model_that_fails_in_the_middle_of_a_search():
    def score(X):
        return np.full(X.shape[0], 1.0 if X.shape[0] == 1 else np.nan)

    with pytest.raises(ModelError, match="must return finite scores"):
        Explainer(score, threshold=0.5).explain(X[[0]])


def test_a_model_that_changes_its_mind_is_not_believed():
    def score(X):
        return np.full(X.shape[0], 1.0 if X.shape[0] == 1 else 0.0)

    explainer = Explainer(score, threshold=0.5)
    with pytest.raises(ModelError, match="must give the same row the same score, got 1 and then 0"):
        explainer.explain(X[[0]])
