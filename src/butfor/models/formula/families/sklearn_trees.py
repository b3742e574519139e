"""Decision trees of scikit-learn, and the ensembles that it makes of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.models.arrays import FloatArray, IntArray
from butfor.models.formula.activations import Identity, Quotient
from butfor.models.formula.families.boosted import KIND, boosted_network
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.nodes import Trees, joined
from butfor.models.formula.trees.tree_map import TreeMap

TREES = {"DecisionTreeClassifier", "ExtraTreeClassifier"}


def read_forest(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read a tree, a forest or extremely randomised trees: the mean of the probabilities at the leaves."""
    members = [model] if type(model).__name__ in TREES else list(model.estimators_)
    n_classes = len(model.classes_)
    if method != "predict_proba" or model.n_outputs_ != 1 or not are_trees(members):
        return None
    trees = joined([as_trees(member, _probabilities(member, n_classes)) for member in members])
    return _mean(trees, len(members), steps)


def read_bagging(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read a BaggingClassifier of decision trees, each of which may see some of the features only."""
    if method != "predict_proba" or not are_trees(model.estimators_):
        return None
    n_classes = len(model.classes_)
    trees = [
        as_trees(member, _probabilities(member, n_classes), columns)
        for member, columns in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    return _mean(joined(trees), len(trees), steps)


def read_ada_boost(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read an AdaBoostClassifier of decision trees: weighted votes; their softmax makes probabilities."""
    if not are_trees(model.estimators_) or getattr(model, "algorithm", "") == "SAMME.R":
        return None
    weights = model.estimator_weights_[: len(model.estimators_)]
    n_classes, shares = len(model.classes_), weights / model.estimator_weights_.sum()
    trees = joined(
        [
            as_trees(member, share * _votes(member, model.classes_))
            for member, share in zip(model.estimators_, shares, strict=True)
        ]
    )
    if n_classes == 2:
        return boosted_network(TreeMap(trees, np.zeros(1), steps), method)
    scale = 1 / (n_classes - 1) if method == "predict_proba" else 1.0
    return boosted_network(TreeMap(trees.rescaled(scale), np.zeros(n_classes), steps), method)


def read_gradient_boosting(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read a GradientBoostingClassifier that starts from a constant."""
    constant_start = isinstance(model.init_, str) or type(model.init_).__name__ == "DummyClassifier"
    if not constant_start or model.loss not in ("log_loss", "exponential"):
        return None
    stages = model.estimators_
    output_of = np.tile(np.arange(stages.shape[1]), stages.shape[0])
    rate = model.learning_rate
    trees = joined([as_trees(each, rate * each.tree_.value[:, 0, :1]) for each in stages.ravel()])
    bias = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    trees = replace(trees, output_of=output_of)
    if model.loss == "exponential" and method == "predict_proba":
        trees, bias = trees.rescaled(2.0), 2 * bias
    return boosted_network(TreeMap(trees, bias.astype(np.float64), steps), method)


def are_trees(members: Sequence[Any]) -> bool:
    """Return whether all of these are scikit-learn's own decision trees, as they were fitted."""
    return all(
        type(member).__name__ in TREES
        and type(member).__module__.startswith("sklearn.")
        and not {"predict", "predict_proba"} & set(vars(member))
        for member in members
    )


def as_trees(member: Any, values: FloatArray, columns: IntArray | None = None) -> Trees:
    """Return one fitted tree with these values at its nodes; `columns` are those that it sees."""
    tree = member.tree_
    is_leaf = tree.children_left < 0
    feature = np.where(is_leaf, -1, tree.feature if columns is None else columns[np.maximum(tree.feature, 0)])
    return Trees(
        feature=feature.astype(np.int32),
        threshold=tree.threshold.astype(np.float64),
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        missing_left=tree.missing_go_to_left.astype(bool),
        values=values,
        roots=np.zeros(1, dtype=np.int32),
        single=True,
    )


def _probabilities(member: Any, n_classes: int) -> FloatArray:
    """Return the probabilities of all classes at each node; of two classes only that of the second."""
    known = member.tree_.value[:, 0, : len(member.classes_)]
    if len(member.classes_) < n_classes:  # it has missed some; its classes are the numbers of the ensemble's
        every = np.zeros((len(known), n_classes))
        every[:, np.asarray(member.classes_, dtype=np.intp)] = known
        known = every
    return np.asarray(known[:, 1:] if n_classes == 2 else known)


def _votes(member: Any, classes: Any) -> FloatArray:
    """Return, for each node, one vote for the class of the node, and against all others."""
    chosen = member.classes_[member.tree_.value[:, 0].argmax(axis=1)]
    is_chosen = chosen[:, np.newaxis] == classes
    if len(classes) == 2:
        return np.where(is_chosen[:, 1:], 2.0, -2.0)
    return np.where(is_chosen, 1.0, -1 / (len(classes) - 1))


def _mean(trees: Trees, n_trees: int, steps: Preprocessing) -> Network:
    link = Quotient(float(n_trees)) if n_trees > 1 else Identity()
    tree_map = TreeMap(trees, np.zeros(trees.values.shape[1]), steps, adds_up_votes=True)
    return Network(KIND, (tree_map,), link=link, ties_to_first=True)
