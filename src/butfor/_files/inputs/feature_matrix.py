"""From records (row, feature, value) to a CSR matrix, and what is wrong with single rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._files.inputs.base import ModelNeeds
from butfor._files.inputs.columns import ChosenColumns
from butfor.errors import InputError

IntArray = npt.NDArray[np.int64]
Errors = dict[int, str]


@dataclass(frozen=True)
class FeatureSpace:
    """The columns of the matrix that features stand for."""

    n_columns: int
    names: tuple[str, ...] | None = None
    """For each column its name, where features are names."""


def space_of(chosen: ChosenColumns, needs: ModelNeeds) -> FeatureSpace:
    """Find out how many columns there are, and what they are called if that matters."""
    names = needs.names
    if chosen.by_name and names is None:
        raise InputError(
            f"--names must be given where DATA names its features, as in {chosen.feature!r}: one a column."
        )
    n_columns = n_columns_of(needs)
    return FeatureSpace(n_columns, distinct_names(names or (), n_columns) if chosen.by_name else None)


def n_columns_of(needs: ModelNeeds) -> int:
    """Return how many columns the matrix has; raise where nobody knows."""
    if needs.n_columns is None:
        raise InputError(
            "--names must be given where the model does not say how many columns a row has: one a column."
        )
    return needs.n_columns


def distinct_names(names: Sequence[str], n_columns: int) -> tuple[str, ...]:
    """Return the names of all columns; raise unless there is one for each, and no two are the same."""
    if len(names) != n_columns:
        raise InputError(
            f"--names must be {n_columns:,}, one for each column of the model, got {len(names):,}."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"--names must differ where DATA has them for features, got {name!r} twice.")
        seen.add(name)
    return tuple(names)


@dataclass(eq=False)
class MatrixBuilder:
    """Collects the records of some rows, batch by batch, in the order of the rows."""

    space: FeatureSpace
    chosen: ChosenColumns
    errors: Errors = field(default_factory=dict)
    """The first thing that is wrong with a row."""
    _rows: list[IntArray] = field(default_factory=list)
    _columns: list[IntArray] = field(default_factory=list)
    _values: list[npt.NDArray[Any]] = field(default_factory=list)

    def add(self, rows: IntArray, features: Any, values: Any) -> None:
        """Add records: for each its row, its feature and, unless all are 1, its value, as Arrow arrays."""
        self._rows.append(rows)
        self._columns.append(self._as_columns(rows, features))
        if values is not None:
            self._values.append(self._as_values(rows, features, values))

    def matrix(self, n_rows: int) -> Any:
        """Build the matrix; a row with an error is empty.

        Values of the same feature are added up. Where there are none, a feature is 1 however often it comes.
        """
        from scipy import sparse

        rows, columns = _joined(self._rows, np.int64), _joined(self._columns, np.int64)
        values = _joined(self._values, np.float64) if self.chosen.value else np.ones(len(rows))
        if self.errors:
            good = np.ones(n_rows, dtype=bool)
            good[list(self.errors)] = False
            kept = good[rows]
            rows, columns, values = rows[kept], columns[kept], values[kept]
        starts = np.zeros(n_rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=n_rows), out=starts[1:])
        X = sparse.csr_matrix((values, columns, starts), shape=(n_rows, self.space.n_columns))
        X.sum_duplicates()
        if not self.chosen.value:
            X.data[:] = 1.0
        return X

    def _as_columns(self, rows: IntArray, features: Any) -> IntArray:
        name = self.chosen.feature
        if features.null_count:
            self._note(rows, _mask(features.is_null()), lambda i: f"a feature in {name!r}, got none")
        if self.space.names is None:
            columns = features.fill_null(0).to_numpy(zero_copy_only=False)
            last = self.space.n_columns - 1
            outside = (columns < 0) | (columns > last)
            self._note(rows, outside, lambda i: f"features from 0 to {last:,}, got {_shown(features, i)}")
            return np.where(outside, 0, columns).astype(np.int64, copy=False) if outside.any() else columns
        import pyarrow.compute as pc

        found = pc.index_in(features, value_set=_as_array(self.space.names))
        if found.null_count:
            unknown = _mask(found.is_null())
            self._note(rows, unknown, lambda i: f"features that --names holds, got {_shown(features, i)}")
        places: IntArray = found.fill_null(0).to_numpy(zero_copy_only=False)
        return places

    def _as_values(self, rows: IntArray, features: Any, values: Any) -> npt.NDArray[Any]:
        name = self.chosen.value
        if values.null_count:
            missing = _mask(values.is_null())
            self._note(
                rows, missing, lambda i: f"values in {name!r}, got none for the feature {_shown(features, i)}"
            )
        numbers: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
        self._note(
            rows,
            ~np.isfinite(numbers),
            lambda i: f"finite values, got {numbers[i]} for the feature {_shown(features, i)}",
        )
        return numbers

    def _note(self, rows: IntArray, bad: npt.NDArray[np.bool_], what: Callable[[int], str]) -> None:
        """Note the first bad record of each row."""
        places = np.flatnonzero(bad)
        _, first = np.unique(rows[places], return_index=True)
        for place in places[first]:
            self.errors.setdefault(int(rows[place]), f"the row must have {what(int(place))}.")


def _joined(pieces: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=kind)


def _mask(array: Any) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = array.to_numpy(zero_copy_only=False)
    return mask


def _shown(array: Any, place: int) -> str:
    try:
        return repr(array[place].as_py())
    except UnicodeDecodeError:
        return repr(array[place].as_buffer().to_pybytes())


@lru_cache(maxsize=1)
def _as_array(names: tuple[str, ...]) -> Any:
    import pyarrow as pa

    return pa.array(names, pa.large_string())
