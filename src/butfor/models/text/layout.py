"""Which columns of a row come from which vectoriser."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.formula.families.steps import works_feature_by_feature
from butfor.models.text.leaves import Leaf

PROBE = ("A few words of text.",)
"""A text that is sent through transformers to learn how many columns they return."""

NORMED = {"Normalizer", "TfidfTransformer"}
"""Transformers that may change all columns of a row at once, behind which a column is still the same one."""


def is_vectoriser(step: Any) -> bool:
    """Return whether a step turns texts into columns by itself."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    return isinstance(step, CountVectorizer | HashingVectorizer)


def holds_vectoriser(step: Any) -> bool:
    """Return whether a step is a vectoriser, or a union or pipeline that contains one."""
    return is_vectoriser(step) or any(map(holds_vectoriser, _inner_steps(step)))


def leaves_of(steps: Iterable[Any], texts: Any = PROBE) -> tuple[list[Leaf], int]:
    """Return the vectorisers in fitted steps, with their columns, and the number of columns after the steps.

    Columns that cannot be traced to a vectoriser belong to none.
    """
    leaves: list[Leaf] = []
    cleaning: tuple[Any, ...] = ()
    X = texts
    for step in steps:
        if not _are_texts(X):
            leaves = [_behind(leaf, step) for leaf in leaves if _keeps_columns(step)]
        elif holds_vectoriser(step):
            leaves = [replace(leaf, cleaning=cleaning + leaf.cleaning) for leaf in _leaves_of_step(step, X)]
        else:
            cleaning += (step,)
        X = step.transform(X)
    return leaves, 0 if _are_texts(X) else X.shape[1]


def _leaves_of_step(step: Any, texts: Any) -> list[Leaf]:
    if is_vectoriser(step):
        leaf = Leaf(step, np.zeros(0, dtype=np.intp))  # raises unless it takes strings
        return [replace(leaf, columns=np.arange(step.transform(texts).shape[1]))]
    inner = _inner_steps(step)
    if hasattr(step, "steps"):
        return leaves_of(inner, texts)[0]
    leaves, offset = [], 0
    for member in inner:  # members of a union have their columns side by side
        own, width = leaves_of([member], texts)
        leaves += [
            replace(leaf, columns=np.where(leaf.columns < 0, -1, leaf.columns + offset)) for leaf in own
        ]
        offset += width
    return leaves


def _inner_steps(step: Any) -> list[Any]:
    from sklearn.pipeline import FeatureUnion, Pipeline

    pairs: Sequence[tuple[str, Any]] = ()
    if isinstance(step, Pipeline):
        pairs = step.steps
    elif isinstance(step, FeatureUnion):
        pairs = step.transformer_list
    return [inner for _, inner in pairs if not is_nothing(inner)]


def is_nothing(step: Any) -> bool:
    """Return whether a step does nothing, or is a dropped member of a union."""
    return step is None or isinstance(step, str)


def _are_texts(X: Any) -> bool:
    one_column = not sparse.issparse(X) and getattr(X, "ndim", 1) == 1
    return one_column and isinstance(next(iter(X), None), str)


def _keeps_columns(step: Any) -> bool:
    """Return whether a column is still the same column behind a step, or dropped."""
    own = type(step).__module__.startswith("sklearn.")
    return own and (type(step).__name__ in NORMED or works_feature_by_feature(step))


def _behind(leaf: Leaf, step: Any) -> Leaf:
    """Follow the columns of a vectoriser through a step that may drop some."""
    if not hasattr(step, "get_support"):
        return leaf
    support = step.get_support()
    behind = np.where(support, np.cumsum(support) - 1, -1)
    return replace(leaf, columns=np.where(leaf.columns < 0, -1, behind[leaf.columns]))
