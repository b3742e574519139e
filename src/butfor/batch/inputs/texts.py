"""Parquet with a column of texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from butfor.batch.inputs.base import Chunk, IdType, Input, Rows
from butfor.batch.inputs.cursor import Selection
from butfor.batch.inputs.locations import Files
from butfor.batch.inputs.whole_rows import chunks_of_rows, read_ids
from butfor.errors import InputError
from butfor.files.opening import not_utf8
from butfor.files.tables import Cell, missing_text

BATCH = 500
"""Rows that are read at a time."""


@dataclass(frozen=True)
class ParquetTexts:
    """Rows of (id, text); ids are not compared with each other, and without them row numbers are."""

    files: Files
    id: str | None
    text: str
    id_type: IdType
    holds_texts = True
    kind: Literal["texts"] = "texts"

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._selection.counts(), chunk_rows)

    def read(self, chunk: Chunk) -> Rows:
        """Read the texts of a chunk."""
        rows = Rows([], [])
        for position, ids, missing, batch in read_ids(self._selection, chunk, self.id, self.id_type):
            rows.ids.extend(ids)
            rows.errors.update(missing)
            for row, text in enumerate(texts_of(batch.column(self.text), self.text), start=position):
                if isinstance(text, InputError):
                    rows.errors.setdefault(row, str(text))
                rows.given.append("" if row in rows.errors else text)
        return rows

    def fingerprint(self) -> str:
        """Give a name to the content."""
        return self.files.fingerprint(self.kind, self.id, self.text)

    def prepared(self, folder: str) -> Input:
        """Give itself: texts are read in place."""
        return self

    @property
    def _selection(self) -> Selection:
        columns = (self.text,) if self.id is None else (self.id, self.text)
        return Selection(self.files, columns, BATCH)


def texts_of(column: Any, name: str) -> list[Cell]:
    """Give the texts of an Arrow column, and what is wrong with those that are missing or no texts."""
    try:
        texts: list[str | None] = column.to_pylist()
    except UnicodeDecodeError:  # the other rows are not lost
        return [_text(cell, name) for cell in column]
    return [missing_text(name) if text is None else text for text in texts]


def _text(cell: Any, name: str) -> Cell:
    try:
        text: str | None = cell.as_py()
    except UnicodeDecodeError as error:
        return InputError(f"the row must have a UTF-8 text, got one which {not_utf8(error)}")
    return missing_text(name) if text is None else text
