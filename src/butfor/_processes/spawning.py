"""Processes for workers: started when they are needed, or prepared before."""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Workers share the cores between them, so each gets one thread for its arithmetic."""
_COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # also while it imports
    "import sys, json; sys.path[:], modules = json.loads(sys.argv[1]); "
    "from butfor._processes.worker_process import serve; serve(modules)"
)
_spare: "deque[subprocess.Popen[bytes]]" = deque()
"""Processes that no worker has taken yet."""


@contextmanager
def prepared(n_processes: int, *modules: str) -> Iterator[None]:
    """Start processes for future workers, which then need not wait; each imports these modules first.

    Those that no worker has taken are ended at the end.
    """
    _spare.extend(_started(modules) for _ in range(n_processes))
    try:
        yield
    finally:
        while _spare:
            end_now(_spare.popleft())


def new_process() -> "subprocess.Popen[bytes]":
    """Return a process that was prepared and still runs, or start one."""
    with suppress(IndexError):  # there is none, or another thread took the last one
        while True:
            process = _spare.popleft()
            if process.poll() is None:
                return process
            end_now(process)
    return _started()


def end_now(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # a request that it did not read is lost with it
            pipe.close()  # type: ignore[union-attr]


def how_it_ended(code: int) -> str:
    """Return how a process ended, given its exit code.

    >>> how_it_ended(3), how_it_ended(-9)
    ('ended with exit code 3', 'was killed by SIGKILL')
    """
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"


def _started(modules: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
    path = [each for each in sys.path if type(each) is str]
    return subprocess.Popen(
        # -P: nothing in the working folder is imported before the path is set.
        [sys.executable, "-P", "-c", _COMMAND, json.dumps([path, modules])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
    )
