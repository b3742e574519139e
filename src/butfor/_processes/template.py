"""The template, seen from here: a process that has imported what workers need, and is forked for each worker.

A process that starts anew imports for seconds; one that is forked is there after some milliseconds. The
template does nothing but import and fork, and never while it has a second thread, so that forking is safe.
It is started with the first worker, imports what this process has imported, and ends with this process, or
when it has had no worker for a while. It exists on Linux alone: elsewhere, libraries of the system may not
survive a fork.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any

from butfor._processes.environment import environment_of_workers

IS_POSSIBLE = sys.platform == "linux"
PACKAGES = {"butfor", "joblib", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "threadpoolctl"}
"""Packages that are worth importing once for all workers, and start no threads when they are imported."""
USUAL_MODULES = ("sklearn.feature_extraction.text", "sklearn.linear_model", "sklearn.pipeline")
"""What most models need."""
START_SECONDS = 300.0
"""How long the template may take for its imports: they may come from a slow disk."""
_COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # also while it imports
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from butfor._processes.template_process import fork_workers; fork_workers(int(sys.argv[2])); "
    "from butfor._processes.worker_process import serve; serve()"
)
_lock = threading.Lock()
_template: "_Template | None" = None


class NotForked(Exception):  # noqa: N818 - an outcome that the caller handles
    """The template cannot fork a worker: it was killed, or a library has started a thread in it."""


def begin_imports(*modules: str) -> None:
    """Have the template import modules, and what this process has imported; do not wait for it."""
    if IS_POSSIBLE:
        with suppress(NotForked), _lock:
            _running().ask({"modules": _worth_importing(modules)})


def forked() -> "ForkedProcess":
    """Return a process that was forked from the template; raise `NotForked` where that is not possible."""
    if not IS_POSSIBLE:
        raise NotForked
    request = {
        "modules": _worth_importing(),
        "path": search_path(),
        "environment": environment_of_workers(),
        "folder": os.getcwd(),
    }
    requests, stdin = os.pipe()
    stdout, answers = os.pipe()
    status, told = os.pipe()
    theirs, ours = [requests, answers, told, _stderr()], [stdin, stdout, status]
    try:
        with _lock:
            _running().ask(request, theirs)
    except BaseException:
        _close(*ours)
        raise
    finally:
        _close(*theirs)
    return ForkedProcess(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), status)


def end_when_idle() -> None:
    """Have the template end as soon as it has no worker, and not only after a while."""
    with _lock, suppress(NotForked):
        if _template is not None and _template.is_ours:
            _template.end_when_idle()


def search_path() -> list[str]:
    """Return where this process looks for modules."""
    return [each for each in sys.path if type(each) is str]


class ForkedProcess:
    """A process that was forked from the template: what workers need of `subprocess.Popen`.

    The template, whose child it is, tells its number and how it ended.
    """

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], status: int) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.returncode: int | None = None
        self._status = status
        self._reading = threading.Lock()
        weakref.finalize(self, os.close, status)
        number = self._told() if self._tells(START_SECONDS) else None
        if number is None:
            stdin.close()
            stdout.close()
            raise NotForked
        self.pid = number

    def poll(self) -> int | None:
        """Return its exit code if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code."""
        if self.returncode is None and not self._tells(timeout):
            raise subprocess.TimeoutExpired("a worker", timeout or 0.0)
        with self._reading:
            if self.returncode is None:
                code = self._told()
                if code is None:  # the template was killed: nobody would notice the end of this process
                    self._kill()
                self.returncode = -signal.SIGKILL if code is None else code
            return self.returncode

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        if self.poll() is None:
            self._kill()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _tells(self, timeout: float | None) -> bool:
        """Wait until the template tells something, or is gone; return whether that came in time."""
        waiting = select.poll()
        waiting.register(self._status, select.POLLIN)
        return bool(waiting.poll(None if timeout is None else timeout * 1000))

    def _told(self) -> int | None:
        """Return what the template tells; None if it is gone."""
        number = os.read(self._status, 8)
        return int.from_bytes(number, "little", signed=True) if number else None


class _Template:
    """The process, and the channel through which it is asked."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -P: nothing in the working folder is imported before the path is set.
                [sys.executable, "-P", "-c", _COMMAND, json.dumps(search_path()), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # Otherwise pyarrow would start a thread, and processes with threads cannot be forked safely.
                env={**environment_of_workers(), "JE_ARROW_MALLOC_CONF": "background_thread:false"},
            )
        self._owner = os.getpid()
        self._asked: set[str] = set()
        self._waiting: threading.Thread | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it runs and belongs to this process, not to one that this process was forked from."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, request: dict[str, Any], handles: Iterable[int] = ()) -> None:
        """Send a request, and the pipes of the process that is to be forked for it."""
        new = [module for module in request["modules"] if module not in self._asked]
        self._asked.update(new)
        message = json.dumps({**request, "modules": new}).encode()
        try:
            socket.send_fds(self._channel, [len(message).to_bytes(8, "little")], list(handles))
            self._channel.sendall(message)
        except OSError as error:
            raise NotForked from error

    def end_when_idle(self) -> None:
        """Have the process end once it has no worker, and wait for that beside, so that no zombie is left."""
        self.ask({"modules": [], "stays": False})
        if self._waiting is None:
            self._waiting = threading.Thread(target=self._process.wait, name="butfor-template", daemon=True)
            self._waiting.start()

    def end(self) -> None:
        """End the process."""
        self._channel.close()
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()


def _running() -> _Template:
    """Return the template, started if need be."""
    global _template
    if _template is None or not _template.is_ours:
        end_template()
        _template = _Template()
    return _template


@atexit.register
def end_template() -> None:
    """End the template, if there is one; the next worker starts another."""
    global _template
    if _template is not None:
        _template.end()
        _template = None


def _worth_importing(more: Iterable[str] = ()) -> list[str]:
    """Return modules that this process has imported, and more, so that no worker needs to import them."""
    known = [name for name in list(sys.modules) if name.partition(".")[0] in PACKAGES]
    return [*more, *(name for name in known if "__main__" not in name and not name.startswith("butfor._cli"))]


def _stderr() -> int:
    """Return a copy of the handle to which this process writes its messages, or one that goes nowhere."""
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _close(*handles: int) -> None:
    for handle in handles:
        os.close(handle)
