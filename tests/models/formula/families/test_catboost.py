"""CatBoost's models are read as the functions that they are."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoost, CatBoostClassifier, sum_models
from scipy import sparse
from tree_walk import (
    assert_sound,
    classes_of,
    rows_on_thresholds,
    sparse_numbers,
    walked_outputs,
    walked_probabilities,
)

from butfor.models.formula.families.catboost import MAX_LEAVES, read_catboost
from butfor.models.formula.preprocessing import Preprocessing

SMALL = {"iterations": 12, "depth": 4, "thread_count": 1, "random_seed": 0}
QUIET = {"verbose": 0, "allow_writing_files": False}
POLICIES = [
    {},
    {"grow_policy": "Depthwise", "min_data_in_leaf": 4},
    {"grow_policy": "Lossguide", "max_leaves": 7, "depth": 6},
]


def fit(X, y, fit_options=None, **options):
    return CatBoostClassifier(**{**SMALL, **QUIET, **options}).fit(X, y, **(fit_options or {}))


def read(model, method="predict_proba"):
    return read_catboost(model, method, Preprocessing())


def raw(model, X):
    """Return the model's own sums (rows × outputs)."""
    return model.predict(X, prediction_type="RawFormulaVal", thread_count=1).reshape(X.shape[0], -1)


def questions(network, X):
    """Return rows of every form: as fitted, dense, and on thresholds, in double and single precision."""
    at = rows_on_thresholds(network.affine_maps[0].trees, X)
    return X[:60], X[:60].toarray(), at, sparse.csr_matrix(at), at.astype(np.float32)


def assert_reads(model, X):
    """Compare what was read with the model itself, on all rows in question."""
    network = read(model)
    assert network.kind == "tree ensemble"
    (tree_map,) = network.affine_maps
    assert_sound(tree_map.trees)
    assert len(tree_map.trees.roots) == model.tree_count_
    assert not tree_map.absent_is_missing
    for rows in questions(network, X):
        ours, theirs = walked_outputs(network, rows), raw(model, rows)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
        probabilities = walked_probabilities(network, rows)
        own = model.predict(rows, prediction_type="Probability", thread_count=1)
        np.testing.assert_allclose(probabilities, own, rtol=1e-12, atol=1e-15)
    return network


@pytest.mark.parametrize("options", POLICIES)
@pytest.mark.parametrize("kind", ["bits", "counts", "reals"])
def test_two_classes(kind, options):
    X = sparse_numbers(1, kind)
    network = assert_reads(fit(X, classes_of(X, 1), **options), X)
    assert network.affine_maps[0].trees.values.shape[1] == 1


@pytest.mark.parametrize("options", POLICIES)
def test_many_classes(options):
    X = sparse_numbers(2, "counts")
    network = assert_reads(fit(X, classes_of(X, 2, 4), **options), X)
    assert network.affine_maps[0].trees.values.shape[1] == 4
    assert network.softmax


@pytest.mark.parametrize(
    "options",
    [
        {"boost_from_average": True},
        {"loss_function": "CrossEntropy"},
        {"auto_class_weights": "Balanced"},
        {"ignored_features": [0, 3]},
        {"depth": 1},
        {"boosting_type": "Ordered"},
        {"model_shrink_rate": 0.1},
    ],
)
def test_other_options(options):
    X = sparse_numbers(3, "reals")
    assert_reads(fit(X, classes_of(X, 3), **options), X)


def test_trees_of_several_depths():
    """A tree on few values ends early."""
    X = sparse_numbers(4, "bits", n_columns=3)
    model = fit(X, classes_of(X, 4), iterations=40, depth=6, random_strength=10)
    network = assert_reads(model, X)
    sizes = np.diff(np.append(network.affine_maps[0].trees.roots, len(network.affine_maps[0].trees.feature)))
    assert len(np.unique(sizes)) > 1


def test_scale_and_bias():
    X = sparse_numbers(5, "reals")
    model = fit(X, classes_of(X, 5))
    model.set_scale_and_bias(0.7, -0.3)
    assert_reads(model, X)


def test_the_best_model():
    """Trees after the best iteration are cut off: they are no part of the model."""
    X = sparse_numbers(6, "counts")
    y = np.random.default_rng(0).integers(0, 2, X.shape[0])
    evaluation = {"eval_set": (X[200:], y[200:]), "use_best_model": True}
    model = fit(X[:200], y[:200], evaluation, iterations=60, learning_rate=0.5)
    assert model.tree_count_ < 60
    assert_reads(model, X)
    model = fit(X, y)
    model.shrink(3)
    assert len(assert_reads(model, X).affine_maps[0].trees.roots) == 3


def test_a_model_from_a_file(tmp_path):
    X = sparse_numbers(7, "reals")
    fit(X, np.array(["no", "yes"])[classes_of(X, 7)]).save_model(str(tmp_path / "model.cbm"))
    assert_reads(CatBoostClassifier().load_model(str(tmp_path / "model.cbm")), X)


