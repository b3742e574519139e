"""Records as users pass them: frames, dicts, lists of items, arrays; and copies with other cells."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from butfor._extras import install_line
from butfor.errors import InputError, name_differences
from butfor.models.arrays import IntArray
from butfor.models.row_kind import holds_numbers, is_frame

Column = Hashable
"""The name of a column, or its number where columns have no names."""


class Gone(Enum):
    """In the place of a value: the key is taken out of its dict."""

    GONE = "gone"


GONE = Gone.GONE
Changes = Mapping[Column, Mapping[int, Any]]
"""For columns, the rows in which they change, and the values there."""


class RecordTable(ABC):
    """Records in the form in which the model gets them."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many records there are."""

    @abstractmethod
    def columns(self, number: int) -> tuple[Column, ...]:
        """Return the columns of a record."""

    @abstractmethod
    def values(self, column: Column) -> Sequence[Any]:
        """Return the values of a column, as Python's own objects, one for each record."""

    @abstractmethod
    def copies(self, which: IntArray, changes: Changes) -> Any:
        """Return copies of some records, for the model; `changes` are numbered as the copies are."""

    def value(self, number: int, column: Column) -> Any:
        """Return the value of a cell."""
        return self.values(column)[number]

    def is_categorical(self, column: Column) -> bool:
        """Return whether a column is declared to hold categories, whatever their values are."""
        return False


@dataclass(frozen=True, eq=False)
class FrameTable(RecordTable):
    """A frame of pandas or polars."""

    frame: Any

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        return len(self.frame)

    def columns(self, number: int) -> tuple[Column, ...]:
        """Return the columns of the frame."""
        return self._columns

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        return tuple(self.frame.columns)

    def values(self, column: Column) -> Sequence[Any]:
        """Return the values of a column."""
        if column not in self._values:
            self._values[column] = list(self.frame[column].to_list())
        return self._values[column]

    def is_categorical(self, column: Column) -> bool:
        """Return whether the dtype of a column says that it holds categories."""
        return str(self.frame[column].dtype).lower().startswith(("category", "categorical", "enum"))

    @cached_property
    def _values(self) -> dict[Column, list[Any]]:
        return {}

    def copies(self, which: IntArray, changes: Changes) -> Any:
        """Return copies of some records, each column in its own dtype as far as that can hold its values."""
        is_whole = len(which) == self.n_rows and np.array_equal(which, np.arange(self.n_rows))
        if hasattr(self.frame, "iloc"):
            frame = self.frame if is_whole else self.frame.iloc[which]
            frame = frame.copy() if changes and is_whole else frame
            frame = frame if is_whole else frame.reset_index(drop=True)
            for column, changed in changes.items():
                frame[column] = _changed_series(frame[column], changed)
            return frame
        frame = self.frame if is_whole else self.frame[which]
        return frame.with_columns([_changed_of_polars(frame[c], changed) for c, changed in changes.items()])


def _changed_series(series: Any, changes: Mapping[int, Any]) -> Any:
    """Return a series of pandas with some values changed."""
    if str(series.dtype) == "category":
        new = [value for value in dict.fromkeys(changes.values()) if not is_missing(value)]
        known = set(series.cat.categories.tolist())
        series = series.cat.add_categories([value for value in new if value not in known])
    values = series.to_list()
    for place, value in changes.items():
        values[place] = value
    try:
        changed = type(series)(values, index=series.index, dtype=series.dtype)
    except (TypeError, ValueError, OverflowError):
        return type(series)(values, index=series.index)
    same = changed.isna().to_numpy() == np.array([is_missing(value) for value in values])
    return changed if same.all() else type(series)(values, index=series.index)


def _changed_of_polars(series: Any, changes: Mapping[int, Any]) -> Any:
    """Return a series of polars with some values changed."""
    values = series.to_list()
    for place, value in changes.items():
        values[place] = None if is_missing(value) else value
    name, dtype = series.name, series.dtype
    is_text = str(dtype).startswith(("String", "Categorical", "Enum"))
    if is_text and all(value is None or isinstance(value, str) for value in values):
        changed = type(series)(name, values)
        return changed.cast(dtype, strict=False) if str(dtype).startswith("Categorical") else changed
    try:
        return type(series)(name, values, dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError):
        return type(series)(name, values, strict=False)


