"""Checks of XGBoost's model files, JSON or UBJSON.

XGBoost believes much of what such a file says, and a wrong number can take the process down. So the numbers
and their counts are checked before it gets the file.
"""

import json
from typing import Any

import numpy as np

from butfor._ubjson import read_ubjson

OF_NODES = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    "split_conditions",
    "default_left",
    "loss_changes",
    "sum_hessian",
)
OF_CATEGORIES = ("categories_nodes", "categories_segments", "categories_sizes")
NO_NODE = -1


def require_xgboost_document(content: bytes) -> dict[str, Any]:
    """Return the model's attributes; raise `ValueError` unless XGBoost has written a file of this form."""
    try:
        is_text = content.lstrip()[1:].lstrip()[:1] == b'"'
        learner = (json.loads(content) if is_text else read_ubjson(content))["learner"]
        n_features = int(learner["learner_model_param"]["num_feature"])
        for key in ("feature_names", "feature_types"):
            if len(learner.get(key, ())) not in (0, n_features):
                raise ValueError(f"{key} are not as many as the features")
        _check_booster(learner["gradient_booster"], learner["learner_model_param"], n_features)
        return dict(learner.get("attributes", {}))
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _check_booster(booster: Any, shape: Any, n_features: int) -> None:
    if "weight_drop" in booster:  # DART
        model = booster["gbtree"]["model"]
        _require_equal("weight_drop", len(booster["weight_drop"]), len(model["trees"]))
    else:
        model = booster["model"]
    n_outputs = max(1, int(shape["num_class"]), int(shape.get("num_target", 1)))
    if booster["name"] == "gblinear":
        _require_equal("weights", len(model["weights"]), (n_features + 1) * n_outputs)
        return
    trees = model["trees"]
    _require_equal("num_trees", int(model["gbtree_model_param"]["num_trees"]), len(trees))
    outputs = np.asarray(model["tree_info"])
    _require_equal("tree_info", len(outputs), len(trees))
    if len(outputs) and not 0 <= outputs.min() <= outputs.max() < n_outputs:
        raise ValueError("tree_info names an output that is not there")
    if "iteration_indptr" in model:
        _check_iterations(np.asarray(model["iteration_indptr"]), len(trees))
    if sorted(tree["id"] for tree in trees) != list(range(len(trees))):
        raise ValueError("the trees are not numbered from 0 on")
    for tree in trees:
        _check_tree(tree, n_features, n_outputs)


def _check_iterations(starts: Any, n_trees: int) -> None:
    if not len(starts) or starts[0] != 0 or starts[-1] != n_trees or (np.diff(starts) < 0).any():
        raise ValueError("iteration_indptr does not fit the trees")


def _check_tree(tree: Any, n_features: int, n_outputs: int) -> None:
    n_nodes = int(tree["tree_param"]["num_nodes"])
    width = int(tree["tree_param"].get("size_leaf_vector", 1)) or 1
    _require_equal("num_feature", int(tree["tree_param"]["num_feature"]), n_features)
    if n_nodes < 1 or width not in (1, n_outputs):
        raise ValueError(f"num_nodes is {n_nodes} and size_leaf_vector {width}")
    for key in OF_NODES:
        _require_equal(key, len(tree[key]), n_nodes)
    _require_equal("base_weights", len(tree["base_weights"]), n_nodes * width)
    inner = _check_children(tree, n_nodes, width)
    features = np.asarray(tree["split_indices"], dtype=np.int64)[inner]
    if len(features) and not 0 <= features.min() <= features.max() < n_features:
        raise ValueError("split_indices name a column that is not there")
    _check_categories(tree, n_nodes)


def _check_children(tree: Any, n_nodes: int, width: int) -> Any:
    """Return which nodes are no leaves; each but the first must be the child of one other, at most."""
    left, right, parents = (np.asarray(tree[key], dtype=np.int64) for key in OF_NODES[:3])
    inner = left != NO_NODE
    children = np.concatenate([left[inner], right[inner]])
    ordered = np.sort(children)
    in_range = not len(ordered) or (ordered[0] > 0 and ordered[-1] < n_nodes)
    if not in_range or (np.diff(ordered) == 0).any():
        raise ValueError("left_children and right_children make no tree")
    if not np.array_equal(parents[children], np.tile(np.flatnonzero(inner), 2)):
        raise ValueError("parents contradict the children")
    if "leaf_weights" in tree:  # of vectors, whose numbers stand in the place of right children
        n_leaves = int((~inner).sum())
        _require_equal("leaf_weights", len(tree["leaf_weights"]), n_leaves * width)
        leaves_fit = np.array_equal(np.sort(right[~inner]), np.arange(n_leaves))
    else:
        leaves_fit = bool((right[~inner] == NO_NODE).all())
    if not leaves_fit:
        raise ValueError("right_children of leaves are wrong")
    return inner


def _check_categories(tree: Any, n_nodes: int) -> None:
    if "split_type" not in tree:
        return
    _require_equal("split_type", len(tree["split_type"]), n_nodes)
    nodes, starts, sizes = (np.asarray(tree[key], dtype=np.int64) for key in OF_CATEGORIES)
    by_category = np.flatnonzero(np.asarray(tree["split_type"]))
    if not np.array_equal(nodes, by_category) or not len(nodes) == len(starts) == len(sizes):
        raise ValueError("categories_nodes are not the nodes that split on categories")
    if not len(nodes):
        return
    categories = np.asarray(tree["categories"], dtype=np.int64)
    if starts.min() < 0 or sizes.min() < 0 or (starts + sizes).max() > len(categories):
        raise ValueError("categories_segments do not fit the categories")
    if len(categories) and not 0 <= categories.min() <= categories.max() < 2**24:
        raise ValueError("categories are no small numbers")


def _require_equal(key: str, count: int, expected: int) -> None:
    if count != expected:
        raise ValueError(f"{key} says {count:,}, not {expected:,}")
