"""All irreducible explanations of one row, one after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Self

from butfor.results.explanation import Explanation


@dataclass
class AlternativesProgress:
    """How far the search for alternatives has come."""

    complete_up_to: int = 0
    reason: str = ""


class Alternatives:
    """The irreducible explanations of one row, smallest first; the search runs while you iterate.

    `Explainer.alternatives` makes it.

    Parameters
    ----------
    search : callable
        Yields the explanations, and writes down in what it is passed how far it has come.
    limit : int, optional
        The largest number of explanations.
    """

    def __init__(
        self, search: Callable[[AlternativesProgress], Iterator[Explanation]], limit: int | None = None
    ) -> None:
        self._progress = AlternativesProgress()
        self._explanations = islice(search(self._progress), limit)

    @property
    def complete_up_to(self) -> int:
        """The size up to which no irreducible explanation is missing."""
        return self._progress.complete_up_to

    @property
    def reason(self) -> str:
        """Why the search ended before the size limit; empty if it did not."""
        return self._progress.reason

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Explanation:
        return next(self._explanations)
