"""Which steps of a pipeline are known, and what they make of those before them."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.models.formula.operators import operator_of
from butfor.models.formula.preprocessing import Preprocessing, Taken

FEATURE_BY_FEATURE = {
    "Binarizer",
    "FunctionTransformer",  # of a function of single numbers
    "MaxAbsScaler",
    "MinMaxScaler",
    "RobustScaler",
    "StandardScaler",
    "TfidfTransformer",  # without norm
    "GenericUnivariateSelect",
    "RFE",
    "RFECV",
    "SelectFdr",
    "SelectFpr",
    "SelectFromModel",
    "SelectFwe",
    "SelectKBest",
    "SelectPercentile",
    "SequentialFeatureSelector",
    "VarianceThreshold",
}
"""Transformers each of whose outputs depends on one input."""

NORMS = ("l1", "l2", "max")


def steps_behind(steps: Preprocessing, transformer: Any) -> Preprocessing | None:
    """Return steps with one more step behind them; None if what they make of a row is no longer known."""
    if is_idle(transformer):
        return steps
    name = type(transformer).__name__
    if not type(transformer).__module__.startswith("sklearn.") or "transform" in vars(transformer):
        return None
    if name in ("FeatureUnion", "ColumnTransformer"):
        return _side_by_side(steps, transformer)
    if name == "Pipeline":
        return steps_through(steps, [step for _, step in transformer.steps])
    if name == "Normalizer" or (name == "TfidfTransformer" and transformer.norm is not None):
        return _normed(steps, transformer)
    if steps.keeps_features_apart and works_feature_by_feature(transformer):
        return replace(steps, transformers=(*steps.transformers, transformer))
    operator = operator_of(transformer)
    return None if operator is None else steps.followed_by(operator)


def steps_through(steps: Preprocessing, transformers: list[Any]) -> Preprocessing | None:
    """Return steps with others behind them, one after the other."""
    behind: Preprocessing | None = steps
    for transformer in transformers:
        behind = None if behind is None else steps_behind(behind, transformer)
    return behind


def is_idle(transformer: Any) -> bool:
    """Return whether a step of a pipeline does nothing."""
    return transformer is None or transformer == "passthrough"


def works_feature_by_feature(transformer: Any) -> bool:
    """Return whether each output of a transformer of scikit-learn depends on one input."""
    name = type(transformer).__name__
    if name == "FunctionTransformer":
        function = transformer.func
        plain = not transformer.kw_args
        return plain and (function is None or (isinstance(function, np.ufunc) and function.nin == 1))
    return name in FEATURE_BY_FEATURE and (name != "TfidfTransformer" or transformer.norm is None)


def _normed(steps: Preprocessing, transformer: Any) -> Preprocessing | None:
    """Put a norm behind steps; that of tf-idf comes behind its weights."""
    if transformer.norm not in NORMS or steps.operators or steps.branches:
        return None
    if type(transformer).__name__ == "TfidfTransformer":
        weights = without_norm(transformer)
        if steps.norm is None:
            return replace(steps, transformers=(*steps.transformers, weights), norm=transformer.norm)
        return None
    # A row that was divided by the same norm before has the norm one.
    return replace(steps, norm=transformer.norm) if steps.norm in (None, transformer.norm) else None


def without_norm(transformer: Any) -> Any:
    """Return a fitted TfidfTransformer that does the same but for the norm."""
    weights = copy(transformer)
    weights.norm = None
    return weights


def _side_by_side(steps: Preprocessing, union: Any) -> Preprocessing | None:
    """Put the members of a union side by side, or those of a ColumnTransformer, each for its own columns."""
    if not steps.keeps_features_apart:
        return None
    is_union = type(union).__name__ == "FeatureUnion"
    branches = []
    for front, transformer, n_outputs, weight in (_of_union if is_union else _of_columns)(steps, union):
        branch = steps_behind(front, transformer)
        if branch is None:
            return None
        branches.append(branch.as_branch(n_outputs, weight))
    return Preprocessing(branches=tuple(branches)) if branches else None


Member = tuple[Preprocessing, Any, int, float]
"""The steps before a member of a union, the member, the number of its columns, and its weight."""


def _of_union(steps: Preprocessing, union: Any) -> Iterator[Member]:
    weights = union.transformer_weights or {}
    for name, transformer in union.transformer_list:
        if transformer != "drop":
            nothing = np.zeros((1, union.n_features_in_))
            n_outputs = (nothing if is_idle(transformer) else transformer.transform(nothing)).shape[1]
            yield steps, transformer, n_outputs, weights.get(name, 1)


def _of_columns(steps: Preprocessing, union: Any) -> Iterator[Member]:
    weights = union.transformer_weights or {}
    for name, transformer, _ in union.transformers_:
        columns = np.asarray(union._transformer_to_input_indices[name], dtype=np.intp)
        if (isinstance(transformer, str) and transformer == "drop") or not len(columns):
            continue
        stretch = union.output_indices_[name]
        front = replace(steps, transformers=(*steps.transformers, Taken(columns, union.n_features_in_)))
        yield front, transformer, stretch.stop - stretch.start, weights.get(name, 1)
