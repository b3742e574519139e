"""Parquet in list form: a record for each row, with lists of its features and their values."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from butfor._files.inputs.base import Chunk, InputRows
from butfor._files.inputs.columns import ChosenColumns
from butfor._files.inputs.feature_matrix import MatrixBuilder
from butfor._files.inputs.feature_table import FeatureTable
from butfor._files.inputs.ids import IdOrder, ids_of, keys_of, repeated
from butfor._files.inputs.parquet_cursor import ParquetSelection
from butfor._files.inputs.whole_rows import chunks_of_rows, read_ids

ID_BATCH = 262_144
"""Ids that are read at a time."""


class ParquetLists(FeatureTable):
    """Rows of (id, features) or (id, features, values); an id may come again, and is reported then."""

    kind = "lists"
    batch = 5_000

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._selection.counts(), chunk_rows)

    def repeated_ids(self) -> list[Any]:
        """Read the column of ids, and return those that come more than once.

        This takes constant memory where they are sorted, otherwise 8 bytes for each.
        """
        if self.chosen.id is None:
            return []
        order = IdOrder()
        for ids in self._ids(self.chosen.id):
            order.see(ids)
        if order.holds:
            return []
        suspects = repeated(np.concatenate([keys_of(ids) for ids in self._ids(self.chosen.id)]))
        if not len(suspects):
            return []
        counts = Counter[Any]()
        for ids in self._ids(self.chosen.id):
            there = ids.drop_null()
            counts.update(ids_of(there.filter(np.isin(keys_of(there), suspects)), self.id_type))
        return [id for id, count in counts.items() if count > 1]

    def _ids(self, column: str) -> Iterator[Any]:
        only = ParquetSelection(self.files, (column,), ID_BATCH)
        for file, n_records in enumerate(self._selection.counts()):
            for batch in only.take(file, 0, n_records):
                yield batch.column(0)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the lists of a chunk."""
        builder, ids = MatrixBuilder(self.space, self.chosen), list[Any]()
        for position, some, missing, batch in read_ids(
            self._selection, chunk, self.chosen.id, self.chosen.id_type
        ):
            ids += some
            builder.errors.update(missing)
            values = None if self.chosen.value is None else batch.column(self.chosen.value)
            add_lists(builder, position, batch.column(self.chosen.feature), values)
        return InputRows(ids, builder.matrix(len(ids)), builder.errors)


def add_lists(builder: MatrixBuilder, position: int, features: Any, values: Any) -> None:
    """Add the lists of some rows, but those that are not there or do not fit together."""
    lengths = _lengths(features)
    n_values = lengths if values is None else _lengths(values)
    good = (lengths >= 0) & (n_values == lengths)
    for row in np.flatnonzero(~good).tolist():
        misfit = _misfit(builder.chosen, int(lengths[row]), int(n_values[row]))
        builder.errors.setdefault(position + row, misfit)
    if not good.all():
        features, values = features.filter(good), None if values is None else values.filter(good)
    rows = np.repeat(position + np.flatnonzero(good), lengths[good])
    builder.add(rows, features.flatten(), None if values is None else values.flatten())


def _misfit(chosen: ChosenColumns, n_features: int, n_values: int) -> str:
    """Return what is wrong with two lists of these lengths, of which −1 means that there is none."""
    if min(n_features, n_values) < 0:
        column = chosen.feature if n_features < 0 else chosen.value
        return f"the row must have a list in the column {column!r}, got none."
    return f"the row must have as many values as features, got {n_values} and {n_features}."


def _lengths(lists: Any) -> Any:
    import pyarrow.compute as pc

    return pc.list_value_length(lists).fill_null(-1).to_numpy(zero_copy_only=False)
