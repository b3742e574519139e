"""Rows explained by several workers, which read the engine and the matrix from one place in memory."""

import queue
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from butfor._engine.engine import Engine
from butfor._engine.many_rows import explain_block, rows_at_once
from butfor._engine.slices import in_pieces
from butfor._processes.harness import Call, Harness, failure
from butfor._processes.messages import Note
from butfor._processes.one_thread import limit_threads
from butfor._processes.sharing import share, shared
from butfor._processes.template import begin_imports
from butfor.models.row_kind import is_frame
from butfor.results.outcomes import Outcome, Outcomes

PATIENCE = 30.0
"""Seconds beyond a row's own limit after which a worker that reports nothing hangs."""
AHEAD = 2
"""Blocks that are begun for each worker before the first outcomes are taken."""


def explained_by(engine: Engine, rows: Any, jobs: int) -> Iterator[list[Outcome]]:
    """Explain rows in `jobs` workers; yield the outcomes block by block, in the order of the rows.

    Only a few blocks are explained ahead, however slowly the outcomes are taken.
    """
    begin_imports()  # for the workers, while the model is read
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="butfor-", ignore_cleanup_errors=True)))
        settings = engine.settings
        blocks = _blocks(settings.reader.many(rows), rows_at_once(engine), folder)
        threads = stack.enter_context(ThreadPoolExecutor(jobs))
        shared_engine = share(engine, folder / "engine")
        workers = _Workers(shared_engine, settings.budget.max_seconds + PATIENCE, jobs)
        stack.callback(workers.close)
        waiting: deque[Future[list[Outcome]]] = deque()
        for rows_of_block in blocks:
            waiting.append(threads.submit(workers.explained, _EngineBlock(shared_engine, rows_of_block)))
            if len(waiting) >= AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(frozen=True)
class _SharedRows:
    """Some rows of a matrix in a file that all workers map into memory."""

    path: Path
    start: int
    end: int

    def read(self) -> Any:
        return shared(self.path)[self.start : self.end]

    def one_by_one(self) -> "Iterator[_SharedRows]":
        return (_SharedRows(self.path, number, number + 1) for number in range(self.start, self.end))


@dataclass(frozen=True)
class _SentRows:
    """Rows or texts that are sent to the worker."""

    rows: Any

    def read(self) -> Any:
        return self.rows

    def one_by_one(self) -> "Iterator[_SentRows]":
        return map(_SentRows, in_pieces(self.rows, 1))


def _blocks(rows: Any, n_rows: int, folder: Path) -> Iterator[_SharedRows | _SentRows]:
    """Cut rows into blocks; a matrix is written to a file that all workers read."""
    is_sent = is_frame(rows) or getattr(getattr(rows, "dtype", None), "kind", "") == "O"
    if is_sent or (hasattr(rows, "__len__") and not hasattr(rows, "shape")):
        yield from map(_SentRows, in_pieces(rows, n_rows))
    elif hasattr(rows, "shape"):
        path = share(rows.tocsr() if hasattr(rows, "tocsr") else rows, folder / "rows")
        for start in range(0, rows.shape[0], n_rows):
            yield _SharedRows(path, start, min(start + n_rows, rows.shape[0]))
    else:
        remaining = iter(rows)
        while some := list(islice(remaining, n_rows)):
            yield _SentRows(some)


@dataclass(frozen=True)
class _EngineBlock:
    """Rows for the engine in a file; a block, or a single row."""

    engine: Path
    rows: _SharedRows | _SentRows

    def call(self) -> Call:
        return _explain, self.engine, self.rows

    def one_by_one(self) -> "Iterator[_EngineBlock]":
        return (_EngineBlock(self.engine, row) for row in self.rows.one_by_one())

    def lost(self, error: Exception) -> list[Outcome]:
        return [failure(error)]


class _Workers:
    """Several workers, each of which explains one block at a time."""

    def __init__(self, engine: Path, patience: float, jobs: int) -> None:
        self._all = [Harness(_load, engine, patience=patience) for _ in range(jobs)]
        self._free: queue.SimpleQueue[Harness] = queue.SimpleQueue()
        for worker in self._all:
            self._free.put(worker)

    def explained(self, block: _EngineBlock) -> list[Outcome]:
        """Have a free worker explain a block."""
        worker = self._free.get()
        try:
            return [outcome for _, outcomes in worker.results(block) for outcome in outcomes]
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End all workers, even in the middle of a call."""
        for worker in self._all:
            worker.close()


def _load(engine: Path, note: Note) -> None:
    """Load in the worker what all blocks need."""
    limit_threads(shared(engine))
    rows_at_once(shared(engine))  # looks into the model, which takes a while the first time


def _explain(engine: Path, rows: _SharedRows | _SentRows, note: Note) -> Outcomes:
    """Explain rows in the worker."""
    return explain_block(shared(engine), rows.read(), only_positive=False, progress=note)
