"""Histogram gradient boosting of scikit-learn."""

from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.formula.families.boosted import boosted_network
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.nodes import Categories, Trees
from butfor.models.formula.trees.tree_map import TreeMap

MOST_CATEGORIES = 1_000
"""Categories of this and larger numbers are not read."""


def read_hist_gradient_boosting(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read a HistGradientBoostingClassifier, whose trees compare in double precision."""
    if model.loss != "log_loss":
        return None
    columns, encoded = _columns(model), _encoded_categories(model)
    if steps.reads_texts:  # of a record, the trees get what the model's own encoder makes of it
        columns, encoded = np.arange(model.n_features_in_), _codes(model)
    if encoded is None:
        return None
    stages = model._predictors
    predictors = [predictor for stage in stages for predictor in stage]
    nodes = np.concatenate([predictor.nodes for predictor in predictors])
    sizes = np.array([len(predictor.nodes) for predictor in predictors])
    roots = np.cumsum(sizes) - sizes
    offsets = np.repeat(roots, sizes)
    is_leaf = nodes["is_leaf"].astype(bool)
    feature = np.where(is_leaf, -1, columns[np.where(is_leaf, 0, nodes["feature_idx"])])
    bias = np.ravel(model._baseline_prediction).astype(np.float64)
    missing_left = nodes["missing_go_to_left"].astype(bool)
    trees = Trees(
        feature=feature.astype(np.int32),
        threshold=nodes["num_threshold"].astype(np.float64),
        left=np.where(is_leaf, -1, nodes["left"] + offsets).astype(np.int32),
        right=np.where(is_leaf, -1, nodes["right"] + offsets).astype(np.int32),
        missing_left=missing_left,
        values=nodes["value"].astype(np.float64)[:, np.newaxis],
        roots=roots.astype(np.int32),
        output_of=np.tile(np.arange(len(bias)), len(stages)),
        categories=_categories(predictors, nodes, feature, missing_left, encoded) if encoded else None,
    )
    return boosted_network(TreeMap(trees, bias, steps), method)


def _columns(model: Any) -> IntArray:
    """Return the column of the row for each feature that the trees see: categorical ones come first."""
    n_features = model.n_features_in_
    categorical = model.is_categorical_
    if model._preprocessor is None or categorical is None:
        return np.arange(n_features)
    return np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])


def _encoded_categories(model: Any) -> dict[int, FloatArray] | None:
    """Return, for each categorical column, its categories in the order of their codes; None: not readable."""
    if model._preprocessor is None or model.is_categorical_ is None:
        return {}
    encoder = model._preprocessor.named_transformers_["encoder"]
    if encoder is None or encoder == "drop":
        return {}
    columns = np.flatnonzero(model.is_categorical_)
    for categories in encoder.categories_:
        numbers = np.asarray(categories)
        if numbers.dtype.kind not in "biuf":
            return None
        known = numbers[~np.isnan(numbers.astype(np.float64))].astype(np.float64)
        if ((known < 0) | (known != np.trunc(known)) | (known >= MOST_CATEGORIES)).any():
            return None
    return {
        int(column): np.asarray(categories, dtype=np.float64)
        for column, categories in zip(columns, encoder.categories_, strict=True)
    }


def _codes(model: Any) -> dict[int, FloatArray]:
    """Return, for each column of codes, which come first, the codes themselves."""
    encoder = None if model._preprocessor is None else model._preprocessor.named_transformers_["encoder"]
    if encoder is None or encoder == "drop":
        return {}
    return {
        column: np.arange(len(categories), dtype=np.float64)
        for column, categories in enumerate(encoder.categories_)
    }


def _categories(
    predictors: Any, nodes: Any, feature: IntArray, missing_left: BoolArray, encoded: dict[int, FloatArray]
) -> Categories:
    """Return the categories that go left, by the numbers that rows hold; unknown ones count as missing."""
    splits = np.flatnonzero(nodes["is_categorical"].astype(bool) & (feature >= 0))
    start, count = np.full(len(nodes), -1, dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    predictor_of = np.repeat(np.arange(len(predictors)), [len(each.nodes) for each in predictors])
    goes_left: list[BoolArray] = []
    for n_before, node in enumerate(splits):
        left = np.full(MOST_CATEGORIES, missing_left[node])
        words = predictors[predictor_of[node]].raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        for code, category in enumerate(encoded[int(feature[node])]):
            if not np.isnan(category):
                left[int(category)] = bool(words[code // 32] >> np.uint32(code % 32) & np.uint32(1))
        start[node], count[node] = n_before * MOST_CATEGORIES, MOST_CATEGORIES
        goes_left.append(left)
    table = np.concatenate(goes_left) if goes_left else np.zeros(0, dtype=bool)
    return Categories(start, count, table, missing_left, fractions="unknown")
