"""The worker processes behind the API: lanes with a bounded queue, where a call ends when its client goes."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from butfor.web import tasks
from butfor.web.problems import Problem
from butfor.workers import START_SECONDS, Stopped, Worker, WorkerLost

SECONDS_BETWEEN_STARTS = 1.0
"""After a process that could not start, until the next is tried."""
RETRY_SECONDS = 2
"""After which a client that was refused may ask again."""
log = logging.getLogger("butfor.web")

Gone = asyncio.Future[None]
"""Done as soon as the client is no longer there."""


class ClientGone(Exception):  # noqa: N818 - an outcome
    """Nobody is there to hear the answer."""


class Lane:
    """Some workers that take calls in the order in which they come."""

    def __init__(self, n_workers: int, most_waiting: int) -> None:
        self._workers = [Worker() for _ in range(n_workers)]
        self._free: list[Worker] = []
        self._waiting: deque[asyncio.Future[Worker]] = deque()
        self._most_waiting = most_waiting
        self._explainers: list[Path] = []
        self._threads = ThreadPoolExecutor(n_workers)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def n_workers(self) -> int:
        """How many processes there are."""
        return len(self._workers)

    @property
    def n_busy(self) -> int:
        """How many of them work, or are being started."""
        return len(self._workers) - len(self._free)

    @property
    def n_waiting(self) -> int:
        """How many calls wait."""
        return len(self._waiting)

    async def open(self, explainers: Sequence[Path]) -> None:
        """Start all processes at once; each reads all models, and takes calls as soon as it has."""
        self._explainers = list(explainers)
        await asyncio.gather(*(self._restart(worker) for worker in self._workers))

    def close(self) -> None:
        """End all processes, whatever they are at."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def call(self, gone: Gone, patience: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have a free worker do it; where the client goes first, leave the queue or stop the worker."""
        worker = await self._worker(gone)
        while worker.pid is None and not self._is_closed:  # it died while it waited: no fault of this call
            self._give_back(worker)
            worker = await self._worker(gone)
        if gone.done():
            self._give_back(worker)
            raise ClientGone
        call = partial(worker.call, function, *arguments, patience=patience, unless=gone.done)
        answer = asyncio.get_running_loop().run_in_executor(self._threads, call)
        # Whatever becomes of this request, the worker is free only when its call has ended.
        answer.add_done_callback(lambda _: self._give_back(worker))
        try:
            await _either(answer, gone)
        finally:
            if not answer.done():
                answer.add_done_callback(_heard)
                worker.stop()
        if not answer.done():
            raise ClientGone
        try:
            return answer.result()
        except Stopped:
            raise ClientGone from None
        except WorkerLost as lost:
            raise _lost(lost) from None

    async def _worker(self, gone: Gone) -> Worker:
        """Wait for a free worker."""
        if self._free:
            return self._free.pop()
        if len(self._waiting) >= self._most_waiting:
            raise _busy(len(self._waiting))
        ticket: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
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

    def _withdraw(self, ticket: "asyncio.Future[Worker]") -> None:
        if ticket.done():
            self._give_back(ticket.result())
        else:
            self._waiting.remove(ticket)

    def _give_back(self, worker: Worker) -> None:
        """Hand a worker on to the next in line; one that was lost is started again first."""
        if self._is_closed:
            return
        if worker.pid is None:
            task = asyncio.get_running_loop().create_task(self._restart(worker))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif self._waiting:
            self._waiting.popleft().set_result(worker)
        else:
            self._free.append(worker)

    async def _restart(self, worker: Worker) -> None:
        while worker.pid is None and not self._is_closed:
            try:
                await asyncio.get_running_loop().run_in_executor(self._threads, self._start, worker)
            except Exception as error:
                log.error("a worker process could not start: %s", type(error).__name__)
                await asyncio.sleep(SECONDS_BETWEEN_STARTS)
        self._give_back(worker)

    def _start(self, worker: Worker) -> None:
        """Start a process and have it read all models, so that no request waits for that."""
        if not self._is_closed:
            worker.call(tasks.load, self._explainers, patience=START_SECONDS)


class Crew:
    """Two lanes: one for searches, one for single scorings, which never wait for a search."""

    def __init__(self, *, jobs: int, most_waiting: int) -> None:
        self.searches = Lane(jobs, most_waiting)
        self.scorings = Lane(1, most_waiting)
        self._opening: asyncio.Task[None] | None = None

    @property
    def lanes(self) -> tuple[Lane, Lane]:
        """Both lanes."""
        return self.searches, self.scorings

    def open(self, explainers: Sequence[Path]) -> None:
        """Begin to start the processes; calls wait until they are there. Without a model there is no need."""
        if explainers:
            self._opening = asyncio.get_running_loop().create_task(self._open(explainers))

    async def _open(self, explainers: Sequence[Path]) -> None:
        """Start the one that a page asks first, then the others: all at once would all be late."""
        for lane in (self.scorings, self.searches):
            await lane.open(explainers)

    def close(self) -> None:
        """End all processes."""
        if self._opening is not None:
            self._opening.cancel()
        for lane in self.lanes:
            lane.close()

    def health(self) -> dict[str, int]:
        """Count processes, those that work, and calls that wait."""
        return {
            "workers": sum(lane.n_workers for lane in self.lanes),
            "busy": sum(lane.n_busy for lane in self.lanes),
            "waiting": sum(lane.n_waiting for lane in self.lanes),
        }


async def _either(*futures: "asyncio.Future[Any]") -> None:
    """Wait until one of them is done."""
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


def _heard(answer: "asyncio.Future[Any]") -> None:
    """Take note of an outcome that nobody waits for."""
    if not answer.cancelled():
        answer.exception()


def _busy(n_waiting: int) -> Problem:
    return Problem(
        503,
        f"all processes are busy and {n_waiting} requests wait already: ask again in a moment.",
        {"Retry-After": str(RETRY_SECONDS)},
    )


def _lost(lost: WorkerLost) -> Problem:
    if lost.silent:
        return Problem(504, f"the process that asked the model {lost}. Other requests are not affected.")
    return Problem(502, f"the process that asked the model {lost}. Other requests are not affected.")
