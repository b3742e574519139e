"""Rows in whatever form a model takes them: how many there are, some of them, pieces of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import IntArray

MAX_VALUES = 2_000_000
"""How many values one call carries where the model is handed dense rows."""


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


def in_pieces(X: Any) -> Iterator[Any]:
    """Yield rows in pieces of at most `MAX_VALUES` values, where each piece becomes dense."""
    step = max(1, MAX_VALUES // max(1, X.shape[1]))
    yield from (X[i : i + step] for i in range(0, X.shape[0], step))


def as_dense(X: Any) -> Any:
    """Return rows as an array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
