"""Records: rows with cells of any kind. Units are words, items, values of cells, or groups of these."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from butfor._readers.base import ReadRow
from butfor._readers.names import require_collection
from butfor._readers.record_parts import CellPart, CellParts, cell_of, part_name, parts_of, shown_cell
from butfor.errors import ButforError, InputError, ModelError, abridged, nearest
from butfor.models import FloatArray, RecordRow
from butfor.models.records import (
    LEFT_OUT,
    Absence,
    Column,
    DictTable,
    Kind,
    RecordCell,
    RecordModel,
    RecordTable,
    are_dicts,
    as_record_table,
    frame_of,
    is_list,
    is_missing,
    require_columns,
)
from butfor.models.row_kind import is_frame
from butfor.results.explanation import Removal, Unit


class RecordAt(NamedTuple):
    """One record of a table."""

    table: RecordTable
    number: int


@dataclass(frozen=True, eq=False)
class RecordReader:
    """Reads records: rows of a frame, dicts, or lists of items."""

    model: RecordModel
    removal: Removal = "delete"
    words: str = "word"
    """What is removed of a text at a time."""
    mask: str = "[MASK]"
    kinds: Mapping[Column, Kind] = field(default_factory=dict)
    """What columns are, as far as the user says so."""
    absent: Mapping[Column, Absence] = field(default_factory=dict)
    """What stands for absence in columns, as far as the user says so."""
    absent_numbers: Absence | None = None
    """What stands for absence in all other columns of numbers; None: they stay."""
    protected: frozenset[str] = frozenset()
    """Names of columns, parts and groups, whatever their case."""
    groups: Mapping[str, str] | Callable[[str], str | None] | None = None
    """The group of a column or a part, by its name."""
    costs: Mapping[str, float] | None = None
    """The costs of columns, parts and groups."""
    takes_texts = False
    takes_records = True
    reads_again = True
    column_names: tuple[str, ...] | None = None
    """The names of columns that have numbers only."""
    n_features = None

    @property
    def unit(self) -> Unit:
        """What is removed at a time: a part of a record; of a mere list of items, one of them."""
        return "feature" if self.model.form == "lists" else "part"

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, where the model tells."""
        return None if self.model.columns is None else tuple(map(self.label, self.model.columns))

    @property
    def record_form(self) -> str:
        """In which form the model takes records."""
        return self.model.form or "frame"

    @property
    def record_columns(self) -> tuple[tuple[str, str | None], ...] | None:
        """The columns, by name, and what they hold; a category that is a number is a "code"."""
        if self.model.columns is None or self.model.form == "dicts":
            return None
        kinds = {**self.model.kinds, **self.kinds}
        return tuple(
            (self.label(column), "code" if column in self.model.codes else kinds.get(column))
            for column in self.model.columns
        )

    def label(self, column: Column) -> str:
        """Return what a column is called."""
        if not isinstance(column, int):
            return str(column)
        return f"column {column}" if self.column_names is None else self.column_names[column]

    def choices(self, column: str) -> tuple[Any, ...]:
        """Return the categories that the model knows in a column."""
        return next(
            (known for name, known in self.model.categories.items() if self.label(name) == column), ()
        )

    def fitting(self, rows: Any) -> "RecordReader":
        """Return itself: it reads rows of every form."""
        return self

    def row_of(self, items: Any) -> Any:
        """Return a record of values by column."""
        if isinstance(items, Mapping):
            return dict(items)
        raise InputError("items must be the values of the record by column, as the model takes records.")

    def protecting(self, features: Collection[Any]) -> "RecordReader":
        """Return a reader for which these columns, parts or groups are protected, too."""
        require_collection("protected", features, "columns or parts")
        names = {self.checked("protected", name).casefold() for name in features}
        return replace(self, protected=self.protected | names)

    def checked(self, argument: str, name: Any) -> str:
        """Return the name of a column, a part or a group; raise where nothing can have it."""
        known, text = self.feature_names, str(name)
        if known is None or text in known or _names_part(text, known) or self._is_group(text):
            return text
        listed = ", ".join(map(repr, known[:10])) + ", …" * (len(known) > 10)
        raise InputError(
            f"{argument} must hold columns ({listed}) or parts of records, such as 'country = \"US\"', got "
            f"{name!r}: no column has that name{nearest(text, known)}."
        )

    def _is_group(self, name: str) -> bool:
        if isinstance(self.groups, Mapping):
            return name in self.groups.values()
        return self.groups is not None

    def as_dict(self) -> dict[str, Any]:
        """Return what it was told by the names of Explainer's parameters; None where one does not apply."""
        numbers = self.absent_numbers
        return {
            "protected": sorted(self.protected),
            "groups": self.groups,
            "costs": self.costs,
            "feature_names": self.column_names,
            "removal": self.removal,
            "unit": self.unit,
            "words": self.words,
            "mask_token": self.mask,
            "absent": {str(column): absence.in_words for column, absence in self.absent.items()}
            or (None if numbers is None else numbers.in_words),
            "kinds": {str(column): kind for column, kind in self.kinds.items()} or None,
        }

    def many(self, rows: Any) -> Any:
        """Return records in a form that can be sliced."""
        if isinstance(rows, RecordTable) or is_frame(rows) or isinstance(rows, np.ndarray):
            return rows
        if hasattr(rows, "to_list"):  # a series whose values are lists or dicts
            return rows.to_list()
        return list(rows) if isinstance(rows, tuple) else rows

    def table(self, rows: Any) -> RecordTable:
        """Return records, in any form that the model takes, as a table."""
        if self.model.form == "frame" and are_dicts(rows):
            rows = self._frame_of([rows] if isinstance(rows, Mapping) else rows)
        table = as_record_table(rows, self.model.form, on_frames=self.model.columns is not None)
        if self.model.form == "frame" and self.model.columns is not None:
            require_columns(table, self.model.columns)
        return table

    def _frame_of(self, records: Sequence[Mapping[Any, Any]]) -> Any:
        """Return dicts as a frame; a column of strings stays one where all are missing."""
        filled = [{name: self._filled(name, value) for name, value in each.items()} for each in records]
        strings = {column for column, kind in self.model.kinds.items() if kind == "category"}
        return frame_of(filled, [column for column in strings - self.model.codes if column in filled[0]])

    def _filled(self, column: Column, value: Any) -> Any:
        """Return a value of a dict; a missing one as a frame has it: NaN, unless the encoder knows None."""
        if not is_missing(value) or self.kinds.get(column, self.model.kinds.get(column)) == "text":
            return value
        known = self.model.absences.get(column)
        return None if known is not None and known.value is None else math.nan

    def read(self, row: Any) -> ReadRow:
        """Read one record."""
        if isinstance(row, RecordAt):
            return self._read(*row)
        table = self.table(row)
        if table.n_rows != 1:
            raise InputError(
                f"row must be one row, got {table.n_rows:,}. Pass frame.iloc[[i]] to explain row i; to "
                "explain all of them, use explain_many."
            )
        return self._read(table, 0)

    def _read(self, table: RecordTable, number: int) -> ReadRow:
        reading = _RecordReading(self)
        for column in self.columns(table, number):
            value = table.value(number, column)
            kind = self.kind(table, column, value)
            absence = self.absence(table, column, kind)
            reading.add(column, kind, value, absence, self.parts(column, kind, value, absence))
        if not reading.units and reading.numbers:
            raise InputError(
                "row must have something that can be removed: its only values are numbers "
                f"({', '.join(map(repr, reading.numbers[:5]))}), which stay as they are, as a number has no "
                'absence. Say what stands for it: absent={"age": 40}; absent=0 where all numbers are counts; '
                'absent="median" with reference data.'
            )
        return reading.as_row(table, number)

    def columns(self, table: RecordTable, number: int) -> Sequence[Column]:
        """Return the columns that are read of a record."""
        own = table.columns(number)
        if self.model.columns is None or self.model.form == "dicts":
            return own
        known = set(self.model.columns)
        return [column for column in own if column in known]

    def parts(self, column: Column, kind: Kind, value: Any, absence: Absence | None) -> CellParts:
        """Return a cell as it is shown, and its parts."""
        label = "" if self.model.form == "lists" else self.label(column)
        try:
            return parts_of(label, kind, value, absence, self.model.texts.get(column), self.words)
        except ButforError:
            raise
        except Exception as error:
            texts = [value] if isinstance(value, str) else []
            raise ModelError(
                f"the steps of the model raised {type(error).__name__} on the column {label!r}: "
                f"{abridged(str(error), texts=texts)}"
            ) from error

    def kind(self, table: RecordTable, column: Column, value: Any) -> Kind:
        """Return what a cell is: as the user or the model says, otherwise by its value."""
        if column in self.absent:
            return "category"
        kind = self.kinds.get(column) or self.model.kinds.get(column)
        if is_list(value) and kind != "text":
            return "items"
        if kind in ("text", "category") or (kind == "number" and not isinstance(value, str)):
            return kind
        return "category" if isinstance(value, str) or table.is_categorical(column) else "number"

    def absence(self, table: RecordTable, column: Column, kind: Kind) -> Absence | None:
        """Return what stands for absence in a column; None where its value stays, or goes in parts."""
        if column in self.absent:
            return self.absent[column]
        if kind == "number":
            return self.absent_numbers
        if kind != "category":
            return None
        if column in self.model.absences:
            return self.model.absences[column]
        return LEFT_OUT if isinstance(table, DictTable) else self.model.default_absence

    def part_names(self, column: Column, parts: Sequence[Any], kind: Kind) -> list[str]:
        """Return the names of many parts of a column: words, items, or values."""
        label = "" if self.model.form == "lists" else self.label(column)
        names = {part: part_name(label, kind, part) for part in dict.fromkeys(parts)}
        return [names[part] for part in parts]

    def shown(self, table: RecordTable, column: Column) -> list[str]:
        """Return all cells of a column as they are shown."""
        return list(map(shown_cell, table.values(column)))

    def unit_name(self, column: Column, part: str) -> str:
        """Return the name of the unit that a part belongs to: its group, or itself."""
        if callable(self.groups):
            group = self.groups(part)
            return part if group is None else str(group)
        groups = self.groups or {}
        return groups.get(part, groups.get(self.label(column), part))

    def is_protected(self, *names: str) -> bool:
        """Return whether any of these names is protected."""
        return bool(self.protected) and not self.protected.isdisjoint(name.casefold() for name in names)

    def cost_of(self, unit: str, column: str) -> float:
        """Return the cost of a unit: its own, or that of its column."""
        costs = self.costs or {}
        return costs.get(unit.casefold(), costs.get(column.casefold(), 1.0))


