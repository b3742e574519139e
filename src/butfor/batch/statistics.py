"""Counts of many outcomes, which can be added up."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from typing import Any, Self

import numpy as np

from butfor._extras import optional

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
    >>> from butfor.batch.outputs import table
    >>> records = table([1, 2], [None, "no text"], "int")
    >>> three = Statistics.of(records, 2) + Statistics(n_rows=1, n_left_out=1)
    >>> three.n_rows, three.n_left_out, three.statuses
    (3, 2, {'error': 1})
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
    def of(cls, records: Any, n_rows: int) -> Self:
        """Count what is in the Arrow table of so many rows; those that are not in it were left out."""
        explained = records.filter(records["error"].is_null())
        seconds = explained["seconds"].to_numpy()
        slowest = np.argsort(-seconds, kind="stable")[:SLOWEST]
        their_ids = explained["id"].take(slowest).to_pylist()
        is_found = optional("pyarrow.compute", extra="batch").equal(explained["status"], "found")
        return cls(
            n_rows=n_rows,
            n_left_out=n_rows - len(records),
            statuses=_counts(records["status"]),
            sizes=_counts(explained["size"].filter(is_found)),
            n_proven=_counts(explained["proven"]).get(True, 0),
            n_contradicted=_counts(explained["survives_deletion"]).get(False, 0),
            seconds=float(seconds.sum()),
            slowest=tuple(zip(seconds[slowest].tolist(), their_ids, strict=True)),
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


def _counts(column: Any) -> dict[Any, int]:
    """Return how often each value occurs."""
    counts = column.value_counts()
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))


def _slowest(timed: Iterable[tuple[float, Any]]) -> tuple[tuple[float, Any], ...]:
    return tuple(nlargest(SLOWEST, timed, key=lambda each: each[0]))
