"""A second process that makes calls for this one: whatever happens to it, nothing else is lost."""

import json
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, BinaryIO

from butfor.errors import ButforError, abridged

Note = Callable[[Any], None]

START_SECONDS = 300.0
"""How long a process may take to start: its libraries may come from a slow disk."""
SECONDS_TO_STOP = 2.0
"""How long a call that is told to stop may take to do so; one that is deep in C code does not hear it."""
SECONDS_TO_END = 10.0
"""How long a process may take to end once it can say nothing more."""
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Processes share the cores between them; threads of their own would get in each other's way."""
_COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # also while it imports
    "import sys, json; sys.path[:], modules = json.loads(sys.argv[1]); from butfor.workers import serve; "
    "serve(modules)"
)
_spare: "deque[subprocess.Popen[bytes]]" = deque()
"""Processes that nobody has asked anything yet."""


class WorkerLost(Exception):  # noqa: N818 - an outcome, of which the caller knows what to do
    """The process died, or said nothing for too long; `str` says which."""

    def __init__(self, reason: str, *, silent: bool = False) -> None:
        super().__init__(reason)
        self.silent = silent
        """Whether it said nothing; else it died."""


class Stopped(Exception):  # noqa: N818 - an outcome, which somebody asked for
    """The call was told to stop."""


