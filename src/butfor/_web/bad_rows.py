"""Rows that killed or hung a process are refused for a while, so that they cost no second one."""

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from butfor._processes.worker import WorkerLost
from butfor._web.problems import Problem

MOST_ROWS = 1_000
"""Rows that are remembered; the oldest are forgotten first."""
FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
"""Signals that somebody else may have sent: a row is blamed for them only the second time."""
KILLED = re.compile(r"was killed by (SIG\w+)")


@dataclass(frozen=True)
class _Fault:
    """What a row did."""

    problem: Problem
    at: float
    is_sure: bool
    """Whether it was surely the row; otherwise it is refused only if it does so again."""


class BadRows:
    """Remembers rows that killed or hung a process, by a digest of their content."""

    def __init__(
        self, seconds: float, most: int = MOST_ROWS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._faults: OrderedDict[str, _Fault] = OrderedDict()

    def require_good(self, row: str | None) -> None:
        """Raise a problem with the earlier reason if this row has killed or hung a process lately."""
        fault = None if row is None else self._lately(row)
        if fault is None or not fault.is_sure:
            return
        ago = self._clock() - fault.at
        left = math.ceil(self._seconds - ago)
        detail = f"this row was asked for {ago:.0f} seconds ago. Then {fault.problem.detail} "
        raise Problem(
            fault.problem.status,
            f"{detail}It is not tried again for {left} seconds.",
            {"Retry-After": str(left)},
        )

    def note(self, row: str | None, lost: WorkerLost) -> None:
        """Remember that the process that had this row was lost."""
        if row is None or not self._seconds:
            return
        is_sure = cause_of(lost) not in FROM_OUTSIDE or self._lately(row) is not None
        self._faults[row] = _Fault(lost_problem(lost), self._clock(), is_sure)
        self._faults.move_to_end(row)
        while len(self._faults) > self._most:
            self._faults.popitem(last=False)

    def _lately(self, row: str) -> _Fault | None:
        """Return what a row did, unless that is long ago."""
        fault = self._faults.get(row)
        if fault is not None and self._clock() - fault.at >= self._seconds:
            del self._faults[row]
            return None
        return fault


def cause_of(lost: WorkerLost) -> str:
    """Return why a process was lost, in a word: "hang", "exit", or the signal that ended it.

    >>> cause_of(WorkerLost("was killed by SIGSEGV")), cause_of(WorkerLost("ended with exit code 3"))
    ('SIGSEGV', 'exit')
    """
    if lost.silent:
        return "hang"
    killed = KILLED.search(str(lost))
    return killed[1] if killed else "exit"


def lost_problem(lost: WorkerLost) -> Problem:
    """Return the answer to a request whose process was lost."""
    status = 504 if lost.silent else 502
    return Problem(status, f"the process that asked the model {lost}. Other requests are not affected.")
