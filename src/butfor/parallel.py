"""Rows explained by several processes, which read the model and the matrix from one place in memory."""

import queue
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from butfor.blocks import Outcome, explain_block, in_pieces, rows_at_once
from butfor.errors import ModelError
from butfor.inquiry import Inquiry
from butfor.models.row_kind import is_frame
from butfor.sharing import share, shared
from butfor.workers import START_SECONDS, Note, Worker, WorkerLost

PATIENCE = 30.0
"""Seconds beyond a row's own limit after which a process that says nothing is taken to hang."""
AHEAD = 2
"""Pieces that are given out for each process before the first of them is taken away."""


def explained_by(inquiry: Inquiry, rows: Any, jobs: int) -> Iterator[list[Outcome]]:
    """Explain rows in so many processes; give the outcomes piece by piece, in the order of the rows.

    No more is worked ahead than a few pieces, however slowly they are taken away.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="butfor-", ignore_cleanup_errors=True)))
        pieces = _pieces(inquiry.reader.many(rows), rows_at_once(inquiry), folder)
        threads = stack.enter_context(ThreadPoolExecutor(jobs))
        crew = _Crew(share(inquiry, folder / "inquiry"), inquiry.budget.max_seconds + PATIENCE, jobs)
        stack.callback(crew.close)
        waiting: deque[Future[list[Outcome]]] = deque()
        for piece in pieces:
            waiting.append(threads.submit(crew.explained, piece))
            if len(waiting) >= AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(frozen=True)
class _Slice:
    """Some rows of a matrix that all processes see."""

    path: Path
    start: int
    end: int

    def rows(self) -> Any:
        return shared(self.path)[self.start : self.end]

    def one_by_one(self) -> "Iterator[_Slice]":
        return (_Slice(self.path, number, number + 1) for number in range(self.start, self.end))


@dataclass(frozen=True)
class _Given:
    """Rows or texts that are sent along."""

    given: Any

    def rows(self) -> Any:
        return self.given

    def one_by_one(self) -> "Iterator[_Given]":
        return map(_Given, in_pieces(self.given, 1))


def _pieces(rows: Any, n_rows: int, folder: Path) -> Iterator[_Slice | _Given]:
    """Cut rows into pieces; a matrix is written where all processes see it."""
    if is_frame(rows) or (hasattr(rows, "__len__") and not hasattr(rows, "shape")):
        yield from map(_Given, in_pieces(rows, n_rows))
    elif hasattr(rows, "shape"):
        path = share(rows.tocsr() if hasattr(rows, "tocsr") else rows, folder / "rows")
        for start in range(0, rows.shape[0], n_rows):
            yield _Slice(path, start, min(start + n_rows, rows.shape[0]))
    else:
        given = iter(rows)
        while some := list(islice(given, n_rows)):
            yield _Given(some)


class _Crew:
    """Worker processes, each of which explains one piece at a time."""

    def __init__(self, inquiry: Path, patience: float, jobs: int) -> None:
        self._inquiry = inquiry
        self._patience = patience
        self._workers = [Worker() for _ in range(jobs)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._is_closed = False
        for worker in self._workers:
            self._free.put(worker)

    def explained(self, piece: _Slice | _Given) -> list[Outcome]:
        """Have a free worker explain a piece; where it dies over it twice, or falls silent, row by row."""
        worker = self._free.get()
        try:
            for _ in range(2):  # the first time it may have been killed by anybody
                try:
                    return self._asked(worker, piece)
                except WorkerLost as lost:
                    if lost.silent:
                        break
            return list(chain.from_iterable(self._alone(worker, row) for row in piece.one_by_one()))
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End all workers, whatever they are at."""
        self._is_closed = True
        for worker in self._workers:
            worker.close()

    def _alone(self, worker: Worker, row: _Slice | _Given) -> list[Outcome]:
        try:
            return self._asked(worker, row)
        except WorkerLost as lost:
            return [ModelError(f"the process that explained the row {lost}")]

    def _asked(self, worker: Worker, piece: _Slice | _Given) -> list[Outcome]:
        if self._is_closed:
            return []
        if worker.pid is None:  # to load what it needs takes its time, which is no row's fault
            worker.call(_load, self._inquiry, patience=START_SECONDS)
        outcomes: list[Outcome] = worker.call(_explain, self._inquiry, piece, patience=self._patience)
        return outcomes


def _load(inquiry: Path, note: Note) -> None:
    """Load what all pieces need, in the process of a worker."""
    rows_at_once(shared(inquiry))  # for which it looks into the model


def _explain(inquiry: Path, piece: _Slice | _Given, note: Note) -> list[Outcome]:
    """Explain a piece, in the process of a worker."""
    return explain_block(shared(inquiry), piece.rows(), only_positive=False, progress=note)
