"""Rows in whatever form a model takes them: how many there are, and some of them."""

from collections.abc import Sequence
from typing import Any

from butfor.models.arrays import IntArray


def n_rows_in(X: Any) -> int:
    """Return how many rows, or texts, there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def some_rows(X: Any, which: Sequence[int] | IntArray) -> Any:
    """Return some rows, or texts.

    >>> some_rows(["a", "b", "c"], [0, 2])
    ['a', 'c']
    """
    if isinstance(X, list):
        return [X[i] for i in which]
    return X.iloc[which] if hasattr(X, "iloc") else X[which]
