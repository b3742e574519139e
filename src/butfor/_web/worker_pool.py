"""The workers behind the API, in lanes with a bounded queue. A call stops when its client disconnects."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from butfor._processes.harness import Harness
from butfor._processes.worker import Stopped, WorkerLost
from butfor._web import tasks
from butfor._web.problems import Problem

SECONDS_BETWEEN_STARTS = 1.0
"""Pause after a worker could not be started, before the next attempt."""
SECONDS_TO_ANSWER = 5.0
"""How long a free worker may take to answer when it is asked whether it is there."""
RETRY_SECONDS = 2
"""When a client that was refused may try again."""
log = logging.getLogger("butfor._web")

Gone = asyncio.Future[None]
"""Done as soon as the client has disconnected."""


class ClientGone(Exception):  # noqa: N818 - an outcome
    """The client has disconnected, so nobody needs the answer."""


class Lane:
    """Some workers that take calls in the order in which they arrive."""

    def __init__(self, n_workers: int, most_waiting: int) -> None:
        self._explainers: list[Path] = []
        self._workers = [Harness(tasks.load, self._explainers) for _ in range(n_workers)]
        self._free: list[Harness] = []
        self._starting = set(self._workers)
        """Workers that have not loaded yet; those that were lost are among them again."""
        self._waiting: deque[asyncio.Future[Harness]] = deque()
        self._most_waiting = most_waiting
        self._threads = ThreadPoolExecutor(n_workers)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def n_workers(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    @property
    def n_busy(self) -> int:
        """How many workers make a call, or are being started."""
        return len(self._workers) - len(self._free)

    @property
    def n_waiting(self) -> int:
        """How many calls wait."""
        return len(self._waiting)

    async def open(self, explainers: Sequence[Path]) -> None:
        """Start all workers at once; each loads all models before it takes calls."""
        self._explainers[:] = explainers
        await asyncio.gather(*(self._restart(worker) for worker in self._workers))

    def close(self) -> None:
        """End all workers, even in the middle of a call."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def why_not_ready(self) -> str | None:
        """Return why a request would not be answered now, or None; a worker that is free must answer."""
        if len(self._starting) == len(self._workers):
            return "no process has loaded the model yet."
        if len(self._waiting) >= self._most_waiting:
            return "all processes are busy and the queue is full."
        if not self._free:  # busy workers are known to run, and stopped where they hang
            return None
        nobody: Gone = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait_for(self.call(nobody, SECONDS_TO_ANSWER, tasks.ping), SECONDS_TO_ANSWER)
        except (Problem, TimeoutError):
            return "a process did not answer; another takes its place."
        return None

    async def call(self, gone: Gone, patience: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Make a call in a free worker; leave the queue, or stop the call, where the client disconnects."""
        worker = await self._worker(gone)
        while worker.pid is None and not self._is_closed:  # it died while it was free
            self._give_back(worker)
            worker = await self._worker(gone)
        if gone.done():
            self._give_back(worker)
            raise ClientGone
        call = partial(worker.call, function, *arguments, patience=patience, unless=gone.done)
        answer = asyncio.get_running_loop().run_in_executor(self._threads, call)
        # Even if this request is cancelled, the worker is free only when its call has ended.
        answer.add_done_callback(lambda _: self._give_back(worker))
        try:
            await _either(answer, gone)
        finally:
            if not answer.done():
                answer.add_done_callback(_consume)
                worker.stop()
        if not answer.done():
            raise ClientGone
        try:
            return answer.result()
        except Stopped:
            raise _closed() if self._is_closed else ClientGone from None
        except WorkerLost as lost:
            raise _lost(lost) from None

    async def _worker(self, gone: Gone) -> Harness:
        """Wait for a free worker."""
        if self._free:
            return self._free.pop()
        if len(self._waiting) >= self._most_waiting:
            raise _busy(len(self._waiting))
        ticket: asyncio.Future[Harness] = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        try:
            await _either(ticket, gone)
        except asyncio.CancelledError:
            self._withdraw(ticket)
            raise
        if not ticket.done():
            self._withdraw(ticket)
            raise ClientGone
        return ticket.result()

    def _withdraw(self, ticket: "asyncio.Future[Harness]") -> None:
        if ticket.done():
            self._give_back(ticket.result())
        else:
            self._waiting.remove(ticket)

    def _give_back(self, worker: Harness) -> None:
        """Pass a worker on to the next call in the queue; one that was lost is started again first."""
        if self._is_closed:
            return
        if worker.pid is None:
            self._starting.add(worker)
            task = asyncio.get_running_loop().create_task(self._restart(worker))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif self._waiting:
            self._waiting.popleft().set_result(worker)
        else:
            self._free.append(worker)

    async def _restart(self, worker: Harness) -> None:
        while worker.pid is None and not self._is_closed:
            try:
                await asyncio.get_running_loop().run_in_executor(self._threads, worker.load)
            except Exception as error:
                log.error("a worker process could not start: %s", type(error).__name__)
                await asyncio.sleep(SECONDS_BETWEEN_STARTS)
        self._starting.discard(worker)
        self._give_back(worker)


class WorkerPool:
    """Two lanes: one for searches, and one for scorings, which never wait for a search."""

    def __init__(self, *, jobs: int, most_waiting: int) -> None:
        self.searches = Lane(jobs, most_waiting)
        self.scorings = Lane(1, most_waiting)
        self._opening: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a model, and so workers."""
        return self._opening is not None

    @property
    def lanes(self) -> tuple[Lane, Lane]:
        """Both lanes."""
        return self.searches, self.scorings

    def open(self, explainers: Sequence[Path]) -> None:
        """Begin to start the workers, for which calls wait; without a model, start none."""
        if explainers:
            self._opening = asyncio.get_running_loop().create_task(self._open(explainers))

    async def _open(self, explainers: Sequence[Path]) -> None:
        """Start the worker that a page needs first, then the others: at the same time all would be slow."""
        for lane in (self.scorings, self.searches):
            await lane.open(explainers)

    def close(self) -> None:
        """End all workers."""
        if self._opening is not None:
            self._opening.cancel()
        for lane in self.lanes:
            lane.close()

    def health(self) -> dict[str, int]:
        """Return the numbers of workers, of busy workers and of waiting calls."""
        lanes = self.lanes if self.is_open else ()
        return {
            "workers": sum(lane.n_workers for lane in lanes),
            "busy": sum(lane.n_busy for lane in lanes),
            "waiting": sum(lane.n_waiting for lane in lanes),
        }


async def _either(*futures: "asyncio.Future[Any]") -> None:
    """Wait until one of them is done."""
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


def _consume(answer: "asyncio.Future[Any]") -> None:
    """Consume the exception of an abandoned future, so that asyncio does not log it."""
    if not answer.cancelled():
        answer.exception()


def _busy(n_waiting: int) -> Problem:
    return Problem(
        503,
        f"all processes are busy and {n_waiting} requests wait already: ask again in a moment.",
        {"Retry-After": str(RETRY_SECONDS)},
    )


def _closed() -> Problem:
    return Problem(502, "the process that asked the model was closed. Other requests are not affected.")


def _lost(lost: WorkerLost) -> Problem:
    status = 504 if lost.silent else 502
    return Problem(status, f"the process that asked the model {lost}. Other requests are not affected.")
