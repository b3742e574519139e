"""A run on this machine: several workers, each with a thread that passes it chunk after chunk."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from butfor._files.inputs import Chunk
from butfor._processes.worker import Stopped
from butfor.batch.chunks import Job, explain_chunk, explain_chunk_safely, worker_for
from butfor.batch.ledger import Ledger


def run_here(job: Job, chunks: Iterator[Chunk], ledger: Ledger) -> None:
    """Explain chunks in this process, one after the other."""
    job = replace(job, is_here=True)
    for chunk in chunks:
        if ledger.is_over:
            return
        ledger.ended(explain_chunk(job, chunk, partial(ledger.noted, chunk)))


def run_locally(job: Job, chunks: Iterator[Chunk], ledger: Ledger, *, jobs: int) -> None:
    """Explain chunks in workers on this machine; chunks are begun in their order."""

    def stop() -> None:
        ledger.stop()
        for thread in threads:
            thread.worker.close()

    upcoming = _Upcoming(chunks)
    threads = [_ChunkThread(job, upcoming, ledger, stop) for _ in range(jobs)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stop()  # after an interruption nothing may go on in the background
    for thread in threads:
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


class _ChunkThread(threading.Thread):
    """Has one worker explain chunk after chunk."""

    def __init__(self, job: Job, upcoming: _Upcoming, ledger: Ledger, stop: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.worker = worker_for(job)
        self.error: BaseException | None = None
        self._job, self._upcoming, self._ledger, self._stop_run = job, upcoming, ledger, stop

    def run(self) -> None:
        try:
            while not self._ledger.is_over and (chunk := self._upcoming.next()) is not None:
                note = partial(self._ledger.noted, chunk)
                self._ledger.ended(explain_chunk_safely(self.worker, self._job, chunk, note))
        except Stopped:
            pass
        except BaseException as error:  # raised by the thread that waits for this one
            self.error = error
            self._stop_run()
        finally:
            self.worker.close()
