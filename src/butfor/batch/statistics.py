"""What there is to say of many outcomes together, in a few numbers that can be added up."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from typing import Any, Self

from butfor import Explanation
from butfor.batch.outputs import Outcome

SLOWEST = 10
"""Rows of which it is said how long they took."""


@dataclass(frozen=True)
class Statistics:
    """How many rows there were, what became of them, how large the answers are, which rows took longest.

    >>> two = Statistics.of([1], [None]) + Statistics.of(["b"], ["no text"])
    >>> two.n_rows, two.n_left_out, two.statuses
    (2, 1, {'error': 1})
    """

    n_rows: int = 0
    """Rows that were read, those included that are left out."""
    n_left_out: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    """How many answers there are of each size."""
    n_proven: int = 0
    n_contradicted: int = 0
    """Answers on texts that do not hold when the words are deleted from the text."""
    seconds: float = 0.0
    """The time of all rows together."""
    slowest: tuple[tuple[float, Any], ...] = ()
    """Seconds and ids, the slowest first."""

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
        """How many rows have an answer."""
        return self.statuses.get("found", 0)

    def size_at(self, share: float) -> int:
        """Give the size that this share of the answers does not exceed; 0 where there is none.

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
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make statistics of what `to_dict` gave."""
        return cls(
            **values
            | {
                "sizes": {int(size): count for size, count in values["sizes"].items()},
                "slowest": tuple((seconds, each) for seconds, each in values["slowest"]),
            }
        )


def _slowest(timed: Iterable[tuple[float, Any]]) -> tuple[tuple[float, Any], ...]:
    return tuple(nlargest(SLOWEST, timed, key=lambda each: each[0]))
