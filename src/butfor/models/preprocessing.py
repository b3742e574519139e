"""The steps of a pipeline that work feature by feature: a removed feature stays one feature behind them."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.base import BoolArray
from butfor.models.row import Row

Columns = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Point:
    """A row as a classifier behind the steps sees it, and what the removal of each feature changes there."""

    columns: Columns
    values: npt.NDArray[Any]
    moving: Columns
    """The columns of the removable features."""
    before: npt.NDArray[Any]
    """Their values now."""
    after: npt.NDArray[Any]
    """Their values once removed."""
    moves_apart: bool
    """Whether the moving columns differ from the others."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """Transformers in a row, each of which maps single features to single features, or drops them."""

    transformers: tuple[Any, ...] = ()
    dense: bool = False
    """Whether the model must be handed dense rows."""

    def point(self, row: Row) -> Point:
        """Send the row through the transformers themselves, so that their arithmetic is the model's own."""
        if not self.transformers:
            before = row.values[row.removable]
            apart = len(before) < len(row.columns)
            columns = row.columns[row.removable]
            return Point(row.columns, row.values, columns, before, np.zeros_like(before), apart)
        everything = np.ones((1, row.n_units), dtype=bool)
        X = row.without(np.concatenate([~everything, everything]))
        X, kept, moving = self._transform(X.toarray() if self.dense else X, row.columns[row.removable])
        now, after = (_nonzeros(X, line) for line in (0, 1))
        return Point(
            *now,
            moving,
            np.where(kept, _lookup(now, moving), 0),
            np.where(kept, _lookup(after, moving), 0),
            moves_apart=True,
        )

    def _transform(self, X: Any, moving: Columns) -> tuple[Any, BoolArray, Columns]:
        kept = np.ones(len(moving), dtype=bool)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X .* valid feature names")
            for transformer in self.transformers:
                X = transformer.transform(X)
                if hasattr(transformer, "get_support"):
                    support = transformer.get_support()
                    kept &= support[moving]
                    moving = np.maximum(np.cumsum(support) - 1, 0)[moving]
        return X, kept, moving


def _nonzeros(X: Any, line: int) -> tuple[Columns, npt.NDArray[Any]]:
    row = sparse.csr_array(X[[line]] if sparse.issparse(X) else np.asarray(X)[[line]])
    row.sum_duplicates()
    return row.indices, row.data


def _lookup(nonzeros: tuple[Columns, npt.NDArray[Any]], columns: Columns) -> npt.NDArray[Any]:
    """Give the values in these columns, zero where there is none."""
    known, values = nonzeros
    if not len(known):
        return np.zeros(len(columns))
    at = np.minimum(np.searchsorted(known, columns), len(known) - 1)
    return np.where(known[at] == columns, values[at], 0)
