"""Processes for workers: forked from the template where that is possible, else started anew."""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TypeAlias

from butfor._processes.environment import environment_of_workers
from butfor._processes.template import ForkedProcess, NotForked, forked, search_path

Process: TypeAlias = "subprocess.Popen[bytes] | ForkedProcess"
TRIES = 2
"""The template may end, as nobody needs it, in the moment in which it is asked."""
_COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # also while it imports
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from butfor._processes.worker_process import serve; serve()"
)


def new_process() -> Process:
    """Return a new process that waits for calls."""
    for _ in range(TRIES):
        with suppress(NotForked):
            return forked()
    return started()


def end_now(process: Process) -> None:
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


def started() -> "subprocess.Popen[bytes]":
    """Return a process that is started anew."""
    return subprocess.Popen(
        # -P: nothing in the working folder is imported before the path is set.
        [sys.executable, "-P", "-c", _COMMAND, json.dumps(search_path())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment_of_workers(),
    )
