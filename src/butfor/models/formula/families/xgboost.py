"""XGBoost: sums of trees in single precision; entries that are absent from CSR are missing values to them."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._ubjson import read_ubjson
from butfor.models.arrays import FloatArray, IntArray
from butfor.models.formula.families.boosted import boosted_network
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.nodes import Categories, Trees
from butfor.models.formula.trees.tree_map import TreeMap

LOGISTIC = {"binary:logistic", "reg:logistic"}
"""Objectives whose probability is the logistic function of the one output."""
PARTS = {"gbtree_model_param", "trees", "tree_info", "iteration_indptr", "cats", "weight_drop"}
"""The parts of an ensemble that are known here; another one could change what the trees mean."""
LAST_VERSION = 3
SMALLEST_SCORE = 1e-6
"""Mean probabilities nearer to zero or one are moved by some versions of the library."""

Integers = npt.NDArray[np.int64]


def read_xgboost(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read an XGBClassifier or XGBRFClassifier, with the rounds that it predicts with, or a whole Booster."""
    is_booster = type(model).__name__ == "Booster"
    objective = None if is_booster else model.objective
    missing = math.nan if is_booster else model.missing
    if method != "predict_proba" or callable(objective) or missing is None:
        return None
    learner = _learner(model if is_booster else model.get_booster())
    bias = None if learner is None else _bias(learner, objective)
    if bias is None or not (is_booster or len(model.classes_) == max(len(bias), 2)):
        return None
    best_round = None if is_booster else getattr(model, "best_iteration", None)
    trees = _read_booster(learner["gradient_booster"], None if best_round is None else best_round + 1)
    if trees is None:
        return None
    tree_map = TreeMap(
        trees, bias, steps, np.float32, absent_is_missing=True, missing_value=float(np.float32(missing))
    )
    return boosted_network(tree_map, method)


def _learner(booster: Any) -> Any:
    """Return the model as nested dicts, lists and arrays; None if its form is of an unknown version."""
    try:
        state = read_ubjson(bytes(booster.save_raw("ubj")))
    except ValueError:
        return None
    return state["learner"] if state["version"][0] <= LAST_VERSION else None


def _bias(learner: Any, told: Any) -> FloatArray | None:
    """Return what is added to each output; None if probabilities are not a known function of the outputs.

    `told` is the objective as a classifier has it; None for a booster.
    """
    parameters, objective = learner["learner_model_param"], learner["objective"]["name"]
    n_classes = int(parameters["num_class"])
    scores = np.array(parameters["base_score"].strip("[]").split(","), dtype=np.float32)
    if int(parameters.get("num_target", 1)) > 1 or len(scores) not in (1, n_classes):
        return None
    if objective in LOGISTIC and n_classes < 2:
        if not SMALLEST_SCORE < scores[0] < 1 - SMALLEST_SCORE:
            return None
        return -np.log(1 / scores - 1).astype(np.float64)
    # A classifier that was told so computes probabilities with this objective; a booster returns classes.
    if objective == "multi:softprob" or objective == told == "multi:softmax":
        return None if n_classes < 3 else np.broadcast_to(scores, n_classes).astype(np.float64)
    return None


def _read_booster(gradient_booster: Any, n_rounds: int | None) -> Trees | None:
    """Read so many rounds, or all, of a gbtree or dart; None for other boosters."""
    weights = gradient_booster.get("weight_drop")
    if gradient_booster["name"] == "dart":
        gradient_booster = gradient_booster["gbtree"]
    if gradient_booster["name"] != "gbtree" or not set(gradient_booster["model"]) <= PARTS:
        return None
    model = gradient_booster["model"]
    weights = model.get("weight_drop", weights)
    rounds = model["iteration_indptr"]
    # A frame's categories become numbers by a table of the model: the values are not what trees compare.
    if len(model.get("cats", {}).get("enc", ())) or not model["trees"]:
        return None
    if weights is None:
        weights = np.ones(len(model["trees"]))
    if len(weights) != len(model["trees"]) or not 0 < (n_rounds or 1) < len(rounds):
        return None
    members = model["trees"][: rounds[-1 if n_rounds is None else n_rounds]]
    if any(int(member["tree_param"]["size_leaf_vector"]) > 1 for member in members):
        return None
    output_of = np.array(model["tree_info"][: len(members)], dtype=np.intp)
    return _without_deleted(_trees(members, np.array(weights[: len(members)], dtype=np.float64), output_of))


def _trees(members: list[Any], weights: FloatArray, output_of: IntArray) -> Trees:
    """Lay the nodes of one tree behind those of the other; the numbers of leaves are among the thresholds."""
    n_nodes = np.array([int(member["tree_param"]["num_nodes"]) for member in members])
    offsets = np.cumsum(n_nodes) - n_nodes
    numbers = _joined(members, "split_conditions").astype(np.float32)
    left, right = (_joined(members, f"{side}_children").astype(np.int64) for side in ("left", "right"))
    is_leaf, shift = left < 0, np.repeat(offsets, n_nodes)
    return Trees(
        feature=np.where(is_leaf, -1, _joined(members, "split_indices")).astype(np.int32),
        # "Less than" a number is "at most" the one before.
        threshold=np.where(is_leaf, 0, np.nextafter(numbers, np.float32(-np.inf))).astype(np.float64),
        left=np.where(is_leaf, -1, left + shift).astype(np.int32),
        right=np.where(is_leaf, -1, right + shift).astype(np.int32),
        missing_left=~is_leaf & (_joined(members, "default_left") != 0),
        values=np.where(is_leaf, numbers * np.repeat(weights, n_nodes), 0.0)[:, np.newaxis],
        roots=offsets.astype(np.int32),
        output_of=output_of,
        single=True,
        categories=_categories(members, offsets, len(numbers)),
    )


def _categories(members: list[Any], offsets: Integers, n_nodes: int) -> Categories | None:
    """Return the categories that go left: all but those in the lists, which go right."""
    counts = [len(member["categories_nodes"]) for member in members]
    if not any(counts):
        return None
    nodes = _joined(members, "categories_nodes").astype(np.int64) + np.repeat(offsets, counts)
    node_of = np.repeat(nodes, _joined(members, "categories_sizes"))
    listed = _joined(members, "categories").astype(np.int64)
    count = np.zeros(n_nodes, dtype=np.int64)
    np.maximum.at(count, node_of, listed + 1)
    start = np.cumsum(count) - count
    goes_left = np.ones(count.sum() + 1, dtype=bool)
    goes_left[start[node_of] + listed] = False
    by_category = np.zeros(n_nodes, dtype=bool)
    by_category[nodes] = True
    return Categories(
        np.where(by_category, start, -1), count, goes_left, by_category, fractions="cut if positive"
    )


def _without_deleted(trees: Trees) -> Trees:
    """Leave out the nodes that pruning has cut off: no other node leads to them."""
    kept = np.zeros(len(trees.feature), dtype=bool)
    kept[trees.roots] = True
    inner = trees.left >= 0
    kept[trees.left[inner]] = kept[trees.right[inner]] = True
    if kept.all():
        return trees
    place = (np.cumsum(kept) - 1).astype(np.int32)
    left, right = (
        np.where(inner, place[child], -1).astype(np.int32)[kept] for child in (trees.left, trees.right)
    )
    return trees.take(np.flatnonzero(kept), left=left, right=right, roots=place[trees.roots])


def _joined(members: list[Any], key: str) -> npt.NDArray[Any]:
    """Return the numbers of all trees, one tree after the other."""
    return np.concatenate([member[key] for member in members])
