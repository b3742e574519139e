"""Records of CSV and TSV files, with the byte at which each begins."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from butfor._files.inputs.base import ColumnNames
from butfor._files.inputs.columns import known_id, require_columns
from butfor._files.inputs.locations import Files
from butfor._files.inputs.suffixes import DELIMITERS
from butfor._files.opening import not_utf8
from butfor.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_CELL = 2**31 - 1
"""The csv module's own limit is far below the length of a book."""
FIRST_ROWS = 1_000
"""Rows that are looked at to find out which columns hold what."""


class CsvLines:
    """The lines of a file from a byte on, for the csv module, which alone knows where a record ends."""

    def __init__(self, file: Any, byte: int) -> None:
        file.seek(byte)
        self._file = file
        self.byte = byte
        """Where the next line begins."""

    def __iter__(self) -> Iterator[str]:
        for block in self._file:
            for line in block.splitlines(keepends=True):  # a carriage return alone ends a line too
                begins = self.byte == 0 and line.startswith(BYTE_ORDER_MARK)
                self.byte += len(line)
                yield line.decode("utf-8-sig" if begins else "utf-8", errors="surrogateescape")


class CsvRecords:
    """The records of a file from a byte on, blank lines left out."""

    def __init__(self, file: Any, delimiter: str, byte: int = 0, line: int = 0) -> None:
        self._lines = CsvLines(file, byte)
        self._reader = csv.reader(self._lines, delimiter=delimiter, strict=True)
        self._line = line

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each record with the byte at which it begins, or a blank line before it."""
        byte = self._lines.byte
        for cells in self._reader:
            if cells:
                yield byte, cells
                byte = self._lines.byte

    def header(self) -> list[str]:
        """Return the names of columns, which stand in the first line."""
        return next(self._reader, [])

    @property
    def line(self) -> int:
        """How many lines have been read."""
        return self._line + self._reader.line_num


@dataclass(frozen=True)
class CsvSample:
    """The first line of a CSV file, and the first rows."""

    path: str
    names: list[str]
    rows: list[list[str]]


def sample_of(files: Files) -> CsvSample:
    """Read the first line and the first rows of the first file."""
    path = files.paths[0]
    with csv_records(files, 0) as records:
        names = as_names(path, records.header())
        return CsvSample(path, names, [cells for _, cells in islice(records, FIRST_ROWS)])


def csv_id(columns: ColumnNames, names: Sequence[str], besides: Sequence[str | None] = ()) -> str | None:
    """Choose the column of ids: the one that the user named, or the only one of a well-known name."""
    id = known_id(names, besides) if columns.id is None else columns.id
    if id is not None and names.count(id) != 1:
        raise InputError(f"--id-column must name one column of DATA ({', '.join(names)}), got {id!r}.")
    return id


@contextmanager
def csv_records(files: Files, file: int, byte: int = 0, line: int = 0) -> Iterator[CsvRecords]:
    """Open a file from a byte on; an error names the line that is no CSV."""
    csv.field_size_limit(LONGEST_CELL)
    with files.opened(file) as raw:
        records = CsvRecords(raw, DELIMITERS[files.suffix], byte, line)
        try:
            yield records
        except csv.Error as error:
            raise _not_csv(files, file, records.line, error) from error


@contextmanager
def named_records(
    files: Files, columns: Sequence[str], file: int, byte: int = 0, line: int = 0
) -> Iterator[tuple[list[str], CsvRecords]]:
    """Open a file behind its first line, or at a byte; yield its names too, among which must be these."""
    path = files.paths[file]
    with csv_records(files, file) as records:
        names = as_names(path, records.header())
        require_columns(path, names, columns)
        if not byte:
            yield names, records
    if byte:
        with csv_records(files, file, byte, line) as records:
            yield names, records


def as_names(path: str, cells: list[str]) -> list[str]:
    """Return the cells of a first line, if they are UTF-8."""
    for cell in cells:
        try:
            bytes_of(cell).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"DATA must be UTF-8 text, got {path}, which {not_utf8(error)}") from error
    return cells


def too_many_cells(cells: Sequence[str], names: Sequence[str]) -> str:
    """Return what is wrong with a record that has more cells than the first line."""
    return (
        f"the row must have {len(names)} cells, as the first line of DATA, got {len(cells)}: quote a "
        "cell that holds the delimiter."
    )


def bytes_of(text: str) -> bytes:
    """Return the bytes that a cell was read from."""
    return text.encode(errors="surrogateescape")


def _not_csv(files: Files, file: int, line: int, error: csv.Error) -> InputError:
    return InputError(
        f"DATA must be {files.suffix[1:].upper()}, got {files.paths[file]}: line {line:,}: {error}. "
        "A cell that holds quotes must stand in quotes, and each quote in it be doubled."
    )