UnitKey = tuple[str, int, int]
"""The name of a unit; of one that is no group, also the number of its cell, and its number there."""


@dataclass(eq=False)
class _RecordReading:
    """A record, read cell by cell."""

    reader: RecordReader
    cells: list[tuple[Column, Kind, Any, Absence | None, CellParts]] = field(default_factory=list)
    units: dict[UnitKey, list[tuple[int, CellPart]]] = field(default_factory=dict)
    """Units: their parts, each with the number of its cell."""
    keys: list[list[UnitKey]] = field(default_factory=list)
    """Cells: the unit of each part."""
    protected: set[UnitKey] = field(default_factory=set)
    """The units that may not be removed."""
    numbers: list[str] = field(default_factory=list)
    """The columns of numbers that stay as they are."""

    def add(self, column: Column, kind: Kind, value: Any, absence: Absence | None, parts: CellParts) -> None:
        """Add a cell."""
        reader, at = self.reader, len(self.cells)
        self.cells.append((column, kind, value, absence, parts))
        self.keys.append([])
        if kind == "number" and absence is None and not is_missing(value):
            self.numbers.append(reader.label(column))
        for number, part in enumerate(parts.parts):
            unit = reader.unit_name(column, part.name)
            key = (unit, at, number) if unit == part.name else (unit, -1, -1)
            self.units.setdefault(key, []).append((at, part))
            self.keys[at].append(key)
            if reader.is_protected(reader.label(column), part.name, unit):
                self.protected.add(key)

    def as_row(self, table: RecordTable, number: int) -> ReadRow:
        """Return what was read."""
        reader = self.reader
        removable = [key for key in self.units if key not in self.protected]
        unit_of = {key: unit for unit, key in enumerate(removable)}
        marks = [
            tuple((at, *span) for at, part in self.units[key] for span in part.marks) for key in removable
        ]
        return ReadRow(
            row=RecordRow(table, number, dict(self._cells(unit_of)), len(removable), reader.model),
            items=tuple(name for name, _, _ in self.units),
            removable=np.flatnonzero([key in unit_of for key in self.units]),
            costs=None if reader.costs is None else self._costs(removable),
            unit=reader.unit,
            removal=reader.removal,
            table=tuple((reader.label(column), parts.shown) for column, _, _, _, parts in self.cells),
            marks=tuple(marks),
            instead=tuple(map(self._instead, removable)),
        )

    def _cells(self, unit_of: Mapping[UnitKey, int]) -> Iterator[tuple[Column, RecordCell]]:
        mask = self.reader.mask if self.reader.removal == "mask" else None
        for (column, kind, value, absence, parts), keys in zip(self.cells, self.keys, strict=True):
            own = [
                (unit_of[key], part) for key, part in zip(keys, parts.parts, strict=True) if key in unit_of
            ]
            if own:
                yield column, cell_of(column, kind, value, absence, own, mask)

    def _instead(self, key: UnitKey) -> str:
        """Return what stands in the place of a unit; empty for words, items and groups of several cells."""
        places = {at for at, _ in self.units[key]}
        _, kind, _, absence, _ = self.cells[min(places)]
        return "" if len(places) > 1 or kind in ("text", "items") or absence is None else absence.in_words

    def _costs(self, removable: Sequence[UnitKey]) -> FloatArray:
        first = [self.units[key][0][0] for key in removable]
        columns = [self.reader.label(self.cells[at][0]) for at in first]
        costs = [self.reader.cost_of(key[0], column) for key, column in zip(removable, columns, strict=True)]
        return np.array(costs, dtype=np.float64)


def _names_part(name: str, columns: Sequence[str]) -> bool:
    """Return whether a name may be that of a part of one of these columns."""
    return any(
        name.startswith((f"{column} = ", f"{column}: ")) or name.endswith(f" in {column}")
        for column in columns
    )
