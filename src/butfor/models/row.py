"""One row, reduced to its active features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.errors import InputError
from butfor.models.base import BoolArray, IntArray, removal_sets
from butfor.models.holders import Holders


@dataclass(frozen=True, eq=False)
class Row:
    """The active (non-zero) features of one row, by ascending column, and what may be removed of it.

    What may be removed are **units**, numbered 0 … m−1 for a search: single features unless said otherwise.
    """

    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    """As the user gave them, in their own dtype: the model sees the real row."""
    n_features: int
    container: type
    """csr_matrix or csr_array, whichever the user works with."""
    removable: IntArray
    """The positions, among the active features, of those that may be removed."""
    part_of: IntArray | None = None
    """For each of these the part that it goes with; None: each is a part of its own."""
    holders: Holders | None = None
    """Which units hold which parts; None: each part is a unit."""

    @cached_property
    def n_parts(self) -> int:
        """How many parts there are, each of which goes as a whole."""
        return len(self.removable) if self.part_of is None else int(self.part_of.max(initial=-1)) + 1

    @property
    def n_units(self) -> int:
        """How many units a search may remove."""
        return self.n_parts if self.holders is None else self.holders.n_units

    def without(self, removed: BoolArray) -> Any:
        """Build, in one step, a CSR matrix with one copy of the row for every set of removed units.

        >>> row = as_row([0, 5, 0, 7])
        >>> row.without(np.array([[False, False], [True, False], [True, True]])).toarray()
        array([[0, 5, 0, 7],
               [0, 0, 0, 7],
               [0, 0, 0, 0]])
        """
        return stacked([(self, removed)])

    def whole(self) -> Any:
        """Build the CSR matrix of the row itself."""
        return self.without(np.zeros((1, self.n_units), dtype=bool))

    def n_values(self, *, dense: bool) -> int:
        """How many values one copy of the row carries."""
        return self.n_features if dense else len(self.columns)

    def columns_without(self, units: tuple[int, ...]) -> list[int]:
        """Give the columns that are zero once these units are removed."""
        if self.part_of is None and self.holders is None:
            return [int(column) for column in self.columns[self.removable[list(units)]]]
        gone = self._gone(removal_sets([units], self.n_units))[0]
        return [int(column) for column in self.columns[gone]]

    def protecting(self, columns: IntArray) -> "Row":
        """Give the same row with these columns (of the matrix) not to be removed."""
        return replace(self, removable=np.flatnonzero(~np.isin(self.columns, columns)))

    def _gone(self, removed: BoolArray) -> BoolArray:
        """Tell which active features are zero without some units (sets × active features)."""
        if self.holders is not None:
            removed = self.holders.gone(removed)
        gone = np.zeros((len(removed), len(self.columns)), dtype=bool)
        gone[:, self.removable] = removed if self.part_of is None else removed[:, self.part_of]
        return gone


def stacked(copies: Sequence[tuple[Row, BoolArray]]) -> Any:
    """Build one CSR matrix of many rows, each with a copy for every set of removed units.

    >>> one, other = as_row([0, 5, 0, 7]), as_row([1, 0, 0, 2])
    >>> stacked([(one, np.array([[True, False]])), (other, np.zeros((1, 2), dtype=bool))]).toarray()
    array([[0, 0, 0, 7],
           [1, 0, 0, 2]])
    """
    first = copies[0][0]
    kept = [~row._gone(removed) for row, removed in copies]
    values = [np.broadcast_to(row.values, k.shape)[k] for (row, _), k in zip(copies, kept, strict=True)]
    columns = [np.broadcast_to(row.columns, k.shape)[k] for (row, _), k in zip(copies, kept, strict=True)]
    # Filled in by hand: the constructor would check again what is known to be right.
    rows = first.container((sum(map(len, kept)), first.n_features), dtype=first.values.dtype)
    np.cumsum(np.concatenate([k.sum(axis=1) for k in kept]), out=rows.indptr[1:])
    rows.data, rows.indices = np.concatenate(values), np.concatenate(columns)
    rows.has_sorted_indices = rows.has_canonical_format = True
    return rows


def as_row(row: Any, n_features: int | None = None) -> Row:
    """Read one row: any SciPy sparse matrix or array, or anything dense with one or two dimensions."""
    if isinstance(row, Row):
        return row
    if isinstance(row, (str, bytes)):
        raise InputError(
            f"row must be numeric, got the text {row[:40]!r}. For a model that reads texts add "
            'removal="delete" to Explainer; else pass vectorizer.transform([text]).'
        )
    csr = as_matrix(row, n_features)
    if csr.shape[0] != 1:
        raise InputError(f"row must be one row, got {csr.shape[0]:,}. Pass X[[i]] to explain row i.")
    return row_at(csr, 0)


def as_matrix(rows: Any, n_features: int | None = None) -> Any:
    """Read rows: give canonical CSR of the user's kind, matrix or array, and of the values' own dtype."""
    csr = _as_csr(rows)
    _check(csr, n_features)
    return csr


def row_at(csr: Any, number: int) -> Row:
    """Give one row of canonical CSR.

    >>> row_at(as_matrix([[0, 5], [7, 0]]), 1).columns
    array([0], dtype=int32)
    """
    start, end = csr.indptr[number], csr.indptr[number + 1]
    return Row(
        columns=csr.indices[start:end].astype(np.int32, copy=False),
        values=csr.data[start:end],
        n_features=csr.shape[1],
        container=sparse.csr_array if isinstance(csr, sparse.sparray) else sparse.csr_matrix,
        removable=np.arange(end - start),
    )


def _check(csr: Any, n_features: int | None) -> None:
    if n_features is not None and csr.shape[1] != n_features:
        raise InputError(
            f"row must have {n_features:,} features, as the model was fitted on, got {csr.shape[1]:,}."
        )
    if csr.dtype.kind not in "biuf":
        raise InputError(f"row must hold real numbers, got dtype {csr.dtype}.")
    bad = ~np.isfinite(csr.data)
    if bad.any():
        value, column = csr.data[bad][0], csr.indices[bad][0]
        raise InputError(f"row must be finite, got {value} in column {column:,}. Impute or drop it first.")


def _as_csr(row: Any) -> Any:
    """Give rows in canonical CSR: sorted, without duplicates and explicit zeros."""
    if not sparse.issparse(row):
        row = _as_dense(row)
    if row.ndim == 1:
        row = row.reshape(1, -1)
    if row.ndim != 2:
        raise InputError(f"row must have one or two dimensions, got {row.ndim}.")
    is_clean = sparse.issparse(row) and row.format == "csr" and row.has_canonical_format and row.data.all()
    if is_clean:
        return row
    csr = (sparse.csr_array if isinstance(row, sparse.sparray) else sparse.csr_matrix)(row, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _as_dense(row: Any) -> npt.NDArray[Any]:
    dense = np.asarray(row)
    if dense.dtype.kind in "OUS":
        try:
            dense = dense.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"row must hold real numbers, got {type(row).__name__}: {error}.") from error
    if dense.dtype == np.float16 or not dense.dtype.isnative:  # which SciPy cannot hold
        dense = dense.astype(np.result_type(dense.dtype.newbyteorder("="), np.float32))
    return dense
