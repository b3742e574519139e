"""One row, reduced to its active features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, IntArray, removal_sets
from butfor.models.row_kind import RowKind
from butfor.models.unit_map import UnitMap

if TYPE_CHECKING:
    from butfor.models.tables import OriginalRows


@dataclass(frozen=True, eq=False)
class Row:
    """The active (non-zero) features of one row, by ascending column, and the units that may be removed.

    Units are numbered 0 … m−1. They are single features unless the row was given others (`with_units`).
    """

    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    """The values in the user's own dtype, so that the model sees the real row."""
    n_features: int
    kind: RowKind
    """The kind of table in which the model gets the row."""
    removable: IntArray
    """The positions, among the active features, of those that may be removed."""
    bundle_of: IntArray | None = None
    """For each removable feature the number of its bundle. None: each feature is a bundle of its own."""
    unit_map: UnitMap | None = None
    """Which units hold which bundles. None: each bundle is a unit."""
    names: tuple[str, ...] | None = None
    """The names of all columns, where the row came in a frame."""
    original: "OriginalRows | None" = None
    """The rows as the user passed them, where the model gets them in another form."""
    number: int = 0
    """The number of this row among them."""

    @cached_property
    def n_bundles(self) -> int:
        """The number of bundles, each of which goes as a whole."""
        return len(self.removable) if self.bundle_of is None else int(self.bundle_of.max(initial=-1)) + 1

    @property
    def n_units(self) -> int:
        """The number of units that a search may remove."""
        return self.n_bundles if self.unit_map is None else self.unit_map.n_units

    @property
    def is_plain(self) -> bool:
        """Whether each unit is a single feature."""
        return self.bundle_of is None and self.unit_map is None

    def without(self, removed: BoolArray) -> Any:
        """Return a CSR matrix with one copy of the row for each removal set, without the units of that set.

        >>> from butfor.models import as_row
        >>> row = as_row([0, 5, 0, 7])
        >>> row.without(np.array([[False, False], [True, False], [True, True]])).toarray()
        array([[0, 5, 0, 7],
               [0, 0, 0, 7],
               [0, 0, 0, 0]])
        """
        return stacked([(self, removed)])

    def whole(self) -> Any:
        """Return a CSR matrix of the row itself."""
        return self.without(np.zeros((1, self.n_units), dtype=bool))

    @property
    def n_values(self) -> int:
        """The number of values that one copy of the row carries."""
        return len(self.columns) if self.kind.is_sparse else self.n_features

    @property
    def parts(self) -> tuple[IntArray, ...]:
        """Nothing is known of which units belong together."""
        return ()

    def columns_without(self, units: tuple[int, ...]) -> list[int]:
        """Return the columns that are zero once these units are removed."""
        if self.is_plain:
            return list(self.columns[self.removable[list(units)]].tolist())
        gone = self._gone(removal_sets([units], self.n_units))[0]
        return list(self.columns[gone].tolist())

    def protecting(self, columns: IntArray) -> "Row":
        """Return the same row in which these columns of the matrix may not be removed."""
        kept = ~np.isin(self.columns[self.removable], columns)
        return replace(self, removable=self.removable[kept])

    def _gone(self, removed: BoolArray) -> BoolArray:
        """Return which active features are zero without some units (removal sets × active features)."""
        if self.unit_map is not None:
            removed = self.unit_map.gone(removed)
        if self.bundle_of is None and len(self.removable) == len(self.columns):
            return removed
        gone = np.zeros((len(removed), len(self.columns)), dtype=bool)
        gone[:, self.removable] = removed if self.bundle_of is None else removed[:, self.bundle_of]
        return gone


def stacked(copies: Sequence[tuple[Row, BoolArray]]) -> Any:
    """Return one CSR matrix of many rows, each with one copy for each of its removal sets.

    Parameters
    ----------
    copies : sequence of (Row, array of bool)
        Rows of one kind, each with its removal sets (sets × units).

    Returns
    -------
    CSR matrix
        The copies, row after row.

    Examples
    --------
    >>> from butfor.models import as_row
    >>> one, other = as_row([0, 5, 0, 7]), as_row([1, 0, 0, 2])
    >>> stacked([(one, np.array([[True, False]])), (other, np.zeros((1, 2), dtype=bool))]).toarray()
    array([[0, 0, 0, 7],
           [1, 0, 0, 2]])
    """
    first = copies[0][0]
    kept = [~row._gone(removed) for row, removed in copies]
    values = [_kept(row.values, k) for (row, _), k in zip(copies, kept, strict=True)]
    columns = [_kept(row.columns, k) for (row, _), k in zip(copies, kept, strict=True)]
    sizes = _joined([np.add.reduce(k, axis=1, dtype=np.intp) for k in kept])
    blank = _blank(first.kind.container, (len(sizes), first.n_features), first.values.dtype)
    # The arrays are set directly, because the constructor would check them again.
    rows = object.__new__(type(blank))
    rows.__dict__.update(blank.__dict__)
    rows.indptr = blank.indptr.copy()
    sizes.cumsum(out=rows.indptr[1:])
    rows.data, rows.indices = _joined(values), _joined(columns)
    return rows


def _kept(of_row: npt.NDArray[Any], kept: BoolArray) -> npt.NDArray[Any]:
    """Return what is kept of a row in each of its copies, one after the other."""
    return of_row[np.newaxis].repeat(len(kept), axis=0)[kept]


def _joined(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


@lru_cache(maxsize=16)
def _blank(container: type, shape: tuple[int, int], dtype: np.dtype[Any]) -> Any:
    """Return a canonical CSR matrix without entries: to make one costs more than all that is put in."""
    blank = container(shape, dtype=dtype)
    blank.has_sorted_indices = blank.has_canonical_format = True
    return blank
