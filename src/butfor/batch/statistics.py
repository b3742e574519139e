"""Counts of many outcomes, which can be added up."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from typing import Any, Self

from butfor import Explanation
from butfor.batch.outputs import Outcome

SLOWEST = 10
"""Number of slowest rows that are listed."""


@dataclass(frozen=True)
class Statistics:
    """Counts of rows, statuses and sizes of answers, and the slowest rows. Two can be added.

    Attributes
    ----------
    n_rows : int
        Number of rows that were read, including rows that are left out.
    n_left_out : int
        Number of negative rows that `only_positive` left out.
    statuses : dict of str to int
        Number of rows of each status. A row that could not be explained has the status "error".
    sizes : dict of int to int
        Number of answers of each size.
    n_proven : int
        Number of answers that are proven to be the smallest.
    n_contradicted : int
        Number of answers on texts that do not hold when the words are deleted from the text.
    seconds : float
        Time of all rows together.
    slowest : tuple of (float, id)
        Seconds and ids of the slowest rows, the slowest first.

    Examples
    --------
    >>> two = Statistics.of([1], [None]) + Statistics.of(["b"], ["no text"])
    >>> two.n_rows, two.n_left_out, two.statuses
    (2, 1, {'error': 1})
    """

    n_rows: int = 0
    n_left_out: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    n_proven: int = 0
    n_contradicted: int = 0
    seconds: float = 0.0
    slowest: tuple[tuple[float, Any], ...] = ()

    @classmethod
    def of(cls, ids: Sequence[Any], outcomes: Sequence[Outcome]) -> Self:
        """Count outcomes."""
        explained = [
            (why, each) for each, why in zip(ids, outcomes, strict=True) if isinstance(why, Explanation)
        ]
        n_left_out = outcomes.count(None)
        statuses = Counter(why.status for why, _ in explained) + Counter(
            {"error": len(outcomes) - n_left_out - len(explained)}
        )
        return cls(
            n_rows=len(outcomes),
            n_left_out=n_left_out,
            statuses=dict(statuses),
            sizes=dict(Counter(why.size for why, _ in explained if why)),
            n_proven=sum(why.proven_minimum for why, _ in explained),
            n_contradicted=sum(why.survives_deletion is False for why, _ in explained),
            seconds=sum(why.seconds for why, _ in explained),
            slowest=_slowest((why.seconds, each) for why, each in explained),
        )

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(
            n_rows=self.n_rows + other.n_rows,
            n_left_out=self.n_left_out + other.n_left_out,
            statuses=dict(Counter(self.statuses) + Counter(other.statuses)),
            sizes=dict(Counter(self.sizes) + Counter(other.sizes)),
            n_proven=self.n_proven + other.n_proven,
            n_contradicted=self.n_contradicted + other.n_contradicted,
            seconds=self.seconds + other.seconds,
            slowest=_slowest([*self.slowest, *other.slowest]),
        )

    @property
    def n_found(self) -> int:
        """Number of rows that have an answer."""
        return self.statuses.get("found", 0)

    def size_at(self, share: float) -> int:
        """Return the size that this share of the answers does not exceed; 0 if there are no answers.

        >>> Statistics(sizes={1: 2, 5: 2}).size_at(0.5)
        1
        """
        seen = 0
        for size in sorted(self.sizes):
            seen += self.sizes[size]
            if seen >= share * sum(self.sizes.values()):
                return size
        return 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the statistics that `to_dict` was called on."""
        return cls(
            **values
            | {
                "sizes": {int(size): count for size, count in values["sizes"].items()},
                "slowest": tuple((seconds, each) for seconds, each in values["slowest"]),
            }
        )


def _slowest(timed: Iterable[tuple[float, Any]]) -> tuple[tuple[float, Any], ...]:
    return tuple(nlargest(SLOWEST, timed, key=lambda each: each[0]))
