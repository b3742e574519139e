"""Scores and explanations of all rows, in the background: what somebody looks at comes first."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from butfor.errors import ButforError, ModelError, abridged
from butfor.explanation import Explanation
from butfor.sharing import shared
from butfor.web.given import Given
from butfor.web.table import IntArray, Table
from butfor.workers import START_SECONDS, Note, Worker, WorkerLost

PATIENCE = 10.0
"""Seconds beyond its time limit that a row may take before it is given up."""
NICENESS = 10
"""How much the process stands back behind those that answer somebody."""
SECONDS_A_BLOCK = 0.4
"""How long a block should take: what is wanted waits for no longer."""
MOST_SCORED, MOST_EXPLAINED = 20_000, 2_000
SECONDS_TO_CLOSE = 5.0


@dataclass
class _Pace:
    """How many rows make a block of good length."""

    n_rows: int
    most: int

    def learn(self, seconds: float) -> None:
        """Take more rows where a block was quick, and fewer where it was slow."""
        if seconds < SECONDS_A_BLOCK / 2:
            self.n_rows = min(2 * self.n_rows, self.most)
        elif seconds > SECONDS_A_BLOCK:
            self.n_rows = max(1, self.n_rows // 2)


class Filling:
    """A thread that has a process of its own score all rows, then explain them, and notes it in a table."""

    def __init__(self, explainer: Path, given: Given, table: Table, max_seconds: float) -> None:
        self._explainer = explainer
        self._given = given
        self._table = table
        self._patience = max_seconds + PATIENCE
        self._worker = Worker()
        self._wanted: Sequence[int] = ()
        self._is_closed = False
        self._scoring, self._explaining = _Pace(64, MOST_SCORED), _Pace(16, MOST_EXPLAINED)
        self._n_scored = self._n_explained = 0
        self._thread = threading.Thread(target=self._run, name="butfor-filling", daemon=True)

    def start(self) -> None:
        """Begin."""
        bad = self._given.errors()
        self._table.settle(list(bad), list(bad.values()))
        self._thread.start()

    def want(self, numbers: Sequence[int]) -> None:
        """Have these rows explained next; they take the place of those that were wanted before."""
        self._wanted = tuple(numbers)

    def close(self) -> None:
        """End at once, whatever is being done."""
        self._is_closed = True
        self._worker.close()
        if self._thread.is_alive():
            self._thread.join(SECONDS_TO_CLOSE)
            self._worker.close()  # it may just have been about to start another process

    def _run(self) -> None:
        with suppress(_Closed):
            while self._step():
                pass
            self._worker.close()

    def _step(self) -> bool:
        """Do one block; tell whether there may be more to do."""
        wanted = self._table.pending(np.array(self._wanted, dtype=np.int64))[: self._explaining.n_rows]
        if len(wanted):
            self._do(_explained, self._table.settle, wanted, self._explaining)
            return True
        if self._n_scored < len(self._table):
            numbers = self._next(self._n_scored, self._scoring)
            self._n_scored += self._scoring.n_rows
            self._do(_scored, self._note_scores, self._table.unscored(numbers), self._scoring)
            return True
        if self._n_explained < len(self._table):
            numbers = self._next(self._n_explained, self._explaining)
            self._n_explained += self._explaining.n_rows
            self._do(_explained, self._table.settle, self._table.pending(numbers), self._explaining)
            return True
        return False

    def _next(self, start: int, pace: _Pace) -> IntArray:
        return np.arange(start, min(start + pace.n_rows, len(self._table)))

    def _do(self, task: Callable[..., Any], note: Callable[..., None], rows: IntArray, pace: _Pace) -> None:
        """Have a block done, and note what comes of it; where it cannot be done, row by row."""
        if not len(rows):
            return
        numbers, began = rows.tolist(), time.monotonic()
        try:
            done = self._tried(task, numbers)
        except Exception:
            self._one_by_one(task, note, numbers)
        else:
            note(numbers, done)
        pace.learn(time.monotonic() - began)

    def _tried(self, task: Callable[..., Any], numbers: list[int]) -> Any:
        """Try a block, twice where the process dies of it: the first time anybody may have killed it."""
        try:
            return self._asked(task, numbers)
        except WorkerLost as lost:
            if lost.silent:
                raise
            return self._asked(task, numbers)

    def _one_by_one(self, task: Callable[..., Any], note: Callable[..., None], numbers: list[int]) -> None:
        for number in numbers:
            try:
                note([number], self._asked(task, [number]))
            except _Closed:
                raise
            except Exception as error:
                self._table.settle([number], [_failure(error)])

    def _asked(self, task: Callable[..., Any], numbers: list[int]) -> Any:
        self._require_open()
        try:
            if self._worker.pid is None:  # to load what it needs takes its time, which is no row's fault
                self._worker.call(_load, self._explainer, patience=START_SECONDS)
            rows = self._given.some(numbers)
            return self._worker.call(task, self._explainer, rows, patience=self._patience)
        finally:
            self._require_open()

    def _require_open(self) -> None:
        if self._is_closed:
            raise _Closed

    def _note_scores(self, numbers: list[int], scored: tuple[Any, Any]) -> None:
        self._table.score(numbers, *scored)


class _Closed(BaseException):
    """Nobody waits for it any more."""


def _load(explainer: Path, note: Note) -> None:
    """Load what all rows need, in the process of the worker, and let others go first from now on."""
    shared(explainer)
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def _scored(explainer: Path, rows: Any, note: Note) -> Any:
    """Score rows, in the process of the worker."""
    return shared(explainer).decide(rows)


def _explained(explainer: Path, rows: Any, note: Note) -> list[Explanation | ButforError]:
    """Explain rows, in the process of the worker; what a table does not hold is left out."""
    outcomes = shared(explainer).explain_block(rows, progress=note)
    slim: dict[str, Any] = {"items": (), "path": (), "spans": (), "weights": (), "places": (), "text": None}
    return [replace(each, **slim) if isinstance(each, Explanation) else each for each in outcomes]


def _failure(error: Exception) -> ButforError:
    if isinstance(error, WorkerLost):
        return ModelError(f"the process that explained the row {error}")
    return ModelError(f"explaining the row raised {type(error).__name__}: {abridged(str(error))}")
