"""Scores and explanations of all rows, computed in the background: rows that a page shows come first."""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from butfor._processes.harness import Call, Harness, NotLoaded, failure
from butfor._processes.messages import Note
from butfor._processes.one_thread import limit_threads
from butfor._processes.sharing import shared
from butfor._processes.worker import Stopped, WorkerLost
from butfor._web.bad_rows import cause_of
from butfor._web.logs import log_event
from butfor._web.metrics import Metrics
from butfor._web.overview import IntArray, Overview
from butfor._web.served_rows import ServedRows
from butfor._web.upkeep import Upkeep
from butfor.errors import ButforError
from butfor.results.explanation import Explanation

PATIENCE = 10.0
"""Seconds beyond a row's own limit after which a worker that reports nothing hangs."""
NICENESS = 10
"""How much the worker gives way to those that answer requests."""
SECONDS_A_BLOCK = 0.4
"""How long a block should take, and rows that a page shows wait at most."""
MOST_SCORED, MOST_EXPLAINED = 20_000, 2_000
SECONDS_TO_CLOSE = 5.0


@dataclass
class _Pace:
    """How many rows make a block that takes about `SECONDS_A_BLOCK`."""

    n_rows: int
    most: int

    def learn(self, seconds: float) -> None:
        """Take more rows where a block was quick, and fewer where it was slow."""
        if seconds < SECONDS_A_BLOCK / 2:
            self.n_rows = min(2 * self.n_rows, self.most)
        elif seconds > SECONDS_A_BLOCK:
            self.n_rows = max(1, self.n_rows // 2)


@dataclass(frozen=True)
class _FillingBlock:
    """Rows that the worker scores or explains; a block, or a single row."""

    task: Callable[..., Any]
    explainer: Path
    data: ServedRows
    numbers: list[int]
    causes: list[str]
    """Why processes were lost over single rows."""

    def call(self) -> Call:
        return self.task, self.explainer, self.data.some(self.numbers)

    def one_by_one(self) -> "Iterator[_FillingBlock]":
        return (replace(self, numbers=[number]) for number in self.numbers)

    def lost(self, error: Exception) -> ButforError:
        if isinstance(error, WorkerLost) and not isinstance(error, NotLoaded):
            self.causes.append(cause_of(error))
        return failure(error)


class Filling:
    """A thread with a worker of its own that scores all rows, then explains them, and notes it in a table."""

    def __init__(
        self,
        explainer: Path,
        data: ServedRows,
        overview: Overview,
        max_seconds: float,
        upkeep: Upkeep | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._explainer = explainer
        self._data = data
        self._overview = overview
        self._upkeep, self._metrics = upkeep or Upkeep(), metrics or Metrics()
        self._worker = Harness(_load, explainer, self._upkeep, patience=max_seconds + PATIENCE)
        self._n_calls = 0
        self._wanted: Sequence[int] = ()
        self._scoring, self._explaining = _Pace(64, MOST_SCORED), _Pace(16, MOST_EXPLAINED)
        self._n_scored = self._n_explained = 0
        self._thread = threading.Thread(target=self._run, name="butfor-filling", daemon=True)

    def start(self) -> None:
        """Begin."""
        bad = self._data.errors()
        self._overview.note_outcomes(list(bad), list(bad.values()))
        self._thread.start()

    def want(self, numbers: Sequence[int]) -> None:
        """Explain these rows next, instead of those that were wanted before."""
        self._wanted = tuple(numbers)

    def close(self) -> None:
        """End the worker, even in the middle of a call, and the thread."""
        self._worker.close()
        if self._thread.is_alive():
            self._thread.join(SECONDS_TO_CLOSE)

    def _run(self) -> None:
        with suppress(Stopped):
            while self._step():
                pass
        self._worker.close()

    def _step(self) -> bool:
        """Do one block; return whether there may be more to do."""
        wanted = self._overview.pending(np.array(self._wanted, dtype=np.int64))[: self._explaining.n_rows]
        if len(wanted):
            self._do(_explained, self._overview.note_outcomes, wanted, self._explaining)
            return True
        if self._n_scored < len(self._overview):
            numbers = self._next(self._n_scored, self._scoring)
            self._n_scored += self._scoring.n_rows
            self._do(_scored, self._note_scores, self._overview.unscored(numbers), self._scoring)
            return True
        if self._n_explained < len(self._overview):
            numbers = self._next(self._n_explained, self._explaining)
            self._n_explained += self._explaining.n_rows
            self._do(
                _explained, self._overview.note_outcomes, self._overview.pending(numbers), self._explaining
            )
            return True
        return False

    def _next(self, start: int, pace: _Pace) -> IntArray:
        return np.arange(start, min(start + pace.n_rows, len(self._overview)))

    def _do(self, task: Callable[..., Any], note: Callable[..., None], rows: IntArray, pace: _Pace) -> None:
        """Have the worker do a block, and note the results; a row that is lost has its error in the table."""
        if not len(rows):
            return
        numbers, began, process = rows.tolist(), time.monotonic(), self._worker.pid
        block = _FillingBlock(task, self._explainer, self._data, numbers, causes=[])
        try:
            for done, result in self._worker.results(block):
                if isinstance(result, ButforError):
                    self._overview.note_outcomes(done.numbers, [result])
                else:
                    note(done.numbers, result)
        except Stopped:
            raise
        except Exception as error:  # the worker could not load the explainer
            self._overview.note_outcomes(numbers, [failure(error)] * len(numbers))
        pace.learn(time.monotonic() - began)
        if process not in (None, self._worker.pid):
            for cause in block.causes or ["again"]:
                self._note_loss(logging.WARNING, "worker lost", cause)
        self._n_calls += 1
        self._recycle()

    def _recycle(self) -> None:
        """End the process if it is due to be replaced; the next block starts another."""
        process = self._worker.pid
        cause = None if process is None else self._upkeep.due(process, self._n_calls)
        if cause is not None:
            self._note_loss(logging.INFO, "worker recycled", cause)
            self._worker.end()
            self._n_calls = 0

    def _note_loss(self, level: int, event: str, cause: str) -> None:
        self._metrics.restarts.labels("filling", cause).inc()
        log_event(level, event, lane="filling", cause=cause)

    def _note_scores(self, numbers: list[int], scored: tuple[Any, Any]) -> None:
        self._overview.note_scores(numbers, *scored)


def _load(explainer: Path, upkeep: Upkeep, note: Note) -> None:
    """Load in the worker what all rows need, and lower its priority."""
    limit_threads(shared(explainer))
    upkeep.limit_memory()
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def _scored(explainer: Path, rows: Any, note: Note) -> Any:
    """Score rows in the worker."""
    return shared(explainer).decide(rows)


def _explained(explainer: Path, rows: Any, note: Note) -> list[Explanation | ButforError]:
    """Explain rows in the worker; leave out what the table does not hold."""
    outcomes = shared(explainer).explain_block(rows, progress=note)
    slim: dict[str, Any] = {"items": (), "path": (), "spans": (), "weights": (), "places": (), "text": None}
    return [replace(each, **slim) if isinstance(each, Explanation) else each for each in outcomes]