@dataclass(frozen=True, eq=False)
class DictTable(RecordTable):
    """Records that are dicts, as a DictVectorizer takes them."""

    records: Sequence[Mapping[Any, Any]]

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        return len(self.records)

    def columns(self, number: int) -> tuple[Column, ...]:
        """Return the keys of a record."""
        return tuple(self.records[number])

    def values(self, column: Column) -> Sequence[Any]:
        """Return what the records have under a key; None where they do not have it."""
        return [record.get(column) for record in self.records]

    def value(self, number: int, column: Column) -> Any:
        """Return what a record has under a key."""
        return self.records[number].get(column)

    def copies(self, which: IntArray, changes: Changes) -> list[dict[Any, Any]]:
        """Return copies of some records."""
        copies = [dict(self.records[number]) for number in which]
        for column, changed in changes.items():
            for place, value in changed.items():
                if value is GONE:
                    copies[place].pop(column, None)
                else:
                    copies[place][column] = value
        return copies


WHOLE = "items"
"""The column of a record that is a list of items and has no other."""


@dataclass(frozen=True, eq=False)
class ListTable(RecordTable):
    """Records that are a list of items each."""

    records: Sequence[Any]

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        return len(self.records)

    def columns(self, number: int) -> tuple[Column, ...]:
        """Return the one column."""
        return (WHOLE,)

    def values(self, column: Column) -> Sequence[Any]:
        """Return the lists."""
        return self.records

    def copies(self, which: IntArray, changes: Changes) -> list[Any]:
        """Return copies of some records."""
        changed = changes.get(WHOLE, {})
        return [changed.get(place, self.records[number]) for place, number in enumerate(which)]


@dataclass(frozen=True, eq=False)
class ArrayTable(RecordTable):
    """An array of objects, whose columns have numbers."""

    array: Any

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        return len(self.array)

    def columns(self, number: int) -> tuple[Column, ...]:
        """Return the numbers of the columns."""
        return tuple(range(self.array.shape[1]))

    def values(self, column: Column) -> Sequence[Any]:
        """Return the values of a column."""
        values: list[Any] = self.array[:, column].tolist()
        return values

    def value(self, number: int, column: Column) -> Any:
        """Return the value of a cell."""
        value = self.array[number, column]
        return value.item() if isinstance(value, np.generic) else value

    def copies(self, which: IntArray, changes: Changes) -> Any:
        """Return copies of some records."""
        copies = self.array[which]
        if changes:
            copies = copies.astype(object)
        for column, changed in changes.items():
            for place, value in changed.items():
                copies[place, column] = value
        return copies


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NA or NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing([1, 2])
    (True, True, False, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def is_list(value: Any) -> bool:
    """Return whether a cell holds items: a list, a set, an array, or a dict of items and their counts."""
    return isinstance(value, list | tuple | set | frozenset | Mapping) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )


def is_record(rows: Any) -> bool:
    """Return whether rows are such that a matrix of numbers cannot hold them.

    >>> is_record({"country": "US"}), is_record([[1, 0]]), is_record([["US", 1]]), is_record("a text")
    (True, False, True, False)
    """
    if isinstance(rows, str | bytes) or hasattr(rows, "tocsr"):
        return False
    if isinstance(rows, RecordTable | Mapping):
        return True
    if is_frame(rows):
        return not all(map(holds_numbers, set(rows.dtypes)))
    if hasattr(rows, "dtype") and hasattr(rows, "shape"):
        return getattr(rows.dtype, "kind", "") in tuple("OUS") and not _are_numbers(np.ravel(rows)[:100])
    if hasattr(rows, "iloc"):  # a series
        return not holds_numbers(rows.dtype) and not _are_numbers(rows.to_list()[:100])
    if not isinstance(rows, Sequence):
        return False
    return any(
        isinstance(row, str | Mapping | set | frozenset)
        or (isinstance(row, Sequence) and any(isinstance(cell, str | Mapping | Sequence) for cell in row))
        for row in rows
    )


def _are_numbers(values: Any) -> bool:
    return all(isinstance(value, int | float | np.number | bool) for value in values)


def frame_of(records: Sequence[Mapping[Any, Any]], strings: Sequence[Column] = ()) -> Any:
    """Return a frame of dicts: of pandas if that is installed, else of polars; `strings` are no numbers."""
    for module in ("pandas", "polars"):
        try:
            frame = __import__(module).DataFrame(list(records))
        except ModuleNotFoundError:
            continue
        is_pandas = hasattr(frame, "iloc")
        numbers = [column for column in strings if is_pandas and frame[column].dtype.kind in "biuf"]
        return frame.astype(dict.fromkeys(numbers, object)) if numbers else frame
    raise InputError(
        "row must be a frame, as the model takes one: a dict becomes a frame where pandas or polars is "
        f"installed: {install_line('frame')}"
    )


