"""The work on one chunk, on whichever machine: read its rows, explain them, write its part."""

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

from butfor import ButforError, Explainer, InputError
from butfor._files.inputs import Chunk, Input, InputRows
from butfor._files.inputs.locations import DataChangedError
from butfor._processes.harness import Call, Harness, NotLoaded
from butfor._processes.messages import Note
from butfor._processes.one_thread import limit_threads
from butfor._processes.worker import WorkerLost
from butfor.batch.folder import Folder
from butfor.batch.outputs import Outcome
from butfor.batch.parts import FirstRows, Origin, read_begun, write_part
from butfor.batch.retrying import Retry, StoredRows, stored_rows
from butfor.batch.shipping import unpacked
from butfor.batch.statistics import Statistics
from butfor.errors import abridged, error_text, ran_out_of_memory
from butfor.results.outcomes import Outcomes

FIRST_ROWS = 16
"""Rows of a chunk that are explained first, to see how long they take."""
SECONDS_UNKEPT = 10.0
"""Seconds of work after which the rows of a chunk are kept, though its part is not finished."""


@dataclass(frozen=True)
class Job:
    """What a process must know to work on any chunk; small, and can be pickled."""

    explainer: str
    """The folder on this machine with the explainer, which `butfor.batch.shipping.pack` wrote."""
    input: Input
    out: Folder
    run: str
    """The id of the run, which is written into every part."""
    only_positive: bool = False
    patience: float = float("inf")
    """Seconds without any progress after which a worker hangs; more than a row's own limit."""
    retry: Retry | None = None
    """Which rows of chunks that have a part are tried again."""
    is_here: bool = False
    """Whether rows are explained in this process, so that there is no fresh one if memory runs out."""


@dataclass(frozen=True)
class Done:
    """A chunk whose part is written."""

    chunk: Chunk
    statistics: Statistics


@dataclass(frozen=True)
class Failed:
    """A chunk without a part; the next run tries it again."""

    chunk: Chunk
    stage: Literal["read", "explain", "write"]
    reason: str
    data_changed: bool = False
    """Whether DATA has changed since the run began; then no other chunk can be done either."""


def explain_chunk(job: Job, chunk: Chunk, note: Note) -> Done | Failed:
    """Read the rows of a chunk, explain those that nobody has, and write the part.

    Where that takes long, what is done is kept from time to time: the next one to try goes on from there.
    Raise a MemoryError where memory runs out, so that a fresh process tries the rest.
    """
    try:
        with _stage("read"):
            rows = job.input.read(chunk)
        explainer, origin = unpacked(job.explainer), Origin(job.run, chunk.number)
        done = _done_before(job, origin, rows)
        n_next, kept_at = FIRST_ROWS, time.monotonic()
        while left := done.left(chunk.n_rows):
            note(done.n_rows)
            began, some = time.monotonic(), _some_of(rows, left[0], _n_in_a_row(left, n_next))
            with _stage("explain"):
                outcomes = explain_rows(explainer, some, job.only_positive, partial(_add, note, done.n_rows))
            if not job.is_here and (error := _out_of_memory(outcomes)):
                done.keep(job.out, origin)
                raise error
            done = done.followed_by(some.ids, outcomes, job.input.id_type)
            now = time.monotonic()
            n_next = int(max(FIRST_ROWS, len(outcomes) * SECONDS_UNKEPT / max(1e-6, now - began)))
            if now - kept_at > SECONDS_UNKEPT and done.n_rows < chunk.n_rows:
                done.keep(job.out, origin)
                kept_at = now
        return _written(job, chunk, done)
    except _ChunkError as error:
        return error.of(chunk)


def _done_before(job: Job, origin: Origin, rows: InputRows) -> FirstRows | StoredRows:
    """Return what is on storage of a chunk, and so which rows are left."""
    if job.retry is not None:
        stored = stored_rows(job.out, origin, rows.ids, job.retry)
        if stored is not None:
            return stored
    return read_begun(job.out, origin)


def _n_in_a_row(positions: Sequence[int], at_most: int) -> int:
    """Return how many of the first positions follow one another.

    >>> _n_in_a_row([3, 4, 5, 9], at_most=16)
    3
    """
    n_rows = 1
    while n_rows < min(at_most, len(positions)) and positions[n_rows] == positions[0] + n_rows:
        n_rows += 1
    return n_rows


def _out_of_memory(outcomes: Sequence[Outcome]) -> MemoryError | None:
    """Return a MemoryError if one of the outcomes is due to one."""
    # Columns hold no errors, and need not become objects.
    for outcome in outcomes.others.values() if isinstance(outcomes, Outcomes) else outcomes:
        if isinstance(outcome, ButforError) and ran_out_of_memory(outcome):
            return MemoryError(str(outcome))
    return None


def _add(note: Note, n_before: int, n_rows: int) -> None:
    note(n_before + n_rows)


def worker_for(job: Job) -> Harness:
    """Return a worker for the chunks of a run, which is not started yet."""
    return Harness(load, job.explainer, patience=job.patience)


def explain_chunk_safely(
    worker: Harness, job: Job, chunk: Chunk, note: Note = lambda n_rows: None
) -> Done | Failed:
    """Have a worker explain a chunk by the rule of the harness: only a row that is at fault gets an error.

    Where the worker explains the rows one by one, this process reads them and writes the part.
    """
    whole = _WholeChunk(job, chunk, note)
    outcomes: list[Outcome] = []
    try:
        for rows, result in worker.results(whole, note):
            if rows is whole:
                done: Done | Failed = result
                return done
            outcomes.append(result)
            note(whole.begun.n_rows + len(outcomes))
        ids = [whole.rows.ids[position] for position in whole.left]
        return _written(job, chunk, whole.begun.followed_by(ids, outcomes, job.input.id_type))
    except _ChunkError as error:
        return error.of(chunk)


