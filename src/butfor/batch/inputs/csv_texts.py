"""CSV and TSV with a column of texts: the plan notes at which byte each chunk begins."""

import csv
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from butfor.batch.inputs.base import Chunk, Columns, IdType, Input, Rows, require_rows
from butfor.batch.inputs.columns import WELL_KNOWN, require_distinct
from butfor.batch.inputs.ids import missing_id
from butfor.batch.inputs.locations import Files, files_changed
from butfor.checks import require_count
from butfor.errors import InputError
from butfor.files.opening import not_utf8
from butfor.files.tables import (
    BATCH,
    DELIMITERS,
    LONGEST_CELL,
    Cell,
    not_csv,
    text_column_of_cells,
    text_of_cells,
)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Lines:
    """The lines of a file from a byte on, for the csv module, which alone knows where a record ends."""

    def __init__(self, file: Any, byte: int) -> None:
        file.seek(byte)
        self._file = file
        self.byte = byte
        """Where the line that has not been asked for begins."""

    def __iter__(self) -> Iterator[str]:
        for block in self._file:
            for line in block.splitlines(keepends=True):  # a carriage return alone ends a line too
                begins = self.byte == 0 and line.startswith(BYTE_ORDER_MARK)
                self.byte += len(line)
                yield line.decode("utf-8-sig" if begins else "utf-8", errors="surrogateescape")


class _Records:
    """The records of a file from a byte on, blank lines left out."""

    def __init__(self, file: Any, delimiter: str, byte: int = 0, line: int = 0) -> None:
        self._lines = _Lines(file, byte)
        self._reader = csv.reader(self._lines, delimiter=delimiter, strict=True)
        self._line = line

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Give each record with the byte at which it begins, or a blank line before it."""
        byte = self._lines.byte
        for cells in self._reader:
            if cells:
                yield byte, cells
                byte = self._lines.byte

    def header(self) -> list[str]:
        """Give the names of columns, which stand in the first line."""
        return next(self._reader, [])

    @property
    def line(self) -> int:
        """How many lines have been read."""
        return self._line + self._reader.line_num


def open_csv_texts(files: Files, columns: Columns) -> "CsvTexts":
    """Choose the columns of a CSV or TSV file: an id has a well-known name, a text is what is no number."""
    with _records(files, 0) as records:
        names = _as_names(files.paths[0], records.header())
        first = [cells for _, cells in islice(records, BATCH)]
    known = [name for name in names if name.lower() in WELL_KNOWN["id"] and name != columns.text]
    if columns.id is None and len(known) > 1:
        raise InputError(
            "--id-column must name the column of ids, got no name where "
            f"{' and '.join(map(repr, known))} may be it."
        )
    id = known[0] if columns.id is None and known else columns.id
    if id is not None and names.count(id) != 1:
        raise InputError(f"--id-column must name one column of DATA ({', '.join(names)}), got {id!r}.")
    text = text_column_of_cells(columns.text, names, first, besides=id)
    require_distinct({"id": id, "text": text})
    return CsvTexts(files, id, text)


@dataclass(frozen=True)
class CsvTexts:
    """Rows of (id, text) below a line of names; ids are strings, and without them row numbers are."""

    files: Files
    id: str | None
    text: str
    holds_texts = True
    kind: Literal["texts"] = "texts"

    @property
    def id_type(self) -> IdType:
        """Say what ids are."""
        return "int" if self.id is None else "string"

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks, once all have been seen to be CSV.

        The place is (file, byte of it, lines before it).
        """
        require_count("chunk_rows", chunk_rows)
        n_rows, places = 0, array("q")
        for file in range(len(self.files.paths)):
            with self._opened(file) as (_, records):
                before = records.line
                for byte, _ in records:
                    if n_rows % chunk_rows == 0:
                        places.extend((file, byte, before))
                    n_rows, before = n_rows + 1, records.line
        require_rows(n_rows)
        for number in range(len(places) // 3):
            rows = min(chunk_rows, n_rows - number * chunk_rows)
            yield Chunk(number, rows, (*places[3 * number : 3 * number + 3], number * chunk_rows))

    def read(self, chunk: Chunk) -> Rows:
        """Read the texts of a chunk, across files."""
        file, byte, line, number = chunk.place
        rows = Rows([], [])
        while len(rows.ids) < chunk.n_rows:
            if file == len(self.files.paths):
                raise files_changed()
            with self._opened(file, byte, line) as (names, records):
                for _, cells in islice(records, chunk.n_rows - len(rows.ids)):
                    self._add(rows, cells, names, number + len(rows.ids))
            file, byte, line = file + 1, 0, 0
        return rows

    def fingerprint(self) -> str:
        """Give a name to the content."""
        return self.files.fingerprint(self.kind, self.id, self.text)

    def prepared(self, folder: str) -> Input:
        """Give itself: texts are read in place."""
        return self

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[list[str], _Records]]:
        """Open a file behind its first line, or at a byte; give its names too."""
        path = self.files.paths[file]
        with _records(self.files, file) as records:
            names = _as_names(path, records.header())
            for name in filter(None, (self.id, self.text)):
                if names.count(name) != 1:
                    raise InputError(f"DATA must have one column {name!r} in each file, got {path} without.")
            if not byte:
                yield names, records
        if byte:
            with _records(self.files, file, byte, line) as records:
                yield names, records

    def _add(self, rows: Rows, cells: Sequence[str], names: Sequence[str], number: int) -> None:
        row = len(rows.ids)
        text = _checked(text_of_cells(cells, names.index(self.text), names))
        id: int | str | None = number
        if self.id is not None:
            place = names.index(self.id)
            id = cells[place] if place < len(cells) else None
            if id is None or not _is_utf8(id):
                id, rows.errors[row] = None, missing_id(self.id)
        if isinstance(text, InputError):
            rows.errors.setdefault(row, str(text))
        rows.given.append("" if row in rows.errors else text)
        rows.ids.append(id)


@contextmanager
def _records(files: Files, file: int, byte: int = 0, line: int = 0) -> Iterator[_Records]:
    """Open a file from a byte on; where it is no CSV is said."""
    csv.field_size_limit(LONGEST_CELL)
    with files.opened(file) as raw:
        records = _Records(raw, DELIMITERS[files.suffix], byte, line)
        try:
            yield records
        except csv.Error as error:
            raise not_csv(files.paths[file], records.line, error) from error


def _as_names(path: str, cells: list[str]) -> list[str]:
    for cell in cells:
        try:
            _bytes(cell).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"DATA must be UTF-8 text, got {path}, which {not_utf8(error)}") from error
    return cells


def _checked(text: Cell) -> Cell:
    """Give what is wrong with a text that is no UTF-8; the other rows are not lost."""
    if isinstance(text, InputError) or _is_utf8(text):
        return text
    try:
        return _bytes(text).decode()
    except UnicodeDecodeError as error:
        return InputError(f"the row must have a UTF-8 text, got one which {not_utf8(error)}")


def _is_utf8(text: str) -> bool:
    """Tell whether a text came out of UTF-8: other bytes were read as what cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
