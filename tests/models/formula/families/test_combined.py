"""Votes, stacks and bags are read where all of their members are."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from tree_walk import classes_of, sparse_numbers

from butfor import Explainer
from butfor.models import as_scorer, recognise


def forest(n_trees=4):
    return RandomForestClassifier(n_trees, max_depth=4, random_state=0)


def boosted():
    return GradientBoostingClassifier(n_estimators=4, random_state=0)


def votes(*members, **options):
    return VotingClassifier(
        [(str(i), each) for i, each in enumerate(members)], **{"voting": "soft", **options}
    )


def stack(*members, **options):
    return StackingClassifier([(str(i), each) for i, each in enumerate(members)], **{"cv": 2, **options})


READ = {
    "votes": votes(forest(), boosted(), LogisticRegression()),
    "weighted votes": votes(forest(), LogisticRegression(), weights=[2, 0.5]),
    "votes without a member": votes(forest(), "drop", boosted(), weights=[1, 5, 2]),
    "votes of pipelines": votes(make_pipeline(MaxAbsScaler(), forest()), boosted()),
    "bagged forests": BaggingClassifier(forest(2), n_estimators=3, random_state=0),
    "bagged linear models": BaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0),
    "stack": stack(forest(), boosted(), LinearSVC()),
    "stack without a member": stack(forest(), "drop", LogisticRegression()),
    "stack on probabilities": stack(boosted(), LogisticRegression(), stack_method="predict_proba"),
    "stack below a network": stack(
        forest(), boosted(), final_estimator=MLPClassifier((3,), max_iter=2000, random_state=0)
    ),
    "stack below a machine": stack(forest(), LogisticRegression(), final_estimator=LinearSVC()),
    "votes of a stack": votes(stack(forest(), LogisticRegression()), forest(3)),
}
REFUSED = {
    "hard votes": votes(forest(), boosted(), voting="hard"),
    "votes with a neighbour": votes(forest(), KNeighborsClassifier()),
    "bagging of some features": BaggingClassifier(LogisticRegression(), max_features=0.5, random_state=0),
    "bagging of neighbours": BaggingClassifier(KNeighborsClassifier(), n_estimators=3),
    "stack with the features": stack(forest(), passthrough=True),
    "stack of decisions": stack(forest(), stack_method="predict"),
    "stack with a neighbour": stack(forest(), KNeighborsClassifier()),
    "stack below trees": stack(forest(), boosted(), final_estimator=forest(2)),
    "stack below a scaler": stack(
        forest(), boosted(), final_estimator=make_pipeline(MaxAbsScaler(), LogisticRegression())
    ),
}


def fitted(model, n_classes=2):
    X = sparse_numbers(6, "counts", n_rows=120)
    return model.fit(X, classes_of(X, 7, n_classes)), X


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_the_model(name):
    model, X = fitted(READ[name])
    response = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
    explainer, rng = Explainer(model), np.random.default_rng(0)
    for row in X[:8]:
        if row.nnz == 0:
            continue
        local = explainer.local_model(row)
        assert local.kind != "black box"
        removed = rng.random((20, row.nnz)) < 0.4
        copies = np.repeat(row.toarray(), 20, axis=0)
        for copy, gone in zip(copies, removed, strict=True):
            copy[row.indices[gone]] = 0
        rows = sparse.csr_matrix(copies)
        theirs = response(rows)
        theirs = theirs[:, 1] if theirs.ndim == 2 else theirs
        np.testing.assert_allclose(local.reported(local.scores(removed)), theirs, rtol=1e-9, atol=1e-12)
        flips = model.predict(rows) != model.predict(row)[0]
        np.testing.assert_array_equal(local.flips(local.scores(removed)), flips)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    model, X = fitted(REFUSED[name])
    explainer = Explainer(model) if name != "hard votes" else Explainer(model.predict, threshold=0.5)
    assert explainer.local_model(X[[0]]).kind == "black box"


@pytest.mark.parametrize(
    "model",
    [
        votes(forest(), boosted()),  # whose outputs are a softmax
        stack(forest(), LogisticRegression()),
        BaggingClassifier(LogisticRegression(), n_estimators=3),
    ],
    ids=["votes", "stack", "bag"],
)
def test_three_classes_are_read_only_where_outputs_can_be_added_up(model):
    model, _ = fitted(model, 3)
    assert recognise(as_scorer(model)) is None


def test_votes_of_forests_on_three_classes():
    model, X = fitted(votes(forest(), forest(5), weights=[1, 3]), 3)
    network, rng = recognise(as_scorer(model)), np.random.default_rng(0)
    assert not network.softmax
    for row in X[:8]:
        local = Explainer(model).local_model(row)
        removed = rng.random((15, row.nnz)) < 0.4
        copies = np.repeat(row.toarray(), 15, axis=0)
        for copy, gone in zip(copies, removed, strict=True):
            copy[row.indices[gone]] = 0
        rows = sparse.csr_matrix(copies)
        outputs = local.network.outputs(local.affine.without(removed))
        np.testing.assert_allclose(outputs, model.predict_proba(rows), rtol=1e-11, atol=1e-13)


def test_subclasses_and_patched_members_are_refused():
    class OwnVotes(VotingClassifier):
        pass

    own = OwnVotes([("a", forest()), ("b", boosted())], voting="soft")
    assert recognise(as_scorer(fitted(own)[0])) is None
    model, _ = fitted(votes(forest(), LogisticRegression()))
    assert recognise(as_scorer(model)) is not None
    model.estimators_[1].predict_proba = lambda X: np.tile([0.3, 0.7], (X.shape[0], 1))
    assert recognise(as_scorer(model)) is None
