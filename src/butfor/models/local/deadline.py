"""A deadline that local models of one row share, and what they raise at a limit."""

import math
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar


class OutOfBudget(Exception):  # noqa: N818 - not an error: the engine turns it into an answer
    """A limit is reached. Local models raise it, so that no search needs to watch the clock or count."""

    limit: ClassVar[str]
    """The name of the limit in a `Budget`."""


class OutOfTime(OutOfBudget):
    """The deadline has passed."""

    limit = "max_seconds"


class OutOfScorings(OutOfBudget):
    """The model has been asked as often as it may be."""

    limit = "max_scorings"


@dataclass(eq=False)
class Deadline:
    """The moment after which a local model scores nothing more.

    Local models that ask one another hold the same object, so that all of them stop at the same moment.

    Parameters
    ----------
    at : float, default=math.inf
        The moment, as a value of `time.monotonic()`. Infinity stands for no deadline.
    waited : float, default=0.0
        For how many seconds the row waited for others, by which the deadline was put off.

    Examples
    --------
    >>> deadline = Deadline()
    >>> deadline.seconds_left
    inf
    >>> with deadline.limited_to(60.0):
    ...     deadline.seconds_left <= 60.0
    True
    """

    at: float = math.inf
    waited: float = 0.0

    def put_off(self, seconds: float) -> None:
        """Move the deadline by the time for which the row only waited for others.

        Parameters
        ----------
        seconds : float
            For how long it waited.
        """
        self.at += seconds
        self.waited += seconds

    @property
    def seconds_left(self) -> float:
        """How many seconds are left; negative once the deadline has passed."""
        return self.at - time.monotonic()

    def check(self) -> None:
        """Raise `OutOfTime` if the deadline has passed."""
        if time.monotonic() > self.at:
            raise OutOfTime

    def limited_to(self, seconds: float) -> AbstractContextManager[None]:
        """Bring the deadline forward within a `with` block.

        Parameters
        ----------
        seconds : float
            How many seconds are left at most, from now on.
        """
        return _Moved(self, min(self.at, time.monotonic() + seconds))

    def suspended(self) -> AbstractContextManager[None]:
        """Have no deadline within a `with` block."""
        return _Moved(self, math.inf)


class _Moved(AbstractContextManager[None]):
    """Moves a deadline within a `with` block. A generator would take longer than many a search."""

    __slots__ = ("_at", "_before", "_deadline", "_waited")

    def __init__(self, deadline: Deadline, at: float) -> None:
        self._deadline, self._at = deadline, at

    def __enter__(self) -> None:
        deadline = self._deadline
        self._before, deadline.at, self._waited = deadline.at, self._at, deadline.waited

    def __exit__(self, *_: object) -> None:
        self._deadline.at = self._before + self._deadline.waited - self._waited
