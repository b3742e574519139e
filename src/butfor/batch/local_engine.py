"""A run on this machine: so many worker processes, each with a thread that asks it for chunk after chunk."""

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

from butfor.batch.chunks import Job, explain_chunk, explain_chunk_safely
from butfor.batch.inputs import Chunk
from butfor.batch.ledger import Ledger
from butfor.workers import Worker


def run_here(job: Job, chunks: Iterator[Chunk], ledger: Ledger) -> None:
    """Explain chunks in this very process, one after the other."""
    for chunk in chunks:
        if ledger.is_over:
            return
        ledger.ended(explain_chunk(job, chunk, partial(ledger.noted, chunk)))


def run_locally(job: Job, chunks: Iterator[Chunk], ledger: Ledger, *, jobs: int) -> None:
    """Explain chunks in worker processes on this machine; chunks are begun in their order."""
    upcoming = _Upcoming(chunks)
    crew = [_Thread(job, upcoming, ledger) for _ in range(jobs)]
    try:
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
    finally:
        # After an interruption nobody may go on behind the caller's back.
        ledger.stop()
        for thread in crew:
            thread.worker.close()
    for thread in crew:
        if thread.error is not None:
            raise thread.error


class _Upcoming:
    """Chunks, handed out to several threads one by one: only those under way are in memory."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._lock = threading.Lock()

    def next(self) -> Chunk | None:
        with self._lock:
            return next(self._chunks, None)


class _Thread(threading.Thread):
    """Asks one worker process for chunk after chunk."""

    def __init__(self, job: Job, upcoming: _Upcoming, ledger: Ledger) -> None:
        super().__init__(daemon=True)
        self.worker = Worker()
        self.error: BaseException | None = None
        self._job, self._upcoming, self._ledger = job, upcoming, ledger

    def run(self) -> None:
        try:
            while not self._ledger.is_over and (chunk := self._upcoming.next()) is not None:
                note = partial(self._note, chunk)
                self._ledger.ended(explain_chunk_safely(self.worker, self._job, chunk, note))
        except _Stopped:
            pass
        except BaseException as error:  # told by the thread that waits for this one
            self.error = error
            self._ledger.stop()
        finally:
            self.worker.close()

    def _note(self, chunk: Chunk, n_rows: Any) -> None:
        if self._ledger.is_stopped:
            raise _Stopped
        self._ledger.noted(chunk, n_rows)


class _Stopped(Exception):  # noqa: N818 - no error: it was asked for
    """Nobody waits for the chunk any more."""
