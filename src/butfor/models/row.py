"""One row, reduced to its active features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor.errors import InputError
from butfor.models.base import BoolArray, IntArray, removal_sets
from butfor.models.holders import Holders
from butfor.models.row_kind import RowKind
from butfor.models.tables import Given, Table, as_table


@dataclass(frozen=True, eq=False)
class Row:
    """The active (non-zero) features of one row, by ascending column, and what may be removed of it.

    What may be removed are **units**, numbered 0 … m−1 for a search: single features unless said otherwise.
    """

    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    """As the user gave them, in their own dtype: the model sees the real row."""
    n_features: int
    kind: RowKind
    """In which kind of table the model gets the row."""
    removable: IntArray
    """The positions, among the active features, of those that may be removed."""
    part_of: IntArray | None = None
    """For each of these the part that it goes with; None: each is a part of its own."""
    holders: Holders | None = None
    """Which units hold which parts; None: each part is a unit."""
    names: tuple[str, ...] | None = None
    """The names of all columns, where the row came in a frame."""
    given: Given | None = None
    """The rows as the user gave them, where the model gets them in another form,"""
    number: int = 0
    """and which of them this is."""

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

    @property
    def n_values(self) -> int:
        """How many values one copy of the row carries."""
        return len(self.columns) if self.kind.is_sparse else self.n_features

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
    rows = first.kind.container((sum(map(len, kept)), first.n_features), dtype=first.values.dtype)
    np.cumsum(np.concatenate([k.sum(axis=1) for k in kept]), out=rows.indptr[1:])
    rows.data, rows.indices = np.concatenate(values), np.concatenate(columns)
    rows.has_sorted_indices = rows.has_canonical_format = True
    return rows


def as_row(row: Any, n_features: int | None = None, names: tuple[str, ...] | None = None) -> Row:
    """Read one row: a SciPy sparse matrix or array, a frame or series, or anything dense of up to 2-D."""
    if isinstance(row, Row):
        return row
    if isinstance(row, (str, bytes)):
        raise InputError(
            f"row must be numeric, got a text of {len(row):,} characters. For a model that reads texts add "
            'removal="delete" to Explainer; else pass vectorizer.transform([text]).'
        )
    table = as_table(row, n_features, names)
    if table.n_rows != 1:
        raise InputError(f"row must be one row, got {table.n_rows:,}. Pass X[[i]] to explain row i.")
    return row_at(table, 0)


def row_at(table: Table, number: int) -> Row:
    """Return one row of a table.

    >>> row_at(as_table([[0, 5], [7, 0]]), 1).columns
    array([0], dtype=int32)
    """
    csr = table.csr
    start, end = csr.indptr[number], csr.indptr[number + 1]
    return Row(
        columns=csr.indices[start:end].astype(np.int32, copy=False),
        values=csr.data[start:end],
        n_features=csr.shape[1],
        kind=table.kind,
        removable=np.arange(end - start),
        names=table.names,
        given=table.given,
        number=number,
    )
