"""The limits of the server, in one object, with units."""

from dataclasses import dataclass, field, fields

from butfor._checks import require_count, require_seconds
from butfor._web.upkeep import Upkeep

MOST_ALTERNATIVES = 100
"""Explanations in one answer of api/alternatives, at most."""
MOST_ROWS = 200
"""Rows on one page of api/rows, at most."""
MAY_BE_ZERO = ("waiting", "refused_seconds", "drain_seconds")


@dataclass(frozen=True)
class Limits:
    """The limits of a server: larger requests are refused, longer searches are cut short.

    >>> Limits(max_seconds=2).waiting
    64
    """

    body: int = 2**20
    """Bytes of a request's body."""
    text: int = 200_000
    """Characters of a text."""
    items: int = 10_000
    """Items of a row, protected features and removed units of one request, together."""
    max_seconds: float = 10.0
    """Seconds of search for one request."""
    max_size: int = 30
    """Features of one explanation."""
    waiting: int = 64
    """Requests that may wait for a free process; one more is refused."""
    grace: float = 10.0
    """Seconds that a request may take beyond its own limit before its process counts as hung."""
    waiting_seconds: float = 30.0
    """Seconds for which a request may wait for a free process; then it is refused."""
    refused_seconds: float = 300.0
    """Seconds for which a row that killed or hung a process is refused; 0: it is not."""
    drain_seconds: float = 20.0
    """Seconds that running requests may take once the server is told to end."""
    upkeep: Upkeep = field(default_factory=Upkeep)
    """How much memory a process may have, and when it is replaced."""
    head: int = 2**15
    """Bytes of a request's first line and headers."""
    headers: int = 100
    """Headers of a request."""
    head_seconds: float = 10.0
    """Seconds in which the first line and the headers must come."""
    body_seconds: float = 30.0
    """Seconds in which the body must come."""
    read_seconds: float = 30.0
    """Seconds for which a client may read nothing of an answer that is ready."""
    connections: int = 512
    """Open connections; fewer where the process may not open that many files."""
    connections_per_address: int = 256
    """Open connections from one address."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in MAY_BE_ZERO and value == 0:
                continue
            if each.type is float:
                require_seconds(each.name, value)
            elif each.type is int:
                require_count(each.name, value)
