"""Parquet in long form: a record for each feature of a row, the shape that behaviour logs have."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import dirname
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._checks import require_count
from butfor._files.inputs.base import Chunk, InputRows, require_rows
from butfor._files.inputs.feature_matrix import MatrixBuilder
from butfor._files.inputs.feature_table import FeatureTable
from butfor._files.inputs.ids import (
    NOTHING,
    IdOrder,
    ids_of,
    keys_of,
    last_id,
    missing_id,
    new_ids,
    repeated,
)
from butfor._files.inputs.parquet_cursor import ParquetSelection
from butfor.errors import InputError


@dataclass(frozen=True, eq=False)
class _RecordIds:
    """The ids of some records."""

    file: int
    record: int
    """Where the first of them stands in its file."""
    new: npt.NDArray[np.bool_]
    """Whether a record has another id than the one before."""
    starts: Any
    """The ids of those that have."""


class ParquetLong(FeatureTable):
    """Records of (id, feature) or (id, feature, value), those of an id together; ids may come in any order.

    Records without an id that stand together are one row, which is an error. The first pass over the ids
    checks that none comes back: in constant memory where they are sorted, otherwise with 8 bytes for each.
    """

    kind = "long table"
    batch = 262_144

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the records into chunks where a new id begins; the place is (file, record, records)."""
        require_count("chunk_rows", chunk_rows)
        order, cuts = IdOrder(), array("q")  # where each chunk begins: file, record of it, record of all
        n_rows = n_records = 0
        for batch in self._ids():
            begins = np.flatnonzero(batch.new)
            for begin in begins[-n_rows % chunk_rows :: chunk_rows].tolist():
                cuts.extend((batch.file, batch.record + begin, n_records + begin))
            n_rows += len(begins)
            n_records += len(batch.new)
            order.see(batch.starts)
        require_rows(n_rows)
        if not order.holds:
            self._require_each_id_once()
        cuts.extend((0, 0, n_records))
        for number in range(len(cuts) // 3 - 1):
            file, record, begin, _, _, end = cuts[3 * number : 3 * number + 6]
            rows = min(chunk_rows, n_rows - number * chunk_rows)
            yield Chunk(number, rows, (file, record, end - begin))

    def read(self, chunk: Chunk) -> InputRows:
        """Read the records of a chunk."""
        file, record, n_records = chunk.place
        builder, ids = MatrixBuilder(self.space, self.chosen), list[Any]()
        before: Any = NOTHING
        for batch in self._selection.take(file, record, n_records):
            column = batch.column(0)
            new = new_ids(column, before)
            rows = np.cumsum(new) + (len(ids) - 1)
            ids += ids_of(column.filter(new), self.id_type)
            builder.add(rows, batch.column(1), batch.column(2) if self.chosen.value else None)
            before = last_id(column)
        for row, id in enumerate(ids):
            if id is None:
                builder.errors[row] = missing_id(self.chosen.id or "")
        return InputRows(ids, builder.matrix(len(ids)), builder.errors)

    def _ids(self) -> Iterator[_RecordIds]:
        """Read the column of ids, and nothing else."""
        only = ParquetSelection(self.files, tuple(self.chosen.names[:1]), self.batch)
        before: Any = NOTHING
        for file, n_records in enumerate(self._selection.counts()):
            record = 0
            for batch in only.take(file, 0, n_records):
                column = batch.column(0)
                new = new_ids(column, before)
                yield _RecordIds(file, record, new, column.filter(new))
                record += len(new)
                before = last_id(column)

    def _require_each_id_once(self) -> None:
        suspects = repeated(np.concatenate([keys_of(batch.starts) for batch in self._ids()]))
        seen = set()
        for batch in self._ids() if len(suspects) else ():
            starts = batch.starts.drop_null()
            for id in ids_of(starts.filter(np.isin(keys_of(starts), suspects)), self.id_type):
                if id in seen:  # two ids may share a key; that alone is no fault
                    raise self._comes_back(id)
                seen.add(id)

    def _comes_back(self, id: Any) -> InputError:
        path, *others = self.files.paths
        source = f"{dirname(path)}/*.parquet" if others else path
        return InputError(
            f"DATA must have all records of an id together, got {id!r} in two places. Sort it, in DuckDB: "
            f"COPY (SELECT * FROM '{source}' ORDER BY \"{self.chosen.id}\") TO 'sorted.parquet'"
        )
