"""How far a run is: what engines tell it, from whatever thread."""

import threading
from collections.abc import Callable

from butfor.batch.chunks import Done, Failed
from butfor.batch.inputs import Chunk
from butfor.batch.statistics import Statistics

MAX_UNWRITTEN = 3
"""So many chunks in a row that cannot be written, and a run stops: the disk is full, or gone."""
Progress = Callable[[int, int], None]
"""Is told how many rows are done, and how many there are."""


class Ledger:
    """Keeps account of a run. Engines tell it of rows and chunks, and stop when it says `is_over`."""

    def __init__(self, total: int, earlier: Statistics, progress: Progress | None = None) -> None:
        self.total = total
        self.earlier = earlier
        """What earlier runs have done."""
        self.new = Statistics()
        """What this run has done so far."""
        self.written: set[int] = set()
        """The numbers of the chunks whose parts were written."""
        self.failed: list[Failed] = []
        self._progress = progress
        self._under_way: dict[int, int] = {}
        self._n_unwritten = 0
        self.data_changed: str | None = None
        """What is said of DATA where it is not what it was any more."""
        self.is_stopped = False
        """Whether nobody waits for the chunks that are under way."""
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        """Whether no further chunk should be begun."""
        return self.is_stopped or self.cannot_write or self.data_changed is not None

    @property
    def cannot_write(self) -> bool:
        """Whether one chunk after the other could not be written."""
        return self._n_unwritten >= MAX_UNWRITTEN

    def stop(self) -> None:
        """Have no further chunk begun, and those under way given up."""
        self.is_stopped = True

    def noted(self, chunk: Chunk, n_rows: int) -> None:
        """Note that so many rows of a chunk are explained."""
        with self._lock:
            self._under_way[chunk.number] = n_rows
            self._tell()

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
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            n_done = self.earlier.n_rows + self.new.n_rows + sum(self._under_way.values())
            self._progress(n_done, self.total)
