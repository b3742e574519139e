"""The work on one chunk, wherever it is done: read its rows, explain them, write its part."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from butfor import Explainer, Explanation, InputError
from butfor.batch.folder import Folder
from butfor.batch.inputs import Chunk, Input, Rows
from butfor.batch.inputs.locations import DataChangedError
from butfor.batch.outputs import Outcome
from butfor.batch.parts import Origin, write_part
from butfor.batch.shipping import unpacked
from butfor.batch.statistics import Statistics
from butfor.errors import abridged
from butfor.workers import START_SECONDS, Note, Worker, WorkerLost

TRIES_TO_LOAD = 3
"""How often a worker may be lost before it has loaded the model: whoever killed it did not mean a row."""


@dataclass(frozen=True)
class Job:
    """All that a process must know to work on any chunk; small, and can be pickled."""

    explainer: str
    """The folder on this machine that holds the explainer, as `butfor.batch.shipping.pack` makes it."""
    input: Input
    out: Folder
    run: str
    """The id of the run, which every part bears."""
    only_positive: bool = False
    patience: float = float("inf")
    """Seconds without any progress after which a worker is given up; more than a row's own limit."""


@dataclass(frozen=True)
class Done:
    """A chunk whose part is written."""

    chunk: Chunk
    statistics: Statistics


@dataclass(frozen=True)
class Failed:
    """A chunk that has no part: the next run tries it again."""

    chunk: Chunk
    stage: Literal["read", "explain", "write"]
    reason: str
    data_changed: bool = False
    """Whether DATA is not what it was when the run began: then no other chunk can be done either."""


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


def explain_chunk_safely(
    worker: Worker, job: Job, chunk: Chunk, note: Note = lambda n_rows: None
) -> Done | Failed:
    """Have a worker process explain a chunk; whatever becomes of the process, at most a row is lost.

    A chunk that loses its worker is tried once more: whoever killed the process may not have meant the chunk.
    When it is lost again, or hangs, its rows are asked for one by one, and those with which a worker is lost
    in the same way have that as their error.
    """
    for _ in range(2):
        try:
            done: Done | Failed = _asked(worker, note, explain_chunk, job, chunk)
            return done
        except WorkerLost as lost:
            note(0)
            if lost.silent:
                break
    return _row_by_row(worker, job, chunk, note)


def write_outcomes(job: Job, chunk: Chunk, rows: Rows, outcomes: list[Outcome]) -> Done:
    """Write the part of a chunk."""
    with _stage("write"):
        origin = Origin(job.run, chunk.number)
        return Done(chunk, write_part(job.out, origin, rows.ids, outcomes, job.input.id_type))


def explain_alone(job: Job, chunk: Chunk, first: int, note: Note) -> None:
    """Explain the rows of a chunk one by one, from the first that is asked for, and note every outcome."""
    rows = job.input.read(chunk)
    explainer = unpacked(job.explainer)
    note("ready")
    for position in range(first, len(rows.ids)):
        note(_alone(explainer, rows, position, job.only_positive))


def _row_by_row(worker: Worker, job: Job, chunk: Chunk, note: Note) -> Done | Failed:
    outcomes: list[Outcome] = []
    try:
        with _stage("read"):
            rows = job.input.read(chunk)
        killed_at = -1
        while len(outcomes) < len(rows.ids):
            killed_at = _next_rows(worker, job, chunk, outcomes, note, killed_at)
        return write_outcomes(job, chunk, rows, outcomes)
    except _ChunkError as error:
        return error.of(chunk)


def _next_rows(
    worker: Worker, job: Job, chunk: Chunk, outcomes: list[Outcome], note: Note, killed_at: int
) -> int:
    """Add the outcomes of further rows, up to the next with which the worker is lost.

    A row with which it is killed is asked for once more; gives the position of such a row.
    """
    ready = False

    def hear(said: Any) -> None:
        nonlocal ready
        if not ready:
            ready = True  # the rows are read and the model is loaded
            return
        outcomes.append(said)
        note(len(outcomes))

    try:
        _asked(worker, hear, explain_alone, job, chunk, len(outcomes))
    except WorkerLost as lost:
        if not ready:
            raise _ChunkError("explain", f"the worker process {lost} before it came to any row") from lost
        if not lost.silent and killed_at < len(outcomes):
            return len(outcomes)
        outcomes.append(f"the worker process {lost} while the model was asked about this row.")
        note(len(outcomes))
    except Exception as error:
        raise _ChunkError("explain", _said(error), isinstance(error, DataChangedError)) from error
    return killed_at


def _asked(worker: Worker, note: Note, function: Callable[..., Any], job: Job, *arguments: Any) -> Any:
    """Have a worker do something; that it must load libraries and the model first is no row's fault."""
    for n_more in reversed(range(TRIES_TO_LOAD)):
        try:
            if worker.pid is None:
                worker.call(load, job.explainer, patience=START_SECONDS)
            break
        except WorkerLost:
            if not n_more:
                raise
    return worker.call(function, job, *arguments, patience=job.patience, note=note)


def load(explainer: str, note: Note) -> None:
    """Load the explainer in a process that is there for nothing else."""
    # Explanations are many and have no cycles: to look for some all the time costs a fifth of the speed.
    gc.set_threshold(100_000, 50, 100)
    try:
        unpacked(explainer)
    except Exception as error:
        raise InputError(
            f"MODEL must be one that other processes can load, got one that cannot be loaded: {_said(error)}"
        ) from error


def explain_rows(
    explainer: Explainer, rows: Rows, only_positive: bool, note: Note = lambda n_rows: None
) -> list[Outcome]:
    """Explain the rows of a chunk; what is raised for a row is that row's."""
    n_done = 0

    def add(n_more: int) -> None:
        nonlocal n_done
        n_done += n_more
        note(n_done)

    try:
        found = explainer.explain_block(rows.given, only_positive=only_positive, progress=add)
        outcomes: list[Outcome] = list(found)
    except (Exception, SystemExit):  # some row's: the others are not lost
        outcomes = []
        for position in range(len(rows.ids)):
            outcomes.append(_alone(explainer, rows, position, only_positive))
            note(len(outcomes))
    for position, error in rows.errors.items():
        outcomes[position] = error
    return outcomes


def _alone(explainer: Explainer, rows: Rows, position: int, only_positive: bool) -> Outcome:
    """Explain one row; whatever is raised is its error."""
    if position in rows.errors:
        return rows.errors[position]
    try:
        (outcome,) = explainer.explain_block(rows.given[position : position + 1], only_positive=only_positive)
    except (Exception, SystemExit) as error:
        return _said(error)
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
    """Say of whatever is raised where it was."""
    try:
        yield
    except Exception as error:
        raise _ChunkError(stage, _said(error), isinstance(error, DataChangedError)) from error


def _said(error: BaseException) -> str:
    if isinstance(error, DataChangedError):
        return str(error)
    return f"{type(error).__name__}: {abridged(str(error))}"