def test_the_native_class():
    X = sparse_numbers(8, "reals")
    for n_classes, loss in ((2, "Logloss"), (3, "MultiClass")):
        options = {**SMALL, **QUIET, "loss_function": loss}
        assert_reads(CatBoost(options).fit(X, classes_of(X, 8, n_classes)), X)
    assert read(CatBoost({**SMALL, **QUIET}).fit(X, classes_of(X, 8))) is None


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("mode", ["Min", "Max"])
def test_missing_values(mode, policy):
    """Columns with and without missing values in training: the rule is the model's own."""
    X = sparse_numbers(9, "reals")
    y = classes_of(X, 9)
    dense = X.toarray()
    rng = np.random.default_rng(0)
    dense[:, :4][rng.random((len(dense), 4)) < 0.3] = np.nan
    model = fit(dense, y, nan_mode=mode, **policy)
    network = assert_reads(model, X)
    dense[rng.random(dense.shape) < 0.3] = np.nan
    np.testing.assert_allclose(walked_outputs(network, dense), raw(model, dense), rtol=1e-12, atol=1e-13)
    inner = network.affine_maps[0].trees.feature >= 0
    assert network.affine_maps[0].trees.missing_left[inner].all() == (mode == "Min")


def test_numbers_between_floats():
    """CatBoost rounds to single precision first: what is just above a border may be on it."""
    X = sparse_numbers(10, "reals")
    model = fit(X, classes_of(X, 10))
    network = read(model)
    trees = network.affine_maps[0].trees
    assert trees.single
    at = rows_on_thresholds(trees, X)
    for factor in (1 + 1e-9, 1 - 1e-9, 1 + 1e-7, 1 - 1e-7):
        np.testing.assert_allclose(
            walked_outputs(network, at * factor), raw(model, at * factor), rtol=1e-12, atol=1e-13
        )


class OwnLoss:
    """A loss of the user's own."""

    def calc_ders_range(self, approxes, targets, weights):
        return [(targets[i] - 0.5, -0.25) for i in range(len(targets))]


class TestRefused:
    X = sparse_numbers(11, "counts")
    y = classes_of(X, 11)
    OTHER_LOSSES: ClassVar = [
        ("MultiClass", 2),
        ("MultiClassOneVsAll", 3),
        ("Focal:focal_alpha=0.5;focal_gamma=2", 2),
    ]

    @pytest.mark.parametrize(("loss", "n_classes"), OTHER_LOSSES)
    def test_other_losses(self, loss, n_classes):
        assert read(fit(self.X, classes_of(self.X, 11, n_classes), loss_function=loss)) is None

    def test_many_labels(self):
        labels = np.column_stack([self.y, 1 - self.y])
        assert read(fit(self.X.toarray(), labels, loss_function="MultiLogloss")) is None

    @pytest.mark.filterwarnings("ignore")
    def test_a_loss_of_the_users_own(self):
        options = {"loss_function": OwnLoss(), "eval_metric": "Logloss", "iterations": 2}
        assert read(fit(self.X.toarray(), self.y, **options)) is None

    @pytest.mark.parametrize("one_hot", [2, 20])
    def test_categories(self, one_hot):
        frame = pd.DataFrame(self.X.toarray())
        frame[0] = frame[0].astype(int).astype(str)
        assert read(fit(frame, self.y, cat_features=[0], one_hot_max_size=one_hot)) is None

    def test_texts_and_embeddings(self):
        dense = self.X.toarray()
        frame = pd.DataFrame({"number": dense[:, 0], "vector": [list(row) for row in dense]})
        assert read(fit(frame, self.y, embedding_features=["vector"])) is None
        frame["text"] = ["good film" if one else "bad film" for one in self.y]
        frame = frame[["number", "text"]]
        assert read(fit(frame, self.y, text_features=["text"])) is None

    def test_another_threshold_of_predict(self):
        model = fit(self.X, self.y)
        model.set_probability_threshold(0.3)
        assert read(model) is None

    def test_a_sum_of_models(self):
        """It does not say by which loss it was fitted."""
        model = fit(self.X, self.y)
        assert read(sum_models([model, model], weights=[0.5, 0.5])) is None

    def test_what_is_no_model_yet(self):
        assert read(CatBoostClassifier()) is None

    def test_another_method(self):
        assert read(fit(self.X, self.y), "decision_function") is None

    def test_too_many_leaves(self):
        """The leaves are counted before anything is written."""

        class Huge(CatBoostClassifier):
            def get_tree_leaf_counts(self):
                return np.array([MAX_LEAVES, 1])

        model = Huge(**SMALL, **QUIET).fit(self.X, self.y)
        assert read(model) is None
