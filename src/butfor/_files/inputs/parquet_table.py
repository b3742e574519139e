"""Parquet of records: columns of texts, categories, lists and numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.arrow_types import is_list
from butfor._files.inputs.base import Chunk, ChunkedInput, ColumnNames, IdType, InputRows, ModelNeeds
from butfor._files.inputs.columns import choose_id, id_type, require_columns
from butfor._files.inputs.locations import Files
from butfor._files.inputs.parquet_cursor import ParquetSelection, opened_parquet
from butfor._files.inputs.record_columns import (
    Columns,
    as_table,
    besides_ids,
    columns_of_table,
    record_needs,
    require_types,
)
from butfor._files.inputs.whole_rows import chunks_of_rows, read_ids

CELLS_AT_ONCE = 2**18
"""Cells that are read at a time."""


def open_parquet_table(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "ParquetTable":
    """Match the columns of a Parquet file with those that the model reads."""
    with opened_parquet(files, 0) as file:
        schema = file.schema_arrow
    known, path = record_needs(needs), files.paths[0]
    id = choose_id(columns, schema, besides_ids(known))
    names = schema.names
    if known.form == "lists":
        names = [name for name in names if is_list(schema.field(name).type)]
    read = columns_of_table(path, names, id, known, columns.feature)
    require_columns(path, schema.names, [name for name, _ in read])
    require_types(path, schema, read)
    return ParquetTable(files, id, id_type(schema, id), read, known.form)


@dataclass(frozen=True)
class ParquetTable(ChunkedInput):
    """Records, and perhaps an id; ids are not compared with each other."""

    files: Files
    id: str | None
    id_type: IdType
    columns: Columns
    form: str
    holds_texts = False
    kind = "table"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(name for name, _ in self.columns)

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._selection.counts(), chunk_rows)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the records of a chunk."""
        ids: list[Any] = []
        errors: dict[int, str] = {}
        batches = []
        for _, some, missing, batch in read_ids(self._selection, chunk, self.id, self.id_type):
            ids.extend(some)
            errors.update(missing)
            batches.append(batch)
        return InputRows(ids, content_of(batches, self.columns, self.form), errors)

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.columns)

    @property
    def _selection(self) -> ParquetSelection:
        columns = self.feature_names if self.id is None else (self.id, *self.feature_names)
        return ParquetSelection(self.files, columns, max(1, CELLS_AT_ONCE // len(columns)))


def content_of(batches: list[Any], columns: Columns, form: str) -> Any:
    """Return the records of Arrow batches in the form that the model takes."""
    import pyarrow as pa

    names = [name for name, _ in columns]
    table = pa.Table.from_batches(batches).select(names)
    if form not in ("frame", "array") or not _has_pandas():
        return as_table(table.to_pylist(), columns, form)
    lists = [name for name in names if is_list(table.schema.field(name).type)]
    frame = table.drop_columns(lists).to_pandas()
    for name in lists:
        values = [[] if items is None else items for items in table.column(name).to_pylist()]
        frame[name] = type(frame.index.to_series())(values, index=frame.index, dtype=object)
    return frame[names]


def _has_pandas() -> bool:
    from importlib.util import find_spec

    return find_spec("pandas") is not None
