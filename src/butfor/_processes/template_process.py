"""The side of the template: it imports what it is asked to, and forks workers from itself."""

import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any

IDLE_SECONDS = 60.0
"""How long the template stays without any worker: it takes memory, and can be started again."""
N_HANDLES = 4
"""A worker gets the ends of three pipes (requests, answers, and what the template tells) and its stderr."""


def fork_workers(handle: int) -> None:
    """Fork a worker whenever somebody asks for one through the channel, until it is closed.

    Returns only in the workers.
    """
    channel = socket.socket(fileno=handle)
    children = _Children()
    import_module("butfor._processes.worker_process")
    patience = IDLE_SECONDS
    while True:
        ready, _, _ = select.select([handle, children.ended], [], [], None if children else patience)
        if not ready:
            os._exit(0)  # who asks at this very moment starts another
        if children.ended in ready:
            children.bury()
        if handle in ready:
            request, handles = _received(channel)
            patience = IDLE_SECONDS if request.get("stays", True) else 0.0
            _import(request["modules"])
            if handles and _forked(children, handles):
                channel.close()
                _become_worker(request)
                return


class _Children:
    """Workers that run, and whom to tell how they ended."""

    def __init__(self) -> None:
        self._told: dict[int, int] = {}
        self.ended, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        """Can be read as soon as a worker has ended."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake)

    def __len__(self) -> int:
        return len(self._told)

    def add(self, pid: int, told: int) -> None:
        """Remember a worker; tell its number."""
        self._told[pid] = told
        self._tell(pid, pid)

    def bury(self) -> None:
        """Report how workers ended."""
        with suppress(BlockingIOError):
            os.read(self.ended, 4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._tell(ended[0], os.waitstatus_to_exitcode(ended[1]))
                os.close(self._told.pop(ended[0]))

    def forget(self) -> None:
        """Close everything, in a worker."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for handle in (self.ended, self._wake, *self._told.values()):
            os.close(handle)

    def _tell(self, pid: int, number: int) -> None:
        with suppress(OSError):  # nobody wants to know
            os.write(self._told[pid], number.to_bytes(8, "little", signed=True))


def _received(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the next request with the handles that came with it; exit where nobody is left to ask."""
    length, handles, _, _ = socket.recv_fds(channel, 8, N_HANDLES)
    length += _exactly(channel, 8 - len(length))
    request: dict[str, Any] = json.loads(_exactly(channel, int.from_bytes(length, "little")))
    return request, handles


def _exactly(channel: socket.socket, n_bytes: int) -> bytes:
    received = bytearray()
    while len(received) < n_bytes:
        some = channel.recv(min(n_bytes - len(received), 1 << 20))
        if not some:
            os._exit(0)
        received += some
    return bytes(received)


def _import(modules: Iterable[str]) -> None:
    """Import what is not imported yet; a worker that needs what cannot be imported says so itself."""
    for module in modules:
        if module not in sys.modules:
            with suppress(Exception):
                import_module(module)


def _forked(children: _Children, handles: list[int]) -> bool:
    """Fork, unless a library has started a thread, as that is not safe; return whether this is the worker."""
    requests, answers, told, stderr = handles
    pid = -1
    if len(os.listdir("/proc/self/task")) == 1:
        gc.collect()
        gc.freeze()  # what the workers have in common stays so, as nobody looks through it
        pid = os.fork()
    if pid == 0:
        children.forget()
        for number, handle in enumerate((requests, answers, stderr)):
            os.dup2(handle, number)
    for handle in (requests, answers, stderr):
        os.close(handle)
    if pid > 0:
        children.add(pid, told)
    else:
        os.close(told)
    return pid == 0


def _become_worker(request: dict[str, Any]) -> None:
    """Take over the settings of the process that asked; random numbers differ from those of other workers."""
    sys.path[:] = request["path"]
    os.environ.clear()
    os.environ.update(request["environment"])
    with suppress(OSError):
        os.chdir(request["folder"])
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
