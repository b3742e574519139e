"""More than two classes: against the model's own predictions on really changed rows."""

import warnings
from functools import cache

import numpy as np
import pytest
from brute_force import minimum
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from butfor import SEARCHES, Explainer, InputError, ModelError

N_FEATURES, CLASSES = 9, ("a", "b", "c", "d")
FAST = {
    "LogisticRegression": LogisticRegression(),
    "RidgeClassifier": RidgeClassifier(),
    "LinearSVC": LinearSVC(),
    "SGDClassifier": SGDClassifier(random_state=0),
    "SGDClassifier log": SGDClassifier(loss="log_loss", random_state=0),
    "Perceptron": Perceptron(random_state=0),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "BernoulliNB": BernoulliNB(),
    "MLP": MLPClassifier((6,), max_iter=60, learning_rate_init=0.05, random_state=0),
    "MLP deep": MLPClassifier(
        (5, 4), activation="tanh", max_iter=60, learning_rate_init=0.05, random_state=0
    ),
    "OneVsRest": OneVsRestClassifier(LinearSVC()),
    "OneVsRest of logistic regressions": OneVsRestClassifier(LogisticRegression()),
    "pipeline": make_pipeline(MaxAbsScaler(), LogisticRegression()),
    "RandomForest": RandomForestClassifier(10, random_state=0),
}
ASKED = {
    "SVC": SVC(),
    "SVC that breaks ties": SVC(break_ties=True),
    "SVC linear": SVC(kernel="linear"),
    "NuSVC": NuSVC(nu=0.02),
    "OneVsRest of SVC": OneVsRestClassifier(RandomForestClassifier(5, random_state=0)),
}


@cache
def data():
    rng = np.random.default_rng(0)
    X = (rng.random((160, N_FEATURES)) < 0.7) * rng.integers(1, 4, (160, N_FEATURES)).astype(float)
    y = (X @ rng.normal(size=(N_FEATURES, 4)) + rng.normal(scale=0.5, size=(160, 4))).argmax(axis=1)
    return sparse.csr_matrix(X), np.array(CLASSES)[y]


@cache
def fitted(name):
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (FAST | ASKED)[name].fit(X, y)


def changed(row, sets):
    """Put zeros into copies of a row, by positions among its active features."""
    copies = np.repeat(row.toarray(), len(sets), axis=0)
    active = np.flatnonzero(copies[0]) if len(sets) else []
    for copy, units in zip(copies, sets, strict=True):
        copy[active[list(units)]] = 0
    return sparse.csr_matrix(copies)


@pytest.mark.parametrize("name", FAST | ASKED)
@n_examples(12)
@given(number=st.integers(0, 159), target=st.sampled_from([None, *CLASSES]))
def test_the_smallest_set_for_another_class(name, number, target):
    model, row = fitted(name), data()[0][[number]]
    own = model.predict(row)[0]
    explainer = Explainer(model, target=target)
    if target == own:
        why = explainer.explain(row)
        assert (why.status, why.size, why.decision, why.target) == ("none", 0, own, own)
        assert str(why).startswith(f"The decision is '{own}' already")
        assert why.sentence(subject="Sam") == f"The decision on Sam is '{own}' already."
        return

    def flips(sets):
        decided = model.predict(changed(row, sets))
        return decided != own if target is None else decided == target

    least, answers = minimum(flips, row.nnz)
    why = explainer.explain(row)
    assert (why.local_model == "black box") == (name in ASKED)
    assert (why.decision, why.n_classes, why.threshold) == (own, 4, 0.0)
    assert (why.status, why.score >= 0) == ("none" if least is None else "found", True)
    if least is not None:
        positions = np.flatnonzero(np.isin(row.indices, why.columns))
        assert tuple(positions) in answers
        assert why.proven_minimum
        decided = model.predict(changed(row, [tuple(positions)]))[0]
        assert why.decision_without == decided
        assert why.score_without <= 0  # of equal classes the first decides
        assert len(why.path) == why.size


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_finds_what_the_model_confirms(search):
    X, _ = data()
    model = fitted("MLP")
    for number in range(8):
        why = Explainer(model, search=search).explain(X[[number]])
        assert why
        row = X[[number]].toarray()
        row[0, list(why.columns)] = 0
        assert model.predict(sparse.csr_matrix(row))[0] == why.decision_without != why.decision


@pytest.mark.parametrize("name", ["LogisticRegression", "MLP", "LinearSVC"])
def test_formula_and_model_agree_on_every_scale(name):
    X, _ = data()
    model = fitted(name)
    explainer = Explainer(model)
    black_box = Explainer(
        lambda X: model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X),
        class_names=CLASSES,
    )
    rng = np.random.default_rng(0)
    for number in range(10):
        ours, theirs = explainer.local_model(X[[number]]), black_box.local_model(X[[number]])
        removed = rng.random((30, ours.n_features)) < 0.5
        np.testing.assert_allclose(ours.evidence(removed), theirs.evidence(removed), rtol=1e-9, atol=1e-12)
        assert ours.evidence_of_row() == pytest.approx(theirs.evidence_of_row())
        np.testing.assert_array_equal(ours.flips(ours.scores(removed)), theirs.flips(theirs.scores(removed)))
        lime = [explain.rank(X[[number]], "lime", n_samples=200) for explain in (explainer, black_box)]
        assert dict(lime[0]) == pytest.approx(dict(lime[1]), abs=1e-9)


