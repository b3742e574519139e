"""A worker, seen from the process that asks it: a second process that makes calls for this one."""

import math
import pickle
import queue
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from butfor._processes.messages import NUMBER_BYTES, Note, read_message, write_message
from butfor._processes.spawning import Process, end_now, how_it_ended, new_process

START_SECONDS = 300.0
"""How long a process may take to start: its libraries may come from a slow disk."""
SECONDS_TO_STOP = 2.0
"""How long a call may take to stop; one that is deep in C code does not notice that it should."""
SECONDS_TO_END = 10.0
"""How long a process may take to end after it has closed its pipe."""


class WorkerLost(Exception):  # noqa: N818 - an outcome that the caller handles
    """The process died, or reported nothing for too long; the message says which."""

    def __init__(self, reason: str, *, silent: bool = False) -> None:
        super().__init__(reason)
        self.silent = silent
        """Whether it reported nothing for too long; otherwise it died."""


class Stopped(Exception):  # noqa: N818 - an outcome that somebody asked for
    """The call was stopped, or its worker was closed."""


class Worker:
    """A process beside this one, with one thread for its arithmetic; it ends when this process ends.

    One thread makes the calls, one after the other. Any other thread may `stop` the call in progress, or
    `close` the worker.

    >>> worker = Worker()
    >>> worker.call(added, 2, 3)
    5
    >>> worker.close()
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._number = 0
        self._in_call = False
        self._sending = threading.Lock()
        self._is_closed = False
        self._starting = threading.Lock()
        """Held while a process is given or taken away, so that a closed worker never has one."""

    @property
    def pid(self) -> int | None:
        """The number of the process, if it runs."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        patience: float = math.inf,
        note: Note | None = None,
        unless: Callable[[], bool] | None = None,
    ) -> Any:
        """Call `function(*arguments, note=…)` in the worker; return what it returns, raise what it raises.

        Parameters
        ----------
        function, arguments
            What the worker calls. The function reports progress to the `note` that it gets.
        patience
            Seconds without any report or result after which the process is killed.
        note
            Takes here what the function reports there.
        unless
            If it returns True, the call does not begin. Another thread that makes it True and then calls
            `stop` can be sure that the call does not begin, or is stopped.

        Raises
        ------
        WorkerLost
            The process died, or its patience was exceeded. The next call starts a new process.
        Stopped
            The call was stopped, or the worker is closed.
        """
        request = pickle.dumps((function, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        if self._is_closed:
            raise Stopped("the worker is closed")
        if self.pid is None:
            self._end()  # close the pipes of a process that died between two calls
            self._start()
        with self._sending:
            if unless is not None and unless():
                raise Stopped("the call was stopped before it began")
            self._number += 1
            self._in_call = True
            self._send(request)
        try:
            return self._answer(patience, note)
        finally:
            with self._sending:
                self._in_call = False

    def stop(self) -> None:
        """Stop the call in progress, from another thread: it raises `Stopped`. Without a call, do nothing.

        A call that does not stop soon is ended with its process; the next call starts a new one.
        """
        with self._sending:
            if self._in_call:
                self._inbox.put(("stopping", self._number))
                self._send(b"")

    def close(self) -> None:
        """End the process, from any thread and for good: calls raise `Stopped` from now on."""
        with self._starting:
            self._is_closed = True
        self._end()

    def end(self) -> None:
        """End the process between two calls; the next call starts a new one."""
        self._end()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        process = new_process()  # takes its time; meanwhile the worker may be closed
        with self._starting:
            if not self._is_closed:
                self._process = process
                self._inbox = queue.SimpleQueue()
        if self._process is not process:
            end_now(process)
            raise Stopped("the worker is closed")
        threading.Thread(target=_read_answers, args=(process.stdout, self._inbox), daemon=True).start()
        self._next(START_SECONDS)

    def _end(self) -> None:
        """End the process, if there is one."""
        with self._starting:
            process, self._process = self._process, None
        if process is not None:
            end_now(process)

    def _send(self, request: bytes) -> None:
        """Send a request, or nothing, which stops the call; its number says which call is meant."""
        with suppress(OSError, AttributeError, ValueError):  # the process is gone: the inbox says so
            message = self._number.to_bytes(NUMBER_BYTES, "little") + request
            write_message(self._process.stdin, message)  # type: ignore[union-attr, arg-type]

    def _answer(self, patience: float, note: Note | None) -> Any:
        """Wait for the answer to the last request, and pass on the notes that come before it."""
        stopping = False
        while True:
            try:
                kind, content = self._next(min(patience, SECONDS_TO_STOP) if stopping else patience)
            except WorkerLost as lost:
                if stopping:
                    raise Stopped("the call was stopped, and its process with it") from lost
                raise
            if kind == "done":
                return content
            if kind == "raised":
                raise content
            if kind == "stopped":
                raise Stopped("the call was stopped")
            if kind == "stopping":
                stopping = stopping or content == self._number
            elif note is not None:
                note(content)

    def _next(self, patience: float) -> tuple[str, Any]:
        """Wait for a message; raise if none comes."""
        try:
            kind, content = self._inbox.get(timeout=None if patience == math.inf else patience)
        except queue.Empty:
            kind, content = "silent", None
        process = self._process
        if self._is_closed or process is None:
            raise Stopped("the worker was closed")
        if kind == "silent":
            self._end()
            raise WorkerLost(f"said nothing for {patience:g} seconds and was stopped", silent=True)
        if kind == "gone":
            with suppress(subprocess.TimeoutExpired):  # it may run on, after a message that cannot be read
                process.wait(SECONDS_TO_END)
            self._end()
            raise WorkerLost(how_it_ended(process.wait()))
        return kind, content


def added(a: int, b: int, note: Note) -> int:
    """Return the sum of two numbers: the simplest call, for examples and tests."""
    note("adding")
    return a + b


def _read_answers(pipe: BinaryIO, inbox: "queue.SimpleQueue[tuple[str, Any]]") -> None:
    """Put all messages of a process into an inbox, until it is gone."""
    try:
        while True:
            inbox.put(pickle.loads(read_message(pipe)))
    except Exception:  # also a message that cannot be read: no later one can
        inbox.put(("gone", None))
