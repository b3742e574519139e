"""scikit-learn's trees are read as the functions that they are, or not at all."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from tree_walk import assert_sound, classes_of, sparse_numbers

from butfor import Explainer
from butfor.models import as_scorer, recognise
from butfor.models.formula.families.sklearn_trees import read_ada_boost, read_bagging, read_forest
from butfor.models.formula.preprocessing import Preprocessing

MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "extra tree": ExtraTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(8, random_state=0),
    "extra trees": ExtraTreesClassifier(5, max_depth=4, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=6, random_state=0),
    "boosted from zero": GradientBoostingClassifier(n_estimators=6, init="zero", random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=6, random_state=0),
    "AdaBoost of trees": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=4, random_state=0
    ),
    "bagging": BaggingClassifier(n_estimators=5, random_state=0),
    "bagging of some features": BaggingClassifier(n_estimators=5, max_features=0.6, random_state=0),
}


def fitted(model, n_classes=2, kind="reals", dense=False):
    X = sparse_numbers(1, kind, n_rows=120)
    y = classes_of(X, 2, n_classes)
    rows = X.toarray() if dense else X
    return model.fit(rows, np.array(["c", "a", "b"])[:n_classes][y]), rows


def assert_reads(model, X, method):
    """Compare the formula with the method, on random removal sets of some rows."""
    explainer = Explainer(model if method == "predict_proba" else model.decision_function)
    rng = np.random.default_rng(0)
    n_classes = len(model.classes_)
    for i in range(12):
        row = X[[i]]
        dense = row.toarray() if sparse.issparse(row) else row
        active = np.flatnonzero(dense)
        if not len(active):
            continue
        local = explainer.local_model(row)
        assert local.kind == "tree ensemble"
        removed = rng.random((20, len(active))) < 0.4
        copies = np.repeat(dense, 20, axis=0)
        for copy, gone in zip(copies, removed, strict=True):
            copy[active[gone]] = 0
        rows = sparse.csr_matrix(copies) if sparse.issparse(row) else copies
        theirs = getattr(model, method)(rows).reshape(20, -1)
        if n_classes == 2:
            ours = local.reported(local.scores(removed))
            np.testing.assert_allclose(ours, theirs[:, -1], rtol=1e-11)
        else:
            ours = local.network.outputs(local.affine.without(removed))
            ours = softmax(ours, axis=1) if local.network.softmax else local.network.link.value(ours)
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-14)
        np.testing.assert_array_equal(
            local.flips(local.scores(removed)), model.predict(rows) != model.predict(row)[0]
        )


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_is_the_model(name, n_classes, dense):
    model, X = fitted(MODELS[name], n_classes, dense=dense)
    assert_reads(model, X, "predict_proba")
    assert_sound_but_inner_values(model)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["boosted", "boosted from zero", "AdaBoost", "AdaBoost of trees"])
def test_decision_functions(name, n_classes):
    model, X = fitted(MODELS[name], n_classes)
    assert_reads(model, X, "decision_function")


def assert_sound_but_inner_values(model):
    """Inner nodes of scikit-learn hold numbers, too, which nobody reaches."""
    (tree_map,) = recognise(as_scorer(model)).affine_maps
    trees = tree_map.trees
    trees.values[trees.feature >= 0] = 0.0
    assert_sound(trees)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_exponential_loss(method):
    model, X = fitted(GradientBoostingClassifier(loss="exponential", n_estimators=5, random_state=0))
    assert_reads(model, X, method)


def test_members_that_missed_a_class():
    """A tree of a bag that saw two of three classes knows these by their numbers."""
    model, X = fitted(BaggingClassifier(n_estimators=4, random_state=0), 3)
    numbers = np.searchsorted(model.classes_, np.array(["c", "a", "b"])[classes_of(X, 2, 3)])
    for member, missed in enumerate((0, 1, 2)):
        seen = numbers != missed
        model.estimators_[member] = DecisionTreeClassifier(random_state=0).fit(X[seen], numbers[seen])
    assert_reads(model, X, "predict_proba")


class Louder(RandomForestClassifier):
    """A subclass, which may do anything."""


class OwnTree(DecisionTreeClassifier):
    """A subclass, which may do anything."""


def is_black_box(model, X):
    return Explainer(model).local_model(X[[0]]).kind == "black box"


@pytest.mark.parametrize(
    "model",
    [
        Louder(3),
        OwnTree(),
        AdaBoostClassifier(LogisticRegression(), n_estimators=3),
        AdaBoostClassifier(OwnTree(), n_estimators=3),
        BaggingClassifier(OwnTree(), n_estimators=3),
        GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()),
        GradientBoostingClassifier(n_estimators=2, init=DecisionTreeClassifier(max_depth=1)),
    ],
    ids=str,
)
def test_what_is_not_fully_understood_is_a_black_box(model):
    assert is_black_box(*fitted(model))


@pytest.mark.parametrize("model", [RandomForestClassifier(3), DecisionTreeClassifier()])
def test_patched_methods(model):
    model, _ = fitted(model)
    model.predict_proba = lambda X: np.tile([0.3, 0.7], (X.shape[0], 1))
    assert recognise(as_scorer(model)) is None


@pytest.mark.parametrize("model", [RandomForestClassifier(3), BaggingClassifier(n_estimators=3)])
def test_patched_members(model):
    model, _ = fitted(model)
    member = model.estimators_[1]
    member.predict_proba = type(member).predict_proba.__get__(member)
    assert recognise(as_scorer(model)) is None


def test_several_outputs_are_refused():
    X, y = sparse_numbers(1, "bits"), np.random.default_rng(0).integers(0, 2, (250, 2))
    for model in (RandomForestClassifier(3), DecisionTreeClassifier()):
        assert read_forest(model.fit(X, y), "predict_proba", Preprocessing()) is None


def test_methods_that_do_not_exist_are_refused():
    forest, _ = fitted(RandomForestClassifier(3))
    bag, _ = fitted(BaggingClassifier(n_estimators=3))
    assert read_forest(forest, "decision_function", Preprocessing()) is None
    assert read_bagging(bag, "decision_function", Preprocessing()) is None
    ada, _ = fitted(AdaBoostClassifier(n_estimators=2))
    ada.algorithm = "SAMME.R"  # of older versions
    assert read_ada_boost(ada, "predict_proba", Preprocessing()) is None


TIED = {
    "own": (lambda forest: forest, {}),
    "given": (lambda forest: forest, {"threshold": 0.5}),
    "fixed": (lambda forest: FixedThresholdClassifier(forest, threshold=0.5), {}),
    "fixed, for the first class": (
        lambda forest: FixedThresholdClassifier(
            forest, threshold=0.5, pos_label=0, response_method="predict_proba"
        ),
        {},
    ),
    "a quarter, fixed": (lambda forest: FixedThresholdClassifier(forest, threshold=0.25), {}),
    "a quarter, given": (lambda forest: forest, {"threshold": 0.25}),
}


@pytest.mark.parametrize("kind", TIED)
@pytest.mark.parametrize("n_trees", [2, 4, 8])
def test_ties_of_forests(kind, n_trees):
    """Half of the trees for each class: `predict` says the first one, a threshold the positive one."""
    rng = np.random.default_rng(n_trees)
    X = (rng.random((60, 6)) < 0.5).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(scale=0.6, size=60) > 0.6).astype(int)
    wrap, options = TIED[kind]
    model = wrap(RandomForestClassifier(n_trees, random_state=1).fit(X, y)).fit(X, y)
    row = np.ones(6)
    removed = np.array(list(product([False, True], repeat=6)))
    copies = np.where(removed, 0.0, row)
    probabilities = model.predict_proba(copies)[:, 1]
    threshold = options.get("threshold")
    decided = model.predict(copies) if threshold is None else (probabilities >= threshold).astype(int)
    assert (probabilities == (0.25 if "quarter" in kind else 0.5)).any() or n_trees == 2
    local = Explainer(model, **options).local_model(row)
    assert local.kind == "tree ensemble"
    np.testing.assert_array_equal(local.flips(local.scores(removed)), decided != decided[0])
    with_each = decided[2 ** np.arange(6)[::-1]]  # as `product` orders the sets of one unit
    np.testing.assert_array_equal(
        local.flips(local.scores_with_each((), np.arange(6))), with_each != decided[0]
    )