def test_alternatives_are_all_irreducible_sets():
    X, _ = data()
    for name in ("MLP", "LogisticRegression"):
        fast = Explainer(fitted(name))
        slow = Explainer(fitted(name).predict_proba, class_names=CLASSES)
        for number in range(6):
            ours, theirs = fast.alternatives(X[[number]]), slow.alternatives(X[[number]])
            assert {frozenset(why.columns) for why in ours} == {frozenset(why.columns) for why in theirs}


def test_names_of_classes():
    X, _ = data()
    explainer = Explainer(
        fitted("LogisticRegression"), class_names=["ants", "bees", "cats", "dogs"], target="cats"
    )
    number = next(i for i in range(160) if fitted("LogisticRegression").predict(X[[i]])[0] == "a")
    why = explainer.explain(X[[number]])
    assert (why.decision, why.decision_without) == ("ants", "cats")
    assert Explainer(fitted("LogisticRegression"), target="c").explain(X[[number]]).columns == why.columns


def test_two_classes_have_names_too():
    X, y = data()
    model = LogisticRegression().fit(X, y == "a")
    why = Explainer(model, class_names=["other", "ant"]).explain(X[[0]])
    assert {why.decision, why.decision_without} == {"other", "ant"}
    assert why.decision == ("ant" if why.score >= 0.5 else "other")
    there = Explainer(model, class_names=["other", "ant"], target=why.decision).explain(X[[0]])
    assert (there.status, there.size) == ("none", 0)
    assert "already" in str(there)
    assert Explainer(model, class_names=["other", "ant"], target=why.decision_without).explain(X[[0]])


def test_scores_of_pairs_are_refused():
    X, y = data()
    model = SVC(decision_function_shape="ovo").fit(X, y)
    with pytest.raises(
        ModelError, match=r'shape \(1, 4\), got \(1, 6\)\. .* set decision_function_shape="ovr"'
    ):
        Explainer(model).explain(X[[0]])


def test_wrong_outputs_are_named():
    explainer = Explainer(lambda X: np.ones((X.shape[0], 2)), class_names=["x", "y", "z"])
    with pytest.raises(ModelError, match=r"one score a row and class, shape \(1, 3\), got \(1, 2\)"):
        explainer.explain([1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.5}, "threshold must not be given for 4 classes"),
        ({"target": "e"}, r"target must be one of the classes \('a', 'b', 'c', 'd'\), got 'e'"),
        ({"class_names": ["x", "y"]}, "class_names must have 4 names"),
        ({"class_names": "abcd"}, "class_names must be a sequence of names, got the string"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        Explainer(fitted("LogisticRegression"), **options)


def test_the_sentence_names_the_classes():
    X, _ = data()
    why = Explainer(fitted("LogisticRegression")).explain(X[[0]])
    assert f"the decision would be '{why.decision_without}' instead of '{why.decision}'" in str(why)


def test_linear_discriminants_of_dense_rows():
    X, y = data()
    model = LinearDiscriminantAnalysis().fit(X.toarray(), y)
    row = X[[3]].toarray()
    why = Explainer(model).explain(row)
    assert why.local_model == "linear"
    row[0, list(why.columns)] = 0
    assert model.predict(row)[0] == why.decision_without != why.decision


def test_what_is_proven_of_a_target_is_said_of_the_target():
    X = (np.random.default_rng(0).random((80, 8)) < 0.5) * 1.0
    y = np.array(["a", "b", "c"])[(X[:, :3] * [1, 1.1, 1.2]).argmax(axis=1)]
    model = LogisticRegression(C=10).fit(X, y)
    row = [0, 0, 1, 0, 0, 1, 1, 0.0]
    why = Explainer(model, target="b").explain(row)
    assert (why.status, why.target) == ("none", "b")
    assert "the decision does not become 'b' (gap" in str(why)
    sentence = why.sentence(subject="Sam")
    assert (
        sentence
        == "Whichever of the 3 active features were left out, the decision on Sam would still not be 'b'."
    )
    found = Explainer(model, target="a").explain(row)
    assert found  # so the decision itself does not stay
    assert "Proven: no smaller set of features turns the decision to &#x27;a&#x27;." in found._repr_html_()
    assert [bool(each) for each in Explainer(model, target="a").explain_many(X[:5])]  # those at 'a' included


@pytest.mark.parametrize("target", [[0], np.array([0, 1]), {"a"}])
def test_a_target_is_one_class(target):
    with pytest.raises(InputError, match="target must be a class, got"):
        Explainer(fitted("LogisticRegression"), target=target)
