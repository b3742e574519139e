"""Workers that share a queue. A call stops when its client disconnects; a worker that is lost is replaced."""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from butfor._processes.harness import Harness, NotLoaded
from butfor._processes.worker import Stopped, WorkerLost
from butfor._web import tasks
from butfor._web.access import RequestRecord
from butfor._web.bad_rows import BadRows, cause_of, lost_problem
from butfor._web.fair_queue import FairQueue, Ticket
from butfor._web.limits import Limits
from butfor._web.logs import log_event
from butfor._web.metrics import Metrics
from butfor._web.problems import RETRY_SECONDS, Problem
from butfor._web.upkeep import TooLittleMemoryError

SECONDS_BETWEEN_STARTS = 1.0
"""Pause after a worker could not be started, before the next attempt."""
SECONDS_TO_ANSWER = 5.0
"""How long a free worker may take to answer when it is asked whether it is there."""
SHARE_OF_QUEUE = 0.75
"""How much of the queue one client may fill, where workers are reserved for others."""

Gone = asyncio.Future[None]
"""Done as soon as the client has disconnected."""


class ClientGone(Exception):  # noqa: N818 - an outcome
    """The client has disconnected, so nobody needs the answer."""


class Lane:
    """Some workers that take calls from one queue.

    Parameters
    ----------
    n_workers
        How many workers there are.
    limits
        How many calls may wait, and how long; when workers are replaced.
    name
        What logs and metrics call this lane.
    reserve
        How many of the workers no single client may take, once it has all others.
    metrics, bad_rows
        What is counted, and rows that are refused.
    """

    def __init__(
        self,
        n_workers: int,
        limits: Limits,
        *,
        name: str = "searches",
        reserve: int = 0,
        metrics: Metrics | None = None,
        bad_rows: BadRows | None = None,
    ) -> None:
        self.name = name
        self._limits = limits
        self._metrics = metrics or Metrics()
        self._bad_rows = BadRows(limits.refused_seconds) if bad_rows is None else bad_rows
        self._explainers: list[Path] = []
        load = (tasks.load, self._explainers, limits.upkeep)
        self._workers = [Harness(*load) for _ in range(n_workers)]
        self._n_calls = dict.fromkeys(self._workers, 0)
        self._pids: dict[Harness, int | None] = {}
        """The process that each worker had last."""
        self._free: list[Harness] = []
        self._starting = set(self._workers)
        """Workers that have not loaded yet; those that were lost are among them again."""
        share = SHARE_OF_QUEUE if reserve else 1
        self._queue = FairQueue(
            at_work=n_workers - reserve,
            waiting=limits.waiting,
            waiting_per_client=math.ceil(share * limits.waiting),
        )
        self._threads = ThreadPoolExecutor(n_workers)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self.start_error: str | None = None
        """Why the last attempt to start a worker failed; None if it did not."""

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
        return len(self._queue)

    @property
    def _is_loading(self) -> bool:
        return len(self._starting) == len(self._workers)

    @property
    def n_calls(self) -> int:
        """How many calls are at work, or wait."""
        return len(self._queue) + self._queue.n_at_work()

    def publish(self, metrics: Metrics) -> None:
        """Have metrics show the numbers of this lane."""
        metrics.watch(
            self.name,
            workers=lambda: self.n_workers,
            workers_busy=lambda: self.n_busy,
            queue_length=lambda: self.n_waiting,
        )

    def is_kept_from(self, client: str) -> bool:
        """Return whether a client must wait although it has no worker: others have all."""
        return not self._free and not self._queue.n_at_work(client)

    def is_open_to(self, client: str) -> bool:
        """Return whether a client would get a worker at once."""
        return bool(self._free) and self._queue.may_begin(client)

    async def open(self, explainers: Sequence[Path]) -> None:
        """Start all workers at once; each loads all models before it takes calls."""
        self._explainers[:] = explainers
        await asyncio.gather(*(self._start(worker) for worker in self._workers))

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
        self._replace_dead()
        if self._is_loading:
            why = "" if self.start_error is None else f" At the last attempt: {self.start_error}"
            return f"no process has loaded the model yet.{why}"
        if self._queue.is_full:
            return "all processes are busy and the queue is full."
        if not self._free:  # busy workers are known to run, and stopped where they hang
            return None
        nobody: Gone = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait_for(self.call(nobody, SECONDS_TO_ANSWER, tasks.ping), SECONDS_TO_ANSWER)
        except (Problem, TimeoutError):
            return "a process did not answer; another takes its place."
        return None

    async def call(
        self,
        gone: Gone,
        patience: float,
        function: Callable[..., Any],
        *arguments: Any,
        request: RequestRecord | None = None,
        row: str | None = None,
    ) -> Any:
        """Make a call in a free worker; leave the queue, or stop the call, where the client disconnects.

        `row` is a digest of the row in question: it is refused if it has killed or hung a worker lately.
        """
        request = request or RequestRecord()
        self._require_good(row)
        worker = await self._living_worker(gone, request.client)
        try:
            self._require_good(row)  # it may have ended a worker while this call waited
            if gone.done():
                raise ClientGone
        except (Problem, ClientGone):
            self._give_back(worker)
            raise
        request.worker = worker.pid
        call = partial(worker.call, function, *arguments, patience=patience, unless=gone.done)
        answer = asyncio.get_running_loop().run_in_executor(self._threads, call)
        # Even if this request is cancelled, the worker is free only when its call has ended.
        answer.add_done_callback(partial(self._end_call, worker, request, row))
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
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
            raise lost_problem(lost) from None
        except MemoryError:
            raise _out_of_memory() from None

    def _require_good(self, row: str | None) -> None:
        try:
            self._bad_rows.require_good(row)
        except Problem:
            self._metrics.refused.labels("bad_row").inc()
            raise

    async def _living_worker(self, gone: Gone, client: str) -> Harness:
        """Wait for a worker whose process runs."""
        began = asyncio.get_running_loop().time()
        worker = await self._worker(gone, client)
        while worker.pid is None and not self._is_closed:
            self._note_loss("idle", worker)
            self._give_back(worker)
            worker = await self._worker(gone, client)
        self._metrics.waited.labels(self.name).observe(asyncio.get_running_loop().time() - began)
        return worker

    async def _worker(self, gone: Gone, client: str) -> Harness:
        """Wait for a free worker, but not longer than calls may wait."""
        self._replace_dead()
        must_wait = not self.is_open_to(client)
        if must_wait and self._queue.has_no_place_for(client):
            self._metrics.refused.labels("queue_full").inc()
            raise _busy(self.n_waiting)
        ticket, seconds = Ticket(client), self._limits.waiting_seconds
        self._queue.add(ticket)
        self._hand_over()
        waiting, timeout = (ticket.worker, gone), None if math.isinf(seconds) else seconds
        try:
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._withdraw(ticket)
            raise
        if not ticket.worker.done():
            self._withdraw(ticket)
            if gone.done():
                raise ClientGone
            self._metrics.refused.labels("waited_too_long").inc()
            raise _waited(seconds, self._is_loading)
        return ticket.worker.result()

    def _withdraw(self, ticket: Ticket) -> None:
        if ticket.worker.done():
            self._give_back(ticket.worker.result())
        else:
            self._queue.remove(ticket)

    def _end_call(
        self, worker: Harness, request: RequestRecord, row: str | None, answer: "asyncio.Future[Any]"
    ) -> None:
        """Note what became of a worker, and pass it on."""
        self._n_calls[worker] += 1
        error = None if answer.cancelled() else answer.exception()
        if isinstance(error, WorkerLost):
            if not isinstance(error, NotLoaded):
                self._bad_rows.note(row, error)
            self._note_loss(cause_of(error), worker, request)
        elif worker.pid is None and not self._is_closed:
            self._note_loss("stopped", worker, request)
        self._give_back(worker)

    def _note_loss(self, cause: str, worker: Harness, request: RequestRecord | None = None) -> None:
        """Log and count a worker that is replaced."""
        self._metrics.restarts.labels(self.name, cause).inc()
        log_event(
            logging.WARNING,
            "worker lost",
            lane=self.name,
            cause=cause,
            worker=self._pids.get(worker),
            request_id=None if request is None else request.id or None,
        )

    def _replace_dead(self) -> None:
        """Replace workers that died while they were free."""
        for worker in [each for each in self._free if each.pid is None]:
            self._free.remove(worker)
            self._note_loss("idle", worker)
            self._give_back(worker)

    def _give_back(self, worker: Harness) -> None:
        """Pass a worker on to the next call in the queue; one that was lost or is worn is replaced first."""
        self._queue.end(worker)
        if self._is_closed:
            return
        if worker.pid is None or self._is_worn(worker):
            self._starting.add(worker)
            task = asyncio.get_running_loop().create_task(self._start(worker))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._free.append(worker)
        self._hand_over()

    def _hand_over(self) -> None:
        """Hand free workers to calls that wait."""
        while self._free and self._queue.hand_over(self._free[-1]):
            self._free.pop()

    def _is_worn(self, worker: Harness) -> bool:
        """Return whether a worker is due to be replaced; one at a time, so that the others work on."""
        if self._starting or worker.pid is None:
            return False
        cause = self._limits.upkeep.due(worker.pid, self._n_calls[worker])
        if cause is not None:
            self._metrics.restarts.labels(self.name, cause).inc()
            log_event(logging.INFO, "worker recycled", lane=self.name, cause=cause, worker=worker.pid)
        return cause is not None

    async def _start(self, worker: Harness) -> None:
        """End a worker's process, if it has one, and start another."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await loop.run_in_executor(self._threads, worker.end)
        while worker.pid is None and not self._is_closed:
            try:
                await loop.run_in_executor(self._threads, worker.load)
            except Stopped:
                return
            except Exception as error:
                reason = str(error) if isinstance(error, TooLittleMemoryError | WorkerLost) else None
                log_event(
                    logging.ERROR,
                    "worker could not start",
                    lane=self.name,
                    error=type(error).__name__,
                    reason=reason,
                )
                self.start_error = reason or type(error).__name__
                await asyncio.sleep(SECONDS_BETWEEN_STARTS)
        self.start_error = None
        seconds = round(loop.time() - began, 3)
        log_event(logging.INFO, "worker started", lane=self.name, worker=worker.pid, seconds=seconds)
        self._n_calls[worker], self._pids[worker] = 0, worker.pid
        self._starting.discard(worker)
        self._give_back(worker)


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


def _waited(seconds: float, is_loading: bool) -> Problem:
    told = "no process has loaded the model" if is_loading else "all processes have been busy"
    return Problem(
        503, f"{told} for {seconds:g} seconds: ask again in a moment.", {"Retry-After": str(RETRY_SECONDS)}
    )


def _closed() -> Problem:
    return Problem(502, "the process that asked the model was closed. Other requests are not affected.")


def _out_of_memory() -> Problem:
    return Problem(
        502, "the model needed more memory than a process may have. Other requests are not affected."
    )
