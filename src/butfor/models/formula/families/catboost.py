"""CatBoost's classifiers: symmetric and other trees, read from the JSON form of the model."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.formula.families.boosted import boosted_network
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.nodes import Trees, spread
from butfor.models.formula.trees.tree_map import TreeMap

MAX_LEAVES = 5_000_000
"""A model with more leaves is not read: its nodes would fill the memory."""
MAX_NESTED_LEAVES = 500_000
"""The same for trees that are not symmetric: their JSON form is very long."""
KEYS = {"features_info", "model_info", "oblivious_trees", "scale_and_bias", "trees"}
"""What the JSON form of a model may have, if the model has float features only."""
LOGISTIC_LOSSES = ("Logloss", "CrossEntropy")
MISSING_LEFT = {"AsIs": True, "AsFalse": True, "AsTrue": False}
"""Whether a missing value goes left, by CatBoost's word for it. "AsIs": no comparison with NaN holds."""


class FloatFeatures(NamedTuple):
    """The features of the model, by the number that splits know them by."""

    column: npt.NDArray[np.int32]
    missing_left: BoolArray


class NodeBlock(NamedTuple):
    """Some nodes of the model. Places count all nodes of all blocks."""

    feature: IntArray
    """Inner nodes: the number of their feature; −1 if it is no float feature."""
    border: FloatArray
    """Inner nodes: values above this go right."""
    inner: IntArray
    """Inner nodes: their places."""
    left: IntArray
    """Inner nodes: the places of their children on the left."""
    right: IntArray
    values: FloatArray
    """All nodes × outputs: the numbers of the leaves."""
    roots: IntArray
    """The places of the roots of trees in this block."""


