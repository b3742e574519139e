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
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from butfor.errors import ButforError

Note = Callable[[Any], None]

START_SECONDS = 300.0
"""How long a process may take to start: its libraries may come from a slow disk."""
SECONDS_TO_END = 10.0
"""How long a process may take to end once it can say nothing more."""
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Processes share the cores between them; threads of their own would get in each other's way."""
_COMMAND = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from butfor.workers import serve; serve()"
)


class WorkerLost(Exception):  # noqa: N818 - an outcome, of which the caller knows what to do
    """The process died, or said nothing for too long; `str` says which."""

    def __init__(self, reason: str, *, silent: bool = False) -> None:
        super().__init__(reason)
        self.silent = silent
        """Whether it said nothing; else it died."""


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

    @property
    def pid(self) -> int | None:
        """The number of the process, if it runs."""
        return None if self._process is None else self._process.pid

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        patience: float = math.inf,
        note: Note | None = None,
    ) -> Any:
        """Have `function(*arguments, note=…)` done over there; give what it returns, raise what it raises.

        Whatever the function hands to its `note` is handed to `note` here. Where neither notes nor an answer
        come for `patience` seconds the process is killed. `WorkerLost` is raised then, and where it died of
        itself; the next call starts a new one.
        """
        request = pickle.dumps((function, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        if self._process is None:
            self._start()
        with suppress(OSError):  # a process that is gone has no ears: the inbox tells
            _write(self._process.stdin, request)  # type: ignore[union-attr, arg-type]
        while True:
            kind, content = self._next(patience)
            if kind == "done":
                return content
            if kind == "raised":
                raise content
            if note is not None:
                note(content)

    def close(self) -> None:
        """End the process, if it runs."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # a request that it did not read is lost with it
                pipe.close()  # type: ignore[union-attr]

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            # -P: nothing in the working folder gets in before the path is set.
            [
                sys.executable,
                "-P",
                "-c",
                _COMMAND,
                json.dumps([each for each in sys.path if type(each) is str]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
        )
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
            assert process is not None
            with suppress(subprocess.TimeoutExpired):  # it may be there, and have said what makes no sense
                process.wait(SECONDS_TO_END)
            self.close()
            raise WorkerLost(_ended(process.returncode))
        return kind, content


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


def serve() -> None:
    """Make the calls that come in, one after the other, until nobody asks any more: a worker's whole life."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a model prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks decides what an interruption means

    def say(kind: str, content: Any) -> None:
        message = pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)
        try:
            _write(answers, message)
        except OSError:  # nobody is there to hear it, so all work is in vain
            os._exit(0)

    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(sys.stdin.buffer, requests), daemon=True).start()
    say("ready", None)
    while True:
        request = requests.get()
        try:
            function, arguments = pickle.loads(request)
            say("done", function(*arguments, note=lambda content: say("note", content)))
        except Exception as error:
            say("raised", _portable(error))
        except BaseException as error:  # a model that exits; threads that still listen must not matter
            sys.stderr.flush()
            os._exit(error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1)


def _hear(pipe: BinaryIO, requests: "queue.SimpleQueue[bytes]") -> None:
    """Take in requests, until nobody is there to ask: then all is over at once, whatever is being done."""
    with suppress(EOFError):
        while True:
            requests.put(_read(pipe))
    os._exit(0)


def _portable(error: Exception) -> Exception:
    """Give an exception that survives the way between processes."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ButforError(f"{type(error).__name__}: {error}")
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