class Worker:
    """One process beside this one, with one thread for its arithmetic; it ends when this process does.

    >>> worker = Worker()
    >>> worker.call(added, 2, 3)
    5
    >>> worker.close()
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._number = 0
        self._in_call = False
        self._lock = threading.Lock()

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
        """Have `function(*arguments, note=…)` done over there; give what it returns, raise what it raises.

        Whatever the function hands to its `note` is handed to `note` here. Where neither notes nor an answer
        come for `patience` seconds the process is killed. `WorkerLost` is raised then, and where it died of
        itself; the next call starts a new one. Where `unless` says so, it is `Stopped` before it begins:
        who makes that true and then calls `stop` can be sure that one or the other is heard.
        """
        request = pickle.dumps((function, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        if self.pid is None:
            self.close()  # of one that died while nobody asked it anything, what is left
            self._start()
        with self._lock:
            if unless is not None and unless():
                raise Stopped("the call was stopped before it began")
            self._number += 1
            self._in_call = True
            self._send(request)
        try:
            return self._answer(patience, note)
        finally:
            with self._lock:
                self._in_call = False

    def stop(self) -> None:
        """Have the call in progress end with `Stopped`, from another thread; without one, do nothing.

        What does not hear of it soon is ended with its process, and the next call starts a new one.
        """
        with self._lock:
            if self._in_call:
                self._inbox.put(("stopping", self._number))
                self._send(b"")

    def _send(self, request: bytes) -> None:
        """Send a request, or nothing, which means to stop; numbered, so that no other call is stopped."""
        with suppress(OSError, AttributeError, ValueError):  # one that is gone has no ears: the inbox tells
            _write(self._process.stdin, self._number.to_bytes(8, "little") + request)  # type: ignore[union-attr, arg-type]

    def _answer(self, patience: float, note: Note | None) -> Any:
        """Wait for the answer to the last request, and hand on what is noted."""
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

    def close(self) -> None:
        """End the process, if it runs."""
        if self._process is None:
            return
        process, self._process = self._process, None
        _ended_now(process)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        while _spare and _spare[0].poll() is not None:  # it came to an end before anybody asked
            _ended_now(_spare.popleft())
        self._process = _spare.popleft() if _spare else _started()
        self._inbox = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._process.stdout, self._inbox), daemon=True).start()
        self._next(START_SECONDS)

    def _next(self, patience: float) -> tuple[str, Any]:
        """Wait for a message; raise if none comes."""
        try:
            kind, content = self._inbox.get(timeout=None if patience == math.inf else patience)
        except queue.Empty:
            self.close()
            reason = f"said nothing for {patience:g} seconds and was stopped"
            raise WorkerLost(reason, silent=True) from None
        if kind == "gone":
            process = self._process
            if process is None:
                raise WorkerLost("was closed")
            with suppress(subprocess.TimeoutExpired):  # it may be there, and have said what makes no sense
                process.wait(SECONDS_TO_END)
            self.close()
            raise WorkerLost(_ended(process.returncode))
        return kind, content


@contextmanager
def prepared(n_processes: int, *modules: str) -> Iterator[None]:
    """Start processes for workers to come, which then need not wait; each imports these modules first.

    Those that no worker has taken are ended at the end.
    """
    _spare.extend(_started(modules) for _ in range(n_processes))
    try:
        yield
    finally:
        while _spare:
            _ended_now(_spare.popleft())


def _started(modules: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
    path = [each for each in sys.path if type(each) is str]
    return subprocess.Popen(
        # -P: nothing in the working folder gets in before the path is set.
        [sys.executable, "-P", "-c", _COMMAND, json.dumps([path, modules])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
    )


def _ended_now(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # a request that it did not read is lost with it
            pipe.close()  # type: ignore[union-attr]


def added(a: int, b: int, note: Note) -> int:
    """Add two numbers: the smallest thing that can be asked of a worker."""
    note("adding")
    return a + b


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"


def _listen(pipe: BinaryIO, inbox: "queue.SimpleQueue[tuple[str, Any]]") -> None:
    """Put all messages of a process into an inbox, until it is gone."""
    try:
        while True:
            inbox.put(pickle.loads(_read(pipe)))
    except Exception:  # also where what it says makes no sense: it will not be heard any more
        inbox.put(("gone", None))


class _Stop(BaseException):
    """Raised in the middle of whatever is being done."""


class _Duty:
    """Where requests come in and are worked on, one after the other, in the process of a worker."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._answers = answers
        self._inbox: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._at_work = 0
        """The number of the request that may be stopped; 0 while nothing may."""
        self._to_stop = 0
        if hasattr(signal, "SIGUSR1"):  # elsewhere a call that should stop is ended with its process
            signal.signal(signal.SIGUSR1, self._on_signal)
        threading.Thread(target=self._hear, args=(requests,), daemon=True).start()

    def answer_next(self) -> None:
        """Take in a request, do what it asks for, and say what came of it."""
        number, request = self._inbox.get()
        try:
            answer = self._done(number, request)
        except _Stop:
            answer = _pickled("stopped", None)
        except Exception as error:
            self._at_work = 0
            answer = _pickled("raised", _portable(error))
        self.say(answer)

    def say(self, message: bytes) -> None:
        """Send a message to the one who asks."""
        try:
            _write(self._answers, message)
        except OSError:  # nobody is there to hear it, so all work is in vain
            os._exit(0)

    def _done(self, number: int, request: bytes) -> bytes:
        self._may_stop(number)
        function, arguments = pickle.loads(request)
        result = function(*arguments, note=lambda content: self._note(number, content))
        self._at_work = 0
        return _pickled("done", result)

    def _note(self, number: int, content: Any) -> None:
        self._at_work = 0  # half a message would make nonsense of all that follow
        self.say(_pickled("note", content))
        self._may_stop(number)

    def _may_stop(self, number: int) -> None:
        """Let it be stopped from here on, or at once if that is what was asked for."""
        self._at_work = number
        self._on_signal()

    def _on_signal(self, *_: object) -> None:
        if self._at_work and self._at_work == self._to_stop:
            self._at_work = 0
            raise _Stop

    def _hear(self, pipe: BinaryIO) -> None:
        """Take in requests, until nobody is there to ask: then all is over at once, whatever is done."""
        with suppress(EOFError):
            while True:
                message = _read(pipe)
                number, request = int.from_bytes(message[:8], "little"), message[8:]
                if request:
                    self._inbox.put((number, request))
                    continue
                self._to_stop = number
                main = threading.main_thread().ident
                if hasattr(signal, "SIGUSR1") and main is not None:
                    signal.pthread_kill(main, signal.SIGUSR1)  # also out of a sleep
        os._exit(0)


def serve(modules: Sequence[str] = ()) -> None:
    """Make the calls that come in, one after the other, until nobody asks any more: a worker's whole life."""
    for module in modules:
        import_module(module)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a model prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks decides what an interruption means
    duty = _Duty(sys.stdin.buffer, answers)
    duty.say(_pickled("ready", None))
    while True:
        try:
            duty.answer_next()
        except BaseException as error:  # a model that exits; threads that still listen must not matter
            sys.stderr.flush()
            os._exit(error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1)


def _pickled(kind: str, content: Any) -> bytes:
    return pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)


def _portable(error: Exception) -> Exception:
    """Give an exception that survives the way between processes."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ButforError(f"{type(error).__name__}: {abridged(str(error))}")
    return error


def _write(pipe: BinaryIO, message: bytes) -> None:
    pipe.write(len(message).to_bytes(8, "little") + message)
    pipe.flush()


def _read(pipe: BinaryIO) -> bytes:
    return _exactly(pipe, int.from_bytes(_exactly(pipe, 8), "little"))


def _exactly(pipe: BinaryIO, n_bytes: int) -> bytes:
    read = pipe.read(n_bytes)
    if len(read) < n_bytes:
        raise EOFError
    return read
