"""Records of Parquet files, read forwards and a batch at a time: a row group may be larger than memory."""

import threading
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from butfor._extras import optional
from butfor._files.inputs.arrow_types import is_number, leaf, plain_number, plain_type
from butfor._files.inputs.columns import require_columns
from butfor._files.inputs.locations import Files, files_changed, local_path, open_bytes
from butfor.errors import InputError

BUFFER = 2**20
"""Bytes of a column that are read at a time; unasked, Arrow reads the column of a whole row group."""

_here = threading.local()


@dataclass(frozen=True)
class ParquetSelection:
    """Some columns of Parquet files that agree in them."""

    files: Files
    columns: tuple[str, ...]
    batch: int
    """Records that are read at a time."""

    numbers: frozenset[str] = frozenset()
    """The columns that are read as floats, whichever numbers they hold."""

    def counts(self) -> Iterator[int]:
        """Count the records of each file, and check that its columns are those of the first."""
        first: Any = None
        for number, path in enumerate(self.files.paths):
            with opened_parquet(self.files, number) as file:
                schema, count = file.schema_arrow, int(file.metadata.num_rows)
            self._require_columns(path, schema, schema if first is None else first)
            first = schema if first is None else first
            yield count

    def _require_columns(self, path: str, schema: Any, first: Any) -> None:
        require_columns(path, schema.names, self.columns)
        for name in self.columns:
            kind, expected = (self._plain(each.field(name)) for each in (schema, first))
            if kind != expected and not (name in self.numbers and is_number(leaf(kind))):
                raise InputError(
                    f"DATA must be files of the same types, got {path} with {name!r} of {kind}, "
                    f"not {expected} as in the first."
                )

    def plain(self, batch: Any) -> Any:
        """Return a batch as it is read, whichever way its file stores it."""
        import pyarrow as pa

        batch = batch.select(list(self.columns))
        schema = pa.schema([(field.name, self._plain(field)) for field in batch.schema])
        return batch if batch.schema.equals(schema) else batch.cast(schema, safe=False)

    def _plain(self, field: Any) -> Any:
        return plain_number(field.type) if field.name in self.numbers else plain_type(field.type)

    def take(self, file: int, record: int, n_records: int) -> Iterator[Any]:
        """Read so many records from a place on, across files, as Arrow batches.

        The thread keeps its place, so that reading on from there costs nothing.
        """
        cursor = getattr(_here, "cursor", None)
        if cursor is None or cursor.selection != self or (file, record) < (cursor.file, cursor.record):
            cursor = ParquetCursor(self)
        _here.cursor = None  # should reading fail, the next one starts afresh
        try:
            cursor.seek(file, record)
            while n_records:
                batch = cursor.next(n_records)
                n_records -= len(batch)
                yield batch
        except Exception:
            self._require_unchanged(file, cursor.file)  # if it was replaced, that is what is wrong
            raise
        self._require_unchanged(file, cursor.file)
        _here.cursor = cursor

    def _require_unchanged(self, first: int, last: int) -> None:
        for number in range(first, last + 1):
            self.files.require_unchanged(number)


class ParquetCursor:
    """A place in Parquet files, which moves forwards only."""

    def __init__(self, selection: ParquetSelection) -> None:
        self.selection = selection
        self.file, self.record = 0, 0
        self._open: Any = None
        self._batches: Iterator[Any] = iter(())
        self._ends: list[int] = []
        """Where the row groups of the file end."""
        self._ahead: Any = None
        """What has been read and not taken."""

    def seek(self, file: int, record: int) -> None:
        """Move to a record; row groups before it are not read."""
        if file != self.file or self._open is None:
            self._enter(file, record)
        elif (group := self._group_of(record)) > self._group_of(self.record):
            self._start(group)
        while self.record < record:
            self._ahead = self._ahead if self._ahead is not None else self._read()
            skipped = min(record - self.record, len(self._ahead))
            self._drop(skipped)

    def next(self, at_most: int) -> Any:
        """Take some records, one at least."""
        if self._open is None:
            self._enter(self.file, self.record)
        while self._ahead is None and self.record >= self._n_records:
            self._enter(self.file + 1, 0)
        batch = self._ahead if self._ahead is not None else self._read()
        self._ahead = batch
        taken = batch.slice(0, at_most)
        self._drop(len(taken))
        return taken

    def close(self) -> None:
        """Close the file that is open, if any."""
        self._batches, self._ahead = iter(()), None
        if self._open is not None:
            self._open.close(force=True)
            self._open = None

    @property
    def _n_records(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _drop(self, count: int) -> None:
        self.record += count
        self._ahead = self._ahead.slice(count) if count < len(self._ahead) else None

    def _enter(self, file: int, record: int) -> None:
        files = self.selection.files
        if file >= len(files.paths):
            raise files_changed()
        self.close()
        with _explained(files.paths[file]):
            self._open = _parquet_file(files.paths[file])
            metadata = self._open.metadata
        self.file, self._ends = file, []
        for group in range(metadata.num_row_groups):
            self._ends.append(self._n_records + metadata.row_group(group).num_rows)
        self._start(self._group_of(record))

    def _group_of(self, record: int) -> int:
        return bisect_right(self._ends, record)

    def _start(self, group: int) -> None:
        self.record = self._ends[group - 1] if group else 0
        self._ahead = None
        self._batches = self._open.iter_batches(
            batch_size=self.selection.batch,
            row_groups=list(range(group, len(self._ends))),
            columns=list(self.selection.columns),
            use_threads=False,
        )

    def _read(self) -> Any:
        with _explained(self.selection.files.paths[self.file]):
            batch = next(self._batches, None)
            if batch is None:
                raise OSError("it ends before the number of records that it claims")
            return self.selection.plain(batch)


@contextmanager
def opened_parquet(files: Files, number: int) -> Iterator[Any]:
    """Open a Parquet file; an error names it and what is wrong with it."""
    path = files.paths[number]
    try:
        with _explained(path):
            file = _parquet_file(path)
        try:
            yield file
        finally:
            file.close(force=True)
    finally:
        files.require_unchanged(number)


def _parquet_file(path: str) -> Any:
    """Open by path where that is possible: Arrow reads its own files faster than Python's."""
    parquet = optional("pyarrow.parquet", extra="parquet")
    source = local_path(path) or open_bytes(path)
    return parquet.ParquetFile(source, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True)


@contextmanager
def _explained(path: str) -> Iterator[None]:
    pa = optional("pyarrow", extra="parquet")
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"DATA must be Parquet files that can be read, got {path}: {error}") from error
