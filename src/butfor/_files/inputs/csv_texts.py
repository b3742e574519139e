"""CSV and TSV with a column of texts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.base import ColumnNames, ModelNeeds
from butfor._files.inputs.columns import require_distinct
from butfor._files.inputs.csv_records import (
    CsvRecords,
    bytes_of,
    csv_id,
    named_records,
    sample_of,
    too_many_cells,
)
from butfor._files.inputs.ids import missing_id
from butfor._files.inputs.locations import Files
from butfor._files.inputs.sequential import Parse, ParsedRow, SequentialInput, stacked_texts
from butfor._files.inputs.text_column import Cell, chosen_text_column, columns_with_texts, missing_text
from butfor._files.opening import is_utf8, not_utf8
from butfor.errors import InputError


def open_csv_texts(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "CsvTexts":
    """Choose the columns of a CSV or TSV file: an id has a well-known name, a text is what is no number."""
    sample = sample_of(files)
    id = csv_id(columns, sample.names, [columns.text])
    with_texts = columns_with_texts(sample.names, sample.rows, besides=id)
    text = chosen_text_column(columns.text, sample.names, with_texts)
    require_distinct({"id": id, "text": text})
    return CsvTexts(files, id, "int" if id is None else "string", text)


@dataclass(frozen=True)
class CsvTexts(SequentialInput):
    """Records of (id, text) below a line of names; ids are strings."""

    text: str
    holds_texts = True
    kind = "texts"
    feature_names = None

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.text)

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[CsvRecords, Parse]]:
        columns = [self.text] if self.id is None else [self.id, self.text]
        with named_records(self.files, columns, file, byte, line) as (names, records):
            id = None if self.id is None else names.index(self.id)
            yield records, _TextOfCells(names, id, names.index(self.text))

    def _stacked(self, content: list[Any]) -> list[str]:
        return stacked_texts(content)


@dataclass(frozen=True)
class _TextOfCells:
    """Parses the records of a file whose columns have these names and places."""

    names: list[str]
    id: int | None
    text: int

    def __call__(self, cells: Sequence[str], number: int) -> ParsedRow:
        if len(cells) == len(self.names) and (text := cells[self.text]).isascii():  # as most records are
            if self.id is None:
                return number, text, None
            if (name := cells[self.id]).isascii():
                return name, text, None
        id, error = (number, None) if self.id is None else id_of_cells(cells, self.id, self.names)
        cell = self._text(cells)
        if error is None and isinstance(cell, str):
            return id, cell, None
        return id, None, error or str(cell)

    def _text(self, cells: Sequence[str]) -> Cell:
        if len(cells) > len(self.names):
            return InputError(too_many_cells(cells, self.names))
        if self.text >= len(cells):
            return missing_text(self.names[self.text])
        text = cells[self.text]
        if is_utf8(text):
            return text
        try:
            return bytes_of(text).decode()
        except UnicodeDecodeError as error:
            return InputError(f"the row must have a UTF-8 text, got one which {not_utf8(error)}")


def id_of_record(
    cells: Sequence[str], place: int | None, names: Sequence[str], number: int
) -> tuple[int | str | None, str | None]:
    """Return the id of a record, or its number if there are no ids; and what is wrong with its cells."""
    id, error = (number, None) if place is None else id_of_cells(cells, place, names)
    if error is None and len(cells) > len(names):
        error = too_many_cells(cells, names)
    return id, error


def id_of_cells(cells: Sequence[str], place: int, names: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the id of a record, or what is wrong with it."""
    if place < len(cells) and is_utf8(cells[place]):
        return cells[place], None
    return None, missing_id(names[place])