class _WholeChunk:
    """A chunk that the worker reads, explains and writes; its rows where that fails."""

    def __init__(self, job: Job, chunk: Chunk, note: Note) -> None:
        self._job, self._chunk, self._note = job, chunk, note

    def call(self) -> Call:
        return explain_chunk, self._job, self._chunk

    @cached_property
    def rows(self) -> InputRows:
        with _stage("read"):
            return self._job.input.read(self._chunk)

    @cached_property
    def begun(self) -> FirstRows | StoredRows:
        """What is kept of the rows that the worker explained."""
        return _done_before(self._job, Origin(self._job.run, self._chunk.number), self.rows)

    @property
    def left(self) -> Sequence[int]:
        """The positions of the rows that are explained one by one."""
        return self.begun.left(len(self.rows.ids))

    def one_by_one(self) -> "Iterator[_ChunkRow]":
        self._note(self.begun.n_rows)
        for position in self.left:
            yield _ChunkRow(self._job, _some_of(self.rows, position, 1))


@dataclass(frozen=True, eq=False)
class _ChunkRow:
    """A row of a chunk, which is sent to the worker."""

    job: Job
    row: InputRows

    def call(self) -> Call:
        return explain_row, self.job.explainer, self.row, self.job.only_positive

    def lost(self, error: Exception) -> Outcome:
        if isinstance(error, NotLoaded):  # no row is at fault, so that the next run tries them again
            raise _ChunkError("explain", f"the worker process {error}") from error
        if isinstance(error, WorkerLost):
            return f"the worker process {error} while the model was asked about this row."
        if isinstance(error, MemoryError):
            return (
                f"two processes, one after the other, ran out of memory over this row: {abridged(str(error))}"
            )
        return error_text(error)


def _written(job: Job, chunk: Chunk, rows: FirstRows | StoredRows) -> Done:
    """Write the part of a chunk."""
    with _stage("write"):
        return Done(chunk, write_part(job.out, Origin(job.run, chunk.number), rows))


def explain_row(explainer: str, row: InputRows, only_positive: bool, note: Note) -> Outcome:
    """Explain one row; whatever is raised is its error, but for a MemoryError, which is raised."""
    outcome = _alone(unpacked(explainer), row, 0, only_positive)
    if error := _out_of_memory([outcome]):
        raise error
    return str(outcome) if isinstance(outcome, ButforError) else outcome


def load(explainer: str, note: Note) -> None:
    """Load the explainer in a process that explains rows and does nothing else."""
    # Explanations are many and have no cycles: searching for cycles all the time costs a fifth of the speed.
    gc.set_threshold(100_000, 50, 100)
    try:
        limit_threads(unpacked(explainer))
    except Exception as error:
        raise InputError(
            "MODEL must be one that other processes can load, got one that cannot be loaded: "
            f"{error_text(error)}"
        ) from error


def explain_rows(
    explainer: Explainer, rows: InputRows, only_positive: bool, note: Note = lambda n_rows: None
) -> Sequence[Outcome]:
    """Explain the rows of a chunk; what the model raises for a row is the error of that row."""
    n_done = 0

    def add(n_more: int) -> None:
        nonlocal n_done
        n_done += n_more
        note(n_done)

    try:
        found = explainer.explain_block(rows.content, only_positive=only_positive, progress=add)
    except (Exception, SystemExit):  # because of some row: the others are explained without it
        outcomes: list[Outcome] = []
        for position in range(len(rows.ids)):
            outcomes.append(_alone(explainer, rows, position, only_positive))
            note(len(outcomes))
        return outcomes
    return found.replaced({position: InputError(error) for position, error in rows.errors.items()})


def _some_of(rows: InputRows, first: int, at_most: int) -> InputRows:
    """Return some rows, from a position on."""
    end = min(first + at_most, len(rows.ids))
    errors = {position - first: error for position, error in rows.errors.items() if first <= position < end}
    return InputRows(rows.ids[first:end], rows.content[first:end], errors)


def _alone(explainer: Explainer, rows: InputRows, position: int, only_positive: bool) -> Outcome:
    """Explain one row; whatever is raised is its error."""
    if position in rows.errors:
        return rows.errors[position]
    try:
        (outcome,) = explainer.explain_block(
            rows.content[position : position + 1], only_positive=only_positive
        )
    except (Exception, SystemExit) as error:
        failed = ButforError(error_text(error))
        failed.__cause__ = error
        return failed
    return outcome


class _ChunkError(Exception):
    def __init__(self, stage: Any, reason: str, data_changed: bool = False) -> None:
        super().__init__(reason)
        self.stage = stage
        self.data_changed = data_changed

    def of(self, chunk: Chunk) -> Failed:
        return Failed(chunk, self.stage, str(self), self.data_changed)


@contextmanager
def _stage(stage: str) -> Iterator[None]:
    """Turn whatever is raised into a `_ChunkError` of this stage."""
    try:
        yield
    except Exception as error:
        has_changed = isinstance(error, DataChangedError)
        raise _ChunkError(stage, str(error) if has_changed else error_text(error), has_changed) from error
