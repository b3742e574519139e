"""LightGBM: sums of trees with thresholds in double precision, read from the text form of the model."""

from typing import Any

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, FloatArray, IntArray, stretches
from butfor.models.formula.families.boosted import boosted_network
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.nodes import Categories, Trees, spread
from butfor.models.formula.trees.tree_map import TreeMap

VERSIONS = {"v3", "v4"}
"""The versions of the text form that are known here."""
LOGISTIC = {"binary", "cross_entropy"}
"""Objectives whose probability is the logistic function of the one output."""
MANY_CLASSES = {"multiclass", "multiclassova"}
"""Objectives with one output for each class; the probabilities of the first are a softmax."""
CATEGORICAL, DEFAULT_LEFT = 1, 2
"""The first two bits of a decision type."""
NO_MISSING, ZERO_MISSING = 0, 1
"""What the next two bits say is missing at the node: nothing, and NaN is zero; zero and NaN; else NaN."""

Fields = dict[str, str]
Integers = npt.NDArray[np.int64]


def read_lightgbm(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read an LGBMClassifier or a Booster, with the iterations that its `predict` uses."""
    booster = model if type(model).__name__ == "Booster" else model.booster_
    # A frame's categories become numbers by a table of the model: the values are not what trees compare.
    if booster.pandas_categorical and not steps.reads_texts:
        return None
    if method not in ("predict_proba", "decision_function") or _hurries(model):
        return None
    header, blocks = _sections(booster.model_to_string())
    if header.get("version") not in VERSIONS or not blocks or any(map(_is_linear, blocks)):
        return None
    n_outputs = int(header["num_tree_per_iteration"])
    name = header.get("objective", "").partition(" ")[0]
    if name not in (LOGISTIC if n_outputs == 1 else MANY_CLASSES) or n_outputs == 2:
        return None
    if hasattr(model, "classes_") and len(model.classes_) != max(n_outputs, 2):
        return None
    trees = _trees(blocks, np.arange(len(blocks)) % n_outputs)
    if method == "decision_function":
        return boosted_network(TreeMap(trees, np.zeros(n_outputs), steps, rounds_integers=True), method)
    if name == "multiclassova":  # each class has a logistic function of its own
        return None
    factor = _factor(header, booster, len(blocks) // n_outputs)
    if factor is None:
        return None
    scaled = trees if factor == 1 else trees.rescaled(factor)
    tree_map = TreeMap(scaled, np.zeros(n_outputs), steps, rounds_integers=True)
    return boosted_network(tree_map, method, scaled=factor != 1)


def _factor(header: Fields, booster: Any, n_rounds: int) -> float | None:
    """Return by what a sum of trees is multiplied on its way to a probability.

    None if the text has not all digits of the number. Raw scores are the sums themselves in any case.
    """
    options = header["objective"].split()
    slope = next((float(each[8:]) for each in options if each.startswith("sigmoid:")), 1.0)
    if float((booster.params or {}).get("sigmoid", slope)) != slope:
        return None
    return slope / n_rounds if "average_output" in header else slope


def _hurries(model: Any) -> bool:
    """Return whether predictions may leave out trees: a classifier hands its own parameters to `predict`."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    return str(parameters.get("pred_early_stop", False)).lower() not in ("false", "-", "none")


def _is_linear(block: Fields) -> bool:
    return block.get("is_linear", "0") != "0"


def _sections(text: str) -> tuple[Fields, list[Fields]]:
    """Return the fields of the header and those of each tree."""
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    return _fields(head), [_fields(block) for block in blocks]


def _fields(section: str) -> Fields:
    pairs = (line.partition("=") for line in section.splitlines())
    return {key: value for key, _, value in pairs}


def _trees(blocks: list[Fields], output_of: IntArray) -> Trees:
    """Lay the inner nodes of each tree, and its leaves behind them, one tree after the other."""
    n_leaves = np.array([int(block["num_leaves"]) for block in blocks])
    n_inner = n_leaves - 1
    roots = np.cumsum(n_inner + n_leaves) - (n_inner + n_leaves)
    inner, leaves = stretches(roots, n_inner), stretches(roots + n_inner, n_leaves)
    n_nodes = int((n_inner + n_leaves).sum())
    kinds, thresholds = _integers(blocks, "decision_type"), _numbers(blocks, "threshold")
    missing_kind = (kinds >> 2) & 3
    by_category = (kinds & CATEGORICAL) > 0
    by_default = np.where(missing_kind == NO_MISSING, thresholds >= 0, (kinds & DEFAULT_LEFT) > 0)
    zero_is_missing = (missing_kind == ZERO_MISSING) & ~by_category

    def children(side: str) -> npt.NDArray[np.int32]:
        """Leaves are numbered −1, −2, … in the text."""
        child, root = _integers(blocks, side), np.repeat(roots, n_inner)
        place = np.where(child >= 0, root + child, root + np.repeat(n_inner, n_inner) + ~child)
        return spread(place, inner, n_nodes, -1).astype(np.int32)

    return Trees(
        feature=spread(_integers(blocks, "split_feature"), inner, n_nodes, -1).astype(np.int32),
        threshold=spread(np.where(by_category, 0.0, thresholds), inner, n_nodes, 0.0),
        left=children("left_child"),
        right=children("right_child"),
        missing_left=spread(by_default & ~by_category, inner, n_nodes, False),
        values=spread(_numbers(blocks, "leaf_value"), leaves, n_nodes, 0.0)[:, np.newaxis],
        roots=roots.astype(np.int32),
        output_of=output_of,
        zero_is_missing=spread(zero_is_missing, inner, n_nodes, False) if zero_is_missing.any() else None,
        categories=_categories(blocks, thresholds, by_category, inner, n_nodes),
    )


def _categories(
    blocks: list[Fields], thresholds: FloatArray, by_category: BoolArray, inner: Integers, n_nodes: int
) -> Categories | None:
    """Return the categories that go left, which the text has as bits of words of 32; all others go right."""
    if not by_category.any():
        return None
    bounds = [_integers([block], "cat_boundaries") for block in blocks]
    first_bound = np.cumsum([0, *map(len, bounds)])
    first_word = np.cumsum([0, *(each[-1] if len(each) else 0 for each in bounds)])
    n_inner = [int(block["num_leaves"]) - 1 for block in blocks]
    tree = np.repeat(np.arange(len(blocks)), n_inner)[by_category]
    # What is the threshold at other nodes is the number of the split among those of the tree here.
    bound = first_bound[tree] + thresholds[by_category].astype(np.int64)
    flat = np.concatenate(bounds)
    words = _integers(blocks, "cat_threshold").astype("<u4")
    places = inner[by_category]
    return Categories(
        start=spread(32 * (first_word[tree] + flat[bound]), places, n_nodes, -1),
        count=spread(32 * (flat[bound + 1] - flat[bound]), places, n_nodes, 0),
        goes_left=np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool),
        others_left=np.zeros(n_nodes, dtype=bool),
    )


def _numbers(blocks: list[Fields], key: str) -> FloatArray:
    """Return the numbers of a field of all trees, one tree after the other."""
    return np.array(" ".join(block.get(key, "") for block in blocks).split(), dtype=np.float64)


def _integers(blocks: list[Fields], key: str) -> Integers:
    return np.array(" ".join(block.get(key, "") for block in blocks).split(), dtype=np.int64)
