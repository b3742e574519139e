"""Failures that may pass, and how long to wait for that."""

import re
from typing import Any

TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Answers of servers after which the same request may succeed."""
TRANSIENT_NAME = re.compile("RateLimit|Timeout|TimedOut|Connect|Overloaded|Unavailable|TooManyRequests")
"""Names of exceptions of clients, none of which is imported here."""
LONGEST_WAIT = 60.0


def is_transient(error: Exception, others: tuple[type[Exception], ...] = ()) -> bool:
    """Return whether the same call may succeed later.

    >>> is_transient(ConnectionResetError()), is_transient(ValueError("no such column"))
    (True, False)
    """
    status = status_of(error)
    if status is not None:
        return status in TRANSIENT_STATUS or isinstance(error, others)
    known = isinstance(error, (ConnectionError, TimeoutError, *others))
    return known or any(TRANSIENT_NAME.search(kind.__name__) for kind in type(error).__mro__[:-3])


def status_of(error: Exception) -> int | None:
    """Return the status with which a server answered, if the exception of a client has it."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
                return value
    return None


def seconds_to_wait(error: Exception, attempt: int, wait: float, jitter: float) -> float:
    """Return how long to wait before a retry: what the server asks for, or twice as long as before.

    `jitter`, between 0 and 1, makes the wait up to a half longer, so that not all callers come back at once.

    >>> seconds_to_wait(TimeoutError(), 2, wait=1.0, jitter=0.0)
    4.0
    """
    asked = _retry_after(getattr(getattr(error, "response", error), "headers", None))
    own = wait * 2**attempt
    return float(min(LONGEST_WAIT, max(asked, own) * (1 + jitter / 2)))


def _retry_after(headers: Any) -> float:
    try:
        return max(0.0, float(headers.get("retry-after") or headers.get("Retry-After") or 0.0))
    except (AttributeError, TypeError, ValueError):
        return 0.0