def read_catboost(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Return a classifier of CatBoost as a sum of trees; None if it has more than float features.

    CatBoost rounds values to single precision, compares them by ">" with a border of single precision, and
    adds up in double precision. An absent entry of CSR is a zero to it.
    """
    if method != "predict_proba" or not _may_be_read(model):
        return None
    exported = _exported(model)
    features, loss = _float_features(exported), _loss(exported)
    scale, bias = exported["scale_and_bias"]
    n_outputs = len(bias)
    if features is None or n_outputs != _n_outputs(model, loss):
        return None
    trees = _read_trees(exported, features, n_outputs)
    if trees is None or len(trees.roots) != model.tree_count_:
        return None
    tree_map = TreeMap(trees.rescaled(scale), np.array(bias, dtype=np.float64), steps)
    return boosted_network(tree_map, method)


def _may_be_read(model: Any) -> bool:
    """Return whether the model is fitted, not too large, knows numbers only and decides at one half."""
    if not model.is_fitted() or not model.tree_count_:
        return False
    others = (
        model.get_cat_feature_indices(),
        model.get_text_feature_indices(),
        model.get_embedding_feature_indices(),
    )
    counts = np.asarray(model.get_tree_leaf_counts(), dtype=np.int64)
    symmetric = not (counts & (counts - 1)).any()
    if any(others) or counts.sum() > (MAX_LEAVES if symmetric else MAX_NESTED_LEAVES):
        return False
    # Another threshold is that of predict only: predict_proba does not know it.
    threshold = getattr(model, "get_probability_threshold", lambda: 0.5)()
    return threshold is None or bool(threshold == 0.5)


def _exported(model: Any) -> dict[str, Any]:
    """Return the JSON form of a model, which CatBoost writes to a file only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        exported: dict[str, Any] = json.loads(path.read_bytes())
    return exported


def _loss(exported: dict[str, Any]) -> str:
    """Return the name of the loss; empty if the model does not say."""
    parameters = exported.get("model_info", {}).get("params", {})
    return str(parameters.get("loss_function", {}).get("type", ""))


def _n_outputs(model: Any, loss: str) -> int:
    """Return how many outputs the loss has where probabilities are logistic or softmax; 0 for another loss.

    Two classes with the loss of many have two outputs: not one number for the decision.
    """
    n_classes = len(model.classes_)
    if loss in LOGISTIC_LOSSES:
        return 1 if n_classes == 2 else 0
    return n_classes if loss == "MultiClass" and n_classes > 2 else 0


def _float_features(exported: dict[str, Any]) -> FloatFeatures | None:
    """Return the columns of the features; None if there are features of other kinds."""
    info = dict(exported.get("features_info", {}))
    features = info.pop("float_features", [])
    if any(info.values()) or not set(exported) <= KEYS:
        return None
    if any(feature["nan_value_treatment"] not in MISSING_LEFT for feature in features):
        return None
    place = np.array([feature["feature_index"] for feature in features], dtype=np.intp)
    if not np.array_equal(place, np.arange(len(features))):
        return None
    return FloatFeatures(
        np.array([feature["flat_feature_index"] for feature in features], dtype=np.int32),
        np.array([MISSING_LEFT[feature["nan_value_treatment"]] for feature in features], dtype=bool),
    )


def _read_trees(exported: dict[str, Any], features: FloatFeatures, n_outputs: int) -> Trees | None:
    """Return all trees; None if a split is on something else than a float feature."""
    symmetric = exported.get("oblivious_trees")
    parts = list(
        _levels(exported["trees"], n_outputs) if symmetric is None else _by_depth(symmetric, n_outputs)
    )
    feature, border, inner, left, right, values, roots = map(np.concatenate, zip(*parts, strict=True))
    if (feature < 0).any():
        return None
    n_nodes = len(values)
    return Trees(
        feature=spread(features.column[feature], inner, n_nodes, -1),
        threshold=spread(border, inner, n_nodes, 0.0),
        left=spread(left, inner, n_nodes, -1).astype(np.int32),
        right=spread(right, inner, n_nodes, -1).astype(np.int32),
        missing_left=spread(features.missing_left[feature], inner, n_nodes, False),
        values=values,
        roots=roots.astype(np.int32),
        single=True,
    )


def _by_depth(trees: list[Any], n_outputs: int) -> Iterator[NodeBlock]:
    """Yield the nodes of symmetric trees, those of one depth together."""
    groups: dict[int, list[Any]] = {}
    for tree in trees:
        groups.setdefault(len(tree.get("splits") or ()), []).append(tree)
    start = 0
    for depth, group in groups.items():
        yield _symmetric(group, depth, start, n_outputs)
        start += len(group) * (2 ** (depth + 1) - 1)


def _symmetric(trees: list[Any], depth: int, start: int, n_outputs: int) -> NodeBlock:
    """Return the nodes of symmetric trees of one depth: tree by tree, the nodes of a tree level by level.

    Bit i of the number of a leaf says whether the value is above the border of split i. So the root compares
    by the last split, and the leaves are in the order of their numbers.
    """
    n_inner = 2**depth - 1
    split_of = np.repeat(np.arange(depth)[::-1], 2 ** np.arange(depth))
    feature, border = _compared([split for tree in trees for split in tree.get("splits") or ()])
    feature = feature.reshape(len(trees), depth)[:, split_of].ravel()
    border = border.reshape(len(trees), depth)[:, split_of].ravel()
    roots = start + (2 * n_inner + 1) * np.arange(len(trees))
    inner = (roots[:, np.newaxis] + np.arange(n_inner)).ravel()
    left = (roots[:, np.newaxis] + 2 * np.arange(n_inner) + 1).ravel()
    values = np.zeros((len(trees), 2 * n_inner + 1, n_outputs))
    leaves = np.array([tree["leaf_values"] for tree in trees], dtype=np.float64)
    values[:, n_inner:] = leaves.reshape(len(trees), n_inner + 1, n_outputs)
    return NodeBlock(feature, border, inner, left, left + 1, values.reshape(-1, n_outputs), roots)


def _levels(trees: list[Any], n_outputs: int) -> Iterator[NodeBlock]:
    """Yield the nodes of trees of nested nodes, level by level, the roots first."""
    level, start = trees, 0
    roots = np.arange(len(trees))
    while level:
        is_inner = np.array(["split" in node for node in level])
        parents = [node for node in level if "split" in node]
        leaves = np.array([node["value"] for node in level if "split" not in node], dtype=np.float64)
        values = np.zeros((len(level), n_outputs))
        values[~is_inner] = leaves.reshape(-1, n_outputs)
        left = start + len(level) + np.arange(len(parents))
        compared = _compared([node["split"] for node in parents])
        inner = start + np.flatnonzero(is_inner)
        yield NodeBlock(*compared, inner, left, left + len(parents), values, roots)
        start, roots = start + len(level), roots[:0]
        level = [node["left"] for node in parents] + [node["right"] for node in parents]


def _compared(splits: list[Any]) -> tuple[IntArray, FloatArray]:
    """Return the features, −1 for those of other kinds, and the borders of splits."""
    feature = np.array([split.get("float_feature_index", -1) for split in splits], dtype=np.intp)
    border = np.array([split.get("border", 0.0) for split in splits], dtype=np.float32)
    return feature, border.astype(np.float64)
