"""Rows whose stored outcome is an error, tried again: their records are replaced, and all others stay."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor import InputError
from butfor._files.inputs.base import IdType
from butfor.batch.folder import Folder
from butfor.batch.outputs import Outcome, arrow, table
from butfor.batch.parts import BEGUN, Origin, Part, read_part, sealed, unsealed, write_part
from butfor.batch.statistics import Statistics


@dataclass(frozen=True)
class Retry:
    """Which rows are tried again: those whose error holds a text; the empty text is in every error.

    >>> Retry("MemoryError").wants("model raised MemoryError"), Retry().wants("any"), Retry().wants(None)
    (True, True, False)
    """

    text: str = ""

    @classmethod
    def of(cls, asked: bool | str) -> "Retry | None":
        """Return what the argument `retry_errors` of a run asks for."""
        if not isinstance(asked, bool | str) or asked == "":
            raise InputError(
                f"retry_errors must be True, False, or a text that errors hold, got {asked!r}: True tries "
                "all rows again that have an error."
            )
        return cls("" if asked is True else asked) if asked else None

    def wants(self, error: str | None) -> bool:
        """Return whether a row with this error is tried again."""
        return error is not None and self.text in error


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of a chunk that has a part, of which some are to be tried again.

    The part is replaced as a whole, so at any moment each row is there once.
    """

    records: Any
    """An Arrow table with the records of the part."""
    positions: Any
    """For each record the position of its row in the chunk, in ascending order."""
    n_of_chunk: int
    todo: tuple[int, ...]
    """The positions of the rows that are still to be tried."""

    @property
    def n_rows(self) -> int:
        """How many rows need not be tried any more."""
        return self.n_of_chunk - len(self.todo)

    @property
    def statistics(self) -> Statistics:
        """Counts of all rows of the chunk, as they are now."""
        return statistics_of(self.records, self.n_of_chunk)

    def left(self, n_of_chunk: int) -> Sequence[int]:
        """Return the positions of the rows that are still to be tried."""
        return self.todo

    def followed_by(self, ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType) -> "StoredRows":
        """Return the rows with the outcomes of those that were next."""
        tried, todo = self.todo[: len(ids)], self.todo[len(ids) :]
        others = ~np.isin(self.positions, tried)
        written = [position for position, outcome in zip(tried, outcomes, strict=True) if outcome is not None]
        positions = np.concatenate([self.positions[others], np.array(written, dtype=np.int64)])
        records = arrow().concat_tables(
            [self.records.filter(arrow().array(others)), table(ids, outcomes, id_type)]
        )
        order = np.argsort(positions)
        return replace(self, records=records.take(order), positions=positions[order], todo=todo)

    def sealed(self, origin: Origin) -> bytes:
        """Return the content of the part."""
        return sealed(self.records, Part(origin, self.statistics))

    def keep(self, folder: Folder, origin: Origin) -> None:
        """Write what is known by now; where that fails, the part stays as it was."""
        with suppress(OSError):
            write_part(folder, origin, self)


def stored_rows(folder: Folder, origin: Origin, ids: Sequence[Any], retry: Retry) -> StoredRows | None:
    """Return the rows of a chunk's part and which of them are tried again; None if there is no such part.

    None, too, if rows were left out and others share their ids: then nobody knows which row a record is of,
    and all rows of the chunk are explained anew.
    """
    records = read_part(folder, origin)
    if records is None:
        return None
    positions = _positions(records.column("id").to_pylist(), ids)
    if positions is None:
        return None
    wanted = map(retry.wants, records.column("error").to_pylist())
    todo = tuple(int(row) for row, is_wanted in zip(positions, wanted, strict=True) if is_wanted)
    return StoredRows(records, positions, len(ids), todo)


def rows_to_retry(folder: Folder, run: str, parts: dict[int, Part], retry: Retry) -> dict[int, int]:
    """Return how many rows of each part are to be tried again, of the parts that have any."""
    with_errors = (number for number, part in parts.items() if part.statistics.statuses.get("error"))
    counts = {number: _n_wanted(read_part(folder, Origin(run, number)), retry) for number in with_errors}
    return {number: count for number, count in counts.items() if count}


def forget_begun_errors(folder: Folder) -> None:
    """Remove the kept first rows of chunks without a part, where one has an error: they are tried again."""
    for name in folder.names():
        if name.startswith(BEGUN) and _has_errors(folder, name):
            folder.remove(name)


def statistics_of(records: Any, n_rows: int) -> Statistics:
    """Count the records of a chunk with so many rows."""
    columns = ("id", "status", "size", "proven", "survives_deletion", "seconds")
    rows = records.select(columns).to_pylist()
    return sum(
        (_statistics_of_row(row) for row in rows),
        start=Statistics(n_rows=n_rows - len(rows), n_left_out=n_rows - len(rows)),
    )


def _statistics_of_row(row: dict[str, Any]) -> Statistics:
    is_explained = row["status"] != "error"
    return Statistics(
        n_rows=1,
        statuses={row["status"]: 1},
        sizes={row["size"]: 1} if row["status"] == "found" else {},
        n_proven=int(bool(row["proven"])),
        n_contradicted=int(row["survives_deletion"] is False),
        seconds=row["seconds"] if is_explained else 0.0,
        slowest=((row["seconds"], row["id"]),) if is_explained else (),
    )


def _positions(of_records: list[Any], ids: Sequence[Any]) -> Any:
    """Return the position of each record's row among the rows of the chunk; None if that is not certain."""
    if len(of_records) == len(ids):
        return np.arange(len(ids))
    places = {each: position for position, each in enumerate(ids)}
    if len(places) < len(ids) or any(each not in places for each in of_records):
        return None
    return np.array([places[each] for each in of_records], dtype=np.int64)


def _n_wanted(records: Any, retry: Retry) -> int:
    return 0 if records is None else sum(map(retry.wants, _errors(records)))


def _errors(records: Any) -> Iterator[str | None]:
    yield from records.column("error").to_pylist()


def _has_errors(folder: Folder, name: str) -> bool:
    try:
        return bool(unsealed(folder.read(name)).statistics.statuses.get("error"))
    except (OSError, ValueError):  # nobody goes on from it
        return False
