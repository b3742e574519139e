"""Parquet of numbers: a column for each feature."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._files.inputs.arrow_types import is_number
from butfor._files.inputs.base import Chunk, ChunkedInput, ColumnNames, IdType, InputRows, ModelNeeds
from butfor._files.inputs.columns import WELL_KNOWN, choose_columns, choose_id, id_type, require_columns
from butfor._files.inputs.locations import Files
from butfor._files.inputs.parquet_cursor import ParquetSelection
from butfor._files.inputs.whole_rows import chunks_of_rows, read_ids
from butfor._files.inputs.wide import besides_ids, features_of_header
from butfor.errors import InputError

CELLS_AT_ONCE = 2**20
"""Cells that are read at a time."""


def open_parquet_wide(files: Files, columns: ColumnNames, needs: ModelNeeds, schema: Any) -> "ParquetWide":
    """Match the columns of a Parquet file with the features of the model."""
    path = files.paths[0]
    id = choose_id(columns, schema, besides_ids(schema.names, needs))
    features = features_of_header(path, schema.names, id, needs)
    require_columns(path, schema.names, features)
    for name in features:
        kind = schema.field(name).type
        if not is_number(kind):
            raise InputError(
                f"DATA must hold numbers, as the model takes rows of numbers, got {path} with the column "
                f"{name!r} of {kind}. Encode it as columns of zeros and ones."
            )
    return ParquetWide(files, id, id_type(schema, id), features)


@dataclass(frozen=True)
class ParquetWide(ChunkedInput):
    """Records of numbers, and perhaps an id; ids are not compared with each other."""

    files: Files
    id: str | None
    id_type: IdType
    features: tuple[str, ...]
    """The columns of features, in the order of the model's."""
    holds_texts = False
    kind = "wide table"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of features."""
        return self.features

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._selection.counts(), chunk_rows)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the rows of a chunk."""
        rows = InputRows([], np.zeros((chunk.n_rows, len(self.features))))
        for position, ids, missing, batch in read_ids(self._selection, chunk, self.id, self.id_type):
            rows.ids.extend(ids)
            rows.errors.update(missing)
            self._fill(rows.content[position : position + len(ids)], rows.errors, position, batch)
        rows.content[list(rows.errors)] = 0.0
        return rows

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.features)

    def _fill(self, X: npt.NDArray[np.float64], errors: dict[int, str], position: int, batch: Any) -> None:
        """Fill some rows of a matrix; a row that lacks a number has an error."""
        for place, name in enumerate(self.features):
            column = batch.column(name)
            X[:, place] = column.to_numpy(zero_copy_only=False)
            if column.null_count:
                for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
                    what = f"the row must have a number in the column {name!r}, got none."
                    errors.setdefault(position + row, what)

    @property
    def _selection(self) -> ParquetSelection:
        columns = self.features if self.id is None else (self.id, *self.features)
        batch = max(1, CELLS_AT_ONCE // len(columns))
        return ParquetSelection(self.files, columns, batch, frozenset(self.features))


def is_wide(columns: ColumnNames, needs: ModelNeeds, schema: Any) -> bool:
    """Return whether a table without lists has a column for each feature, not a record for each.

    A --feature-column says so itself: an empty one, each column is a feature. Otherwise the names decide.
    Where the model's features have no names, the table is wide if all its columns are numbers, as many as the
    model has.
    """
    if columns.feature is not None or columns.value is not None:
        return columns.feature == ""
    names = set(needs.names or ())
    if names and names <= set(schema.names):
        return True
    if any(name.lower() in WELL_KNOWN["feature"] for name in schema.names):
        return False
    if names:
        return not names.isdisjoint(schema.names)
    return _is_wide_by_types(columns, needs, schema)


def _is_wide_by_types(columns: ColumnNames, needs: ModelNeeds, schema: Any) -> bool:
    id = choose_id(columns, schema, besides_ids(schema.names, needs))
    kinds = [field.type for field in schema if field.name != id]
    if not all(map(is_number, kinds)) or len(kinds) != needs.n_features:
        return _cannot_be_long(columns, schema) and all(map(is_number, kinds))
    if not _cannot_be_long(columns, schema):
        raise InputError(
            '--feature-column must name the column of features, or be "" where each column is a feature: got '
            f"no name where DATA may be either. Its columns are {', '.join(map(repr, schema.names))}."
        )
    return True


def _cannot_be_long(columns: ColumnNames, schema: Any) -> bool:
    try:
        choose_columns(columns, schema)
    except InputError:
        return True
    return False