def as_frame(rows: Any) -> Any | None:
    """Return a frame, a series, a dict or a list of dicts as a frame; None for anything else."""
    if is_frame(rows):
        return rows
    if hasattr(rows, "to_frame") and hasattr(rows, "iloc"):  # a row of a frame of pandas
        return rows.to_frame().T.infer_objects()
    if isinstance(rows, Mapping):
        return frame_of([rows])
    if isinstance(rows, Sequence) and rows and all(isinstance(row, Mapping) for row in rows):
        return frame_of(rows)
    return None


def as_record_table(rows: Any, form: str | None, *, on_frames: bool) -> RecordTable:
    """Return records of any form as a table in the form that a model takes.

    Parameters
    ----------
    rows : RecordTable, frame, series, dict, list or array
        One record, or several.
    form : {"frame", "dicts", "lists", "array"} or None
        What the model takes; None where it does not tell, so that it gets what the user passes.
    on_frames : bool
        Whether the columns of the model have names, so that a dict becomes a frame.
    """
    if isinstance(rows, RecordTable):
        return rows
    if form == "lists":
        return ListTable(_as_lists(rows))
    if form == "dicts" or (form is None and not on_frames and are_dicts(rows)):
        return _of_dicts(rows)
    frame = None if form == "array" and not is_frame(rows) else as_frame(rows)
    if form == "frame" and frame is None:
        raise InputError(
            "row must be a frame, a row of one, or a dict of columns, as the model takes a frame, got "
            f"{type(rows).__name__}."
        )
    if frame is not None and form != "array":
        return FrameTable(frame)
    if form is None and _are_lists(rows):
        return ListTable(_as_lists(rows))
    array = np.asarray(rows if frame is None else frame.to_numpy(), dtype=object)
    if array.ndim not in (1, 2):
        raise InputError(f"row must have one or two dimensions, got {array.ndim}.")
    return ArrayTable(array.reshape(1, -1) if array.ndim == 1 else array)


def _of_dicts(rows: Any) -> RecordTable:
    records = [rows] if isinstance(rows, Mapping) else rows
    if is_frame(records):
        raise InputError(
            "row must be a dict, as the model takes dicts, got a frame: pass frame.to_dict('records') "
            "(of polars, frame.to_dicts())."
        )
    records = list(records)
    if not all(isinstance(record, Mapping) for record in records):
        raise InputError(f"row must be a dict, as the model takes dicts, got {type(rows).__name__}.")
    return DictTable(records)


def are_dicts(rows: Any) -> bool:
    """Return whether rows are a dict, or a list of dicts."""
    if isinstance(rows, Mapping):
        return True
    return isinstance(rows, list | tuple) and bool(rows) and all(isinstance(row, Mapping) for row in rows)


def _are_lists(rows: Any) -> bool:
    """Return whether rows are lists of different lengths, or sets, which no table can hold."""
    if isinstance(rows, set | frozenset):
        return True
    if not isinstance(rows, list | tuple) or not all(is_list(row) for row in rows):
        return False
    return any(isinstance(row, set | frozenset) for row in rows) or len({len(row) for row in rows}) > 1


def _as_lists(rows: Any) -> list[Any]:
    """Return lists of items: the rows, or the only one."""
    if isinstance(rows, str):
        raise InputError(
            "row must be a list of items, as the model counts items, got a string: pass [items]."
        )
    if is_frame(rows):
        raise InputError(
            "row must be a list of items, as the model counts items, got a frame: pass the column that holds "
            "the lists, such as frame['items']."
        )
    if isinstance(rows, set | frozenset | Mapping):
        return [rows]
    rows = list(rows)
    return rows if all(is_list(row) for row in rows) and rows else [rows]


def require_columns(table: RecordTable, needed: Sequence[Column]) -> None:
    """Raise where a table lacks columns that the model reads."""
    if not table.n_rows:
        return
    own = table.columns(0)
    if not set(needed) <= set(own):
        known = [str(name) for name in own if name in set(needed)]
        raise InputError(
            f"row must have the columns that the model reads, {len(needed):,} by name, got one that "
            f"{name_differences(known, [str(name) for name in needed])}."
        )
