"""Pipeline steps that work feature by feature, behind which a removed feature is still one feature."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.row import Row
from butfor.models.row_kind import RowKind
from butfor.models.scorer import without_name_warnings
from butfor.models.tables import storable_values

Columns = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Point:
    """A row as the classifier behind the steps sees it, and what the removal of each feature changes."""

    columns: Columns
    values: FloatArray
    moving: Columns
    """The columns of the removable features."""
    before: FloatArray
    """Their values now."""
    after: FloatArray
    """Their values once removed."""
    dtype: np.dtype[Any]
    """The dtype in which the classifier gets the values; here they are in double precision."""
    moves_apart: bool
    """Whether `moving` differs from `columns`."""


class Active(NamedTuple):
    """The active features of a row as the classifier behind the steps sees them."""

    columns: Columns
    values: FloatArray
    is_there: BoolArray
    """Which of them it sees: a selection may have dropped a feature, or a step made it an absent entry."""
    dtype: np.dtype[Any]
    """The dtype in which the classifier gets the values; here they are in double precision."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """A sequence of transformers, each of which maps single features to single features, or drops them."""

    transformers: tuple[Any, ...] = ()

    def point(self, row: Row) -> Point:
        """Send the row through the transformers themselves, so that their arithmetic is the model's own."""
        if not self.transformers:
            values = _in_double(row.values)
            before = values[row.removable]
            apart = len(before) < len(row.columns)
            columns = row.columns[row.removable]
            return Point(row.columns, values, columns, before, np.zeros_like(before), row.values.dtype, apart)
        everything = np.ones((1, row.n_units), dtype=bool)
        X = row.without(np.concatenate([~everything, everything]))
        X, kept, moving = self._transform(row.kind.of(X), row.columns[row.removable])
        now, after = (_nonzeros(X, number) for number in (0, 1))
        return Point(
            *now,
            moving,
            np.where(kept, _lookup(now, moving), 0),
            np.where(kept, _lookup(after, moving), 0),
            X.dtype,
            moves_apart=True,
        )

    def active(self, row: Row) -> Active:
        """Return the row's active features as the classifier sees them."""
        if not self.transformers:
            everything = np.ones(len(row.columns), dtype=bool)
            return Active(row.columns, _in_double(row.values), everything, row.values.dtype)
        X, kept, columns = self._transform(row.kind.of(row.whole()), row.columns)
        if not sparse.issparse(X):
            X = np.asarray(X)
            return Active(columns, _in_double(X[0, columns]), kept, X.dtype)
        stored = _nonzeros(X, 0)
        return Active(columns, _lookup(stored, columns), kept & np.isin(columns, stored[0]), X.dtype)

    def absent(self, row: Row) -> FloatArray:
        """Return the values of inactive features as the classifier sees them: one for all or for each."""
        if not self.transformers:
            return np.zeros(1)
        nothing = row.kind.container((1, row.n_features), dtype=row.values.dtype)
        X, _, _ = self._transform(row.kind.of(nothing), row.columns)
        return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64).ravel()

    def in_place(self, X: Any, kind: RowKind) -> Any:
        """Send rows through the transformers; return None unless each entry and each zero stays in place."""
        if not self.transformers:
            return X
        with without_name_warnings():
            Z, zero = kind.of(X), kind.of(type(X)((1, X.shape[1]), dtype=X.dtype))
            for transformer in self.transformers:
                Z, zero = transformer.transform(Z), transformer.transform(zero)
        if Z.shape != X.shape or (zero.count_nonzero() if sparse.issparse(zero) else np.any(zero)):
            return None
        if not sparse.issparse(Z):
            row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            values = storable_values(np.asarray(Z)[row_of, X.indices])
            return type(X)((values, X.indices, X.indptr), shape=X.shape)
        if Z.format != "csr":
            return None
        in_place = np.array_equal(Z.indptr, X.indptr) and np.array_equal(Z.indices, X.indices)
        return Z if in_place else None

    def _transform(self, X: Any, moving: Columns) -> tuple[Any, BoolArray, Columns]:
        kept = np.ones(len(moving), dtype=bool)
        with without_name_warnings():
            for transformer in self.transformers:
                X = transformer.transform(X)
                if hasattr(transformer, "get_support"):
                    support = transformer.get_support()
                    kept &= support[moving]
                    moving = np.maximum(np.cumsum(support) - 1, 0)[moving]
        return X, kept, moving


def _in_double(values: npt.NDArray[Any]) -> FloatArray:
    """Return values in double precision, in which any of them can be squared and subtracted without loss."""
    return values.astype(np.float64, copy=False)


def _nonzeros(X: Any, number: int) -> tuple[Columns, FloatArray]:
    """Return the columns and values of the non-zero entries of one matrix row."""
    row = sparse.csr_array(X[[number]] if sparse.issparse(X) else storable_values(np.asarray(X)[[number]]))
    row.sum_duplicates()
    return row.indices, _in_double(row.data)


def _lookup(nonzeros: tuple[Columns, FloatArray], columns: Columns) -> FloatArray:
    """Return the values in these columns, zero where there is none."""
    known, values = nonzeros
    if not len(known):
        return np.zeros(len(columns))
    at = np.minimum(np.searchsorted(known, columns), len(known) - 1)
    return np.where(known[at] == columns, values[at], 0)
