"""The limits of the server, in one object, with units."""

from dataclasses import dataclass

from butfor._checks import require_count, require_seconds

MOST_ALTERNATIVES = 100
"""Explanations in one answer of api/alternatives, at most."""
MOST_ROWS = 200
"""Rows on one page of api/rows, at most."""


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

    def __post_init__(self) -> None:
        for name in ("body", "text", "items", "max_size"):
            require_count(name, getattr(self, name))
        require_count("waiting", self.waiting, at_least=0)
        for name in ("max_seconds", "grace"):
            require_seconds(name, getattr(self, name))
