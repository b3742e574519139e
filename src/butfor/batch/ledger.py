"""The state of a run, to which engines report from any thread."""

import threading
import time
from collections.abc import Callable

from butfor._files.inputs import Chunk
from butfor.batch.chunks import Done, Failed
from butfor.batch.events import BatchEvent, Kind, OnEvent
from butfor.batch.statistics import Statistics

MAX_UNWRITTEN = 3
"""How many chunks in a row may fail to be written before a run stops: the disk is full, or gone."""
Progress = Callable[[int, int], None]
"""Takes how many rows are done, and how many there are."""


class Ledger:
    """The account of a run: engines report rows and chunks to it, and stop when it `is_over`."""

    def __init__(
        self,
        total: int,
        earlier: Statistics,
        progress: Progress | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        self.total = total
        self.earlier = earlier
        """What earlier runs have done."""
        self.new = Statistics()
        """What this run has done so far."""
        self.written: set[int] = set()
        """The numbers of the chunks whose parts were written."""
        self.failed: list[Failed] = []
        self._progress = progress
        self._on_event = on_event
        self._began = time.monotonic()
        self._under_way: dict[int, int] = {}
        self._n_unwritten = 0
        self.data_changed: str | None = None
        """How DATA has changed since the run began, if it has."""
        self.is_stopped = False
        """Whether the results of the chunks under way are not wanted any more."""
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        """Whether no further chunk should be begun."""
        return self.is_stopped or self.cannot_write or self.data_changed is not None

    @property
    def cannot_write(self) -> bool:
        """Whether too many chunks in a row could not be written."""
        return self._n_unwritten >= MAX_UNWRITTEN

    def stop(self) -> None:
        """Begin no further chunk, and give up those under way."""
        self.is_stopped = True

    def noted(self, chunk: Chunk, n_rows: int) -> None:
        """Note how many rows of a chunk are explained."""
        with self._lock:
            self._under_way[chunk.number] = n_rows
            self._report()
            self._tell("rows")

    def ended(self, outcome: Done | Failed) -> None:
        """Note what became of a chunk."""
        with self._lock:
            self._under_way.pop(outcome.chunk.number, None)
            if isinstance(outcome, Done):
                self.new += outcome.statistics
                self.written.add(outcome.chunk.number)
                self._n_unwritten = 0
            else:
                self.failed.append(outcome)
                self._n_unwritten += outcome.stage == "write"
                if outcome.data_changed:
                    self.data_changed = outcome.reason
            self._report()
            if isinstance(outcome, Done):
                self._tell("written", chunk=outcome.chunk.number)
            else:
                self._tell("failed", chunk=outcome.chunk.number, reason=outcome.reason)

    def begun(self) -> None:
        """Note that the run begins."""
        self._tell("begun")

    def over(self) -> None:
        """Note that the run has ended."""
        self._tell("ended")

    @property
    def _n_done(self) -> int:
        return self.earlier.n_rows + self.new.n_rows + sum(self._under_way.values())

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._n_done, self.total)

    def _tell(self, kind: Kind, chunk: int | None = None, reason: str = "") -> None:
        if self._on_event is not None:
            n_errors = sum(some.statuses.get("error", 0) for some in (self.earlier, self.new))
            seconds = time.monotonic() - self._began
            self._on_event(BatchEvent(kind, self._n_done, self.total, n_errors, seconds, chunk, reason))
