"""CSV and TSV of records: columns of texts, categories, lists and numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.base import ColumnNames, ModelNeeds
from butfor._files.inputs.columns import require_columns
from butfor._files.inputs.csv_records import CsvRecords, csv_id, named_records, sample_of
from butfor._files.inputs.csv_texts import id_of_record
from butfor._files.inputs.locations import Files
from butfor._files.inputs.record_columns import (
    Columns,
    as_table,
    besides_ids,
    columns_of_table,
    record_needs,
    value_of_cell,
)
from butfor._files.inputs.sequential import Parse, ParsedRow, SequentialInput
from butfor.errors import InputError


def open_csv_table(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "CsvTable":
    """Match the first line of a CSV or TSV file with the columns that the model reads."""
    sample, known = sample_of(files), record_needs(needs)
    id = csv_id(columns, sample.names, besides_ids(known))
    read = columns_of_table(sample.path, sample.names, id, known, columns.feature)
    require_columns(sample.path, sample.names, [name for name, _ in read])
    return CsvTable(files, id, "int" if id is None else "string", read, known.form)


@dataclass(frozen=True)
class CsvTable(SequentialInput):
    """Records below a line of names, and perhaps an id, which is a string."""

    columns: Columns
    form: str
    holds_texts = False
    kind = "table"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names in the first line."""
        return tuple(name for name, _ in self.columns)

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.columns)

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[CsvRecords, Parse]]:
        read = [name for name, _ in self.columns]
        with named_records(self.files, read if self.id is None else [self.id, *read], file, byte, line) as (
            names,
            records,
        ):
            places = {name: place for place, name in enumerate(names)}
            id = None if self.id is None else places[self.id]
            yield (
                records,
                _ValuesOfCells(names, id, [(name, kind, places[name]) for name, kind in self.columns]),
            )

    def _stacked(self, content: list[Any]) -> Any:
        return as_table(content, self.columns, self.form)


@dataclass(frozen=True)
class _ValuesOfCells:
    """Parses the records of a file whose columns have these names and places."""

    names: list[str]
    id: int | None
    columns: list[tuple[str, str | None, int]]

    def __call__(self, cells: Sequence[str], number: int) -> ParsedRow:
        id, error = id_of_record(cells, self.id, self.names, number)
        if error is not None:
            return id, None, error
        try:
            values = {
                name: value_of_cell(cells[place] if place < len(cells) else "", kind, name)
                for name, kind, place in self.columns
            }
        except InputError as fault:
            return id, None, str(fault)
        return id, values, None
