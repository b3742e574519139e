"""Parquet with a column of texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.arrow_types import holds_texts
from butfor._files.inputs.base import Chunk, ChunkedInput, ColumnNames, IdType, InputRows, ModelNeeds
from butfor._files.inputs.columns import choose_id, id_type, require_distinct
from butfor._files.inputs.locations import Files
from butfor._files.inputs.parquet_cursor import ParquetSelection, opened_parquet
from butfor._files.inputs.text_column import Cell, chosen_text_column, missing_text
from butfor._files.inputs.whole_rows import chunks_of_rows, read_ids
from butfor._files.opening import not_utf8
from butfor.errors import InputError

BATCH = 500
"""Rows that are read at a time."""


def open_parquet_texts(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "ParquetTexts":
    """Choose the columns of a Parquet file by their names and types."""
    with opened_parquet(files, 0) as file:
        schema = file.schema_arrow
    id = choose_id(columns, schema)
    text = _text_column(columns.text, schema, besides=id)
    require_distinct({"id": id, "text": text})
    return ParquetTexts(files, id, text, id_type(schema, id))


def _text_column(column: str | None, schema: Any, besides: str | None) -> str:
    """Choose the column of texts by the types of the columns; `besides` is that of ids, if there is one."""
    with_texts = [field.name for field in schema if holds_texts(field.type)]
    name = chosen_text_column(column, schema.names, [name for name in with_texts if name != besides])
    if name not in with_texts:
        raise InputError(f"--text-column must hold texts, got {name!r} of {schema.field(name).type}.")
    return name


@dataclass(frozen=True)
class ParquetTexts(ChunkedInput):
    """Rows of (id, text); ids are not compared with each other, and without them row numbers are."""

    files: Files
    id: str | None
    text: str
    id_type: IdType
    holds_texts = True
    kind = "texts"
    feature_names = None

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._selection.counts(), chunk_rows)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the texts of a chunk."""
        rows = InputRows([], [])
        for position, ids, missing, batch in read_ids(self._selection, chunk, self.id, self.id_type):
            rows.ids.extend(ids)
            rows.errors.update(missing)
            for row, text in enumerate(texts_of(batch.column(self.text), self.text), start=position):
                if isinstance(text, InputError):
                    rows.errors.setdefault(row, str(text))
                rows.content.append("" if row in rows.errors else text)
        return rows

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.text)

    @property
    def _selection(self) -> ParquetSelection:
        columns = (self.text,) if self.id is None else (self.id, self.text)
        return ParquetSelection(self.files, columns, BATCH)


def texts_of(column: Any, name: str) -> list[Cell]:
    """Return the texts of an Arrow column, and what is wrong with those that are missing or no texts."""
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
