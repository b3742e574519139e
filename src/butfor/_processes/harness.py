"""The one rule for rows that a worker explains: a row that kills its process, hangs or raises costs itself.

A block of rows is one call. Where the process dies, the call is made once more, since anybody may have killed
the process. A process that runs out of memory is replaced, and its call made once more, too. Where a process
dies or runs out of memory again, hangs or raises, the rows of the block are explained one by one by the same
rule, and the rows with which it still goes wrong are lost; no others are.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from butfor._processes.messages import Note
from butfor._processes.worker import START_SECONDS, Stopped, Worker, WorkerLost
from butfor.errors import ButforError, ModelError, row_error

TRIES = 2
"""How often a call is made whose process dies or runs out of memory."""
TRIES_TO_LOAD = 3
"""How often a process may die before it has loaded the model, which is no fault of a row."""

Call = tuple[Callable[..., Any], *tuple[Any, ...]]
"""A function, which also takes a `note`, and its arguments: what a worker calls."""


class SingleRow(Protocol):
    """A row that is explained alone."""

    def call(self) -> Call:
        """Return the call that explains the row."""
        ...

    def lost(self, error: Exception) -> Any:
        """Return what stands for the result of that call, given why there is none."""
        ...


class Block(Protocol):
    """Rows that are explained together."""

    def call(self) -> Call:
        """Return the call that explains all rows."""
        ...

    def one_by_one(self) -> Iterable[SingleRow]:
        """Return the rows."""
        ...


class NotLoaded(WorkerLost):
    """The process was lost before it had loaded what its calls need."""


class Harness:
    """A worker with what it loads before its first call, and again whenever its process was lost.

    One thread makes the calls. Any other thread may `stop` the call in progress, or `close` the harness.

    Parameters
    ----------
    load
        The call that loads what all other calls need.
    patience
        Seconds without any report or result after which a process hangs, for `results`.
    """

    def __init__(self, *load: Any, patience: float = math.inf) -> None:
        self._load = load
        self._patience = patience
        self._worker = Worker()
        self._loaded: int | None = None
        """The process that has loaded."""

    @property
    def pid(self) -> int | None:
        """The number of the process, if it runs."""
        return self._worker.pid

    def load(self) -> None:
        """Start a process and let it load, unless one has. Raise `NotLoaded` where it is lost over that."""
        for n_more in reversed(range(TRIES_TO_LOAD)):
            if self.pid is not None and self.pid == self._loaded:
                return
            try:
                self._worker.call(*self._load, patience=START_SECONDS)
                self._loaded = self.pid
            except WorkerLost as lost:
                if lost.silent or not n_more:
                    reason = f"{lost} before it came to any row"
                    raise NotLoaded(reason, silent=lost.silent) from lost

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        patience: float,
        unless: Callable[[], bool] | None = None,
    ) -> Any:
        """Make one call, as `Worker.call` does, in a process that has loaded."""
        self.load()
        return self._worker.call(function, *arguments, patience=patience, unless=unless)

    def results(self, block: Block, note: Note | None = None) -> Iterator[tuple[Any, Any]]:
        """Explain a block: yield the block with what its call returned, or each row with what came of it.

        What a call for the whole block reports goes to `note`. What `load` raises is raised, and so is
        `Stopped`. Where a process cannot even load, all rows that are left are lost.
        """
        result, error = self._tried(block, note)
        if error is None:
            yield block, result
            return
        for row in block.one_by_one():
            if not isinstance(error, NotLoaded):
                result, error = self._tried(row)
            yield row, result if error is None else row.lost(error)

    def stop(self) -> None:
        """Stop the call in progress, from another thread: it raises `Stopped`. The process lives on."""
        self._worker.stop()

    def end(self) -> None:
        """End the process between two calls; a new one is started, and loads, when it is needed."""
        self._worker.end()

    def close(self) -> None:
        """End the process, from any thread and for good: calls raise `Stopped` from now on."""
        self._worker.close()

    def _tried(self, rows: Block | SingleRow, note: Note | None = None) -> tuple[Any, Exception | None]:
        """Make a call, again where its process dies or has no memory; return its result, or why not."""
        error: Exception | None = None
        for _ in range(TRIES):
            try:
                self.load()
            except NotLoaded as lost:
                return None, lost
            try:
                return self._worker.call(*rows.call(), patience=self._patience, note=note), None
            except Stopped:
                raise
            except WorkerLost as lost:
                error = lost
                if lost.silent:
                    break
            except MemoryError as raised:  # a fresh process has all of its memory
                error = raised
                self._worker.end()
            except Exception as raised:
                return None, raised
        return None, error


def failure(error: Exception) -> ButforError:
    """Return the error of a row, given why a worker could not explain it.

    >>> failure(WorkerLost("was killed by SIGKILL"))
    ModelError('the process that explained the row was killed by SIGKILL')
    """
    if isinstance(error, WorkerLost):
        return ModelError(f"the process that explained the row {error}")
    return row_error(error)
