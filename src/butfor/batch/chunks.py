"""The work on one chunk, on whichever machine: read its rows, explain them, write its part."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from butfor import Explainer, Explanation, InputError
from butfor._files.inputs import Chunk, Input, InputRows
from butfor._files.inputs.locations import DataChangedError
from butfor._processes.harness import Call, Harness, NotLoaded
from butfor._processes.messages import Note
from butfor._processes.worker import WorkerLost
from butfor.batch.folder import Folder
from butfor.batch.outputs import Outcome
from butfor.batch.parts import Origin, write_part
from butfor.batch.shipping import unpacked
from butfor.batch.statistics import Statistics
from butfor.errors import error_text


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
    """Read the rows of a chunk, explain them and write the part."""
    try:
        with _stage("read"):
            rows = job.input.read(chunk)
            note(0)
        with _stage("explain"):
            outcomes = explain_rows(unpacked(job.explainer), rows, job.only_positive, note)
        return write_outcomes(job, chunk, rows, outcomes)
    except _ChunkError as error:
        return error.of(chunk)


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
            note(len(outcomes))
        return write_outcomes(job, chunk, whole.rows, outcomes)
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

    def one_by_one(self) -> "Iterator[_ChunkRow]":
        self._note(0)
        for position in range(len(self.rows.ids)):
            yield _ChunkRow(self._job, _row_at(self.rows, position))


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
        return error_text(error)


def write_outcomes(job: Job, chunk: Chunk, rows: InputRows, outcomes: list[Outcome]) -> Done:
    """Write the part of a chunk."""
    with _stage("write"):
        origin = Origin(job.run, chunk.number)
        return Done(chunk, write_part(job.out, origin, rows.ids, outcomes, job.input.id_type))


def explain_row(explainer: str, row: InputRows, only_positive: bool, note: Note) -> Outcome:
    """Explain one row; whatever is raised is its error."""
    return _alone(unpacked(explainer), row, 0, only_positive)


def load(explainer: str, note: Note) -> None:
    """Load the explainer in a process that explains rows and does nothing else."""
    # Explanations are many and have no cycles: searching for cycles all the time costs a fifth of the speed.
    gc.set_threshold(100_000, 50, 100)
    try:
        unpacked(explainer)
    except Exception as error:
        raise InputError(
            "MODEL must be one that other processes can load, got one that cannot be loaded: "
            f"{error_text(error)}"
        ) from error


def explain_rows(
    explainer: Explainer, rows: InputRows, only_positive: bool, note: Note = lambda n_rows: None
) -> list[Outcome]:
    """Explain the rows of a chunk; what the model raises for a row is the error of that row."""
    n_done = 0

    def add(n_more: int) -> None:
        nonlocal n_done
        n_done += n_more
        note(n_done)

    try:
        found = explainer.explain_block(rows.content, only_positive=only_positive, progress=add)
        outcomes: list[Outcome] = list(found)
    except (Exception, SystemExit):  # because of some row: the others are explained without it
        outcomes = []
        for position in range(len(rows.ids)):
            outcomes.append(_alone(explainer, rows, position, only_positive))
            note(len(outcomes))
    for position, error in rows.errors.items():
        outcomes[position] = error
    return outcomes


def _row_at(rows: InputRows, position: int) -> InputRows:
    error = {0: rows.errors[position]} if position in rows.errors else {}
    return InputRows([rows.ids[position]], rows.content[position : position + 1], error)


def _alone(explainer: Explainer, rows: InputRows, position: int, only_positive: bool) -> Outcome:
    """Explain one row; whatever is raised is its error."""
    if position in rows.errors:
        return rows.errors[position]
    try:
        (outcome,) = explainer.explain_block(
            rows.content[position : position + 1], only_positive=only_positive
        )
    except (Exception, SystemExit) as error:
        return error_text(error)
    return outcome if outcome is None or isinstance(outcome, Explanation) else str(outcome)


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
