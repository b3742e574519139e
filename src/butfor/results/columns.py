"""Explanations of many rows as columns: a column for each field; objects are made of them on request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from butfor.results.explanation import Explanation, filled, is_proven

Ints = npt.NDArray[np.integer[Any]]


class Naming(Protocol):
    """Knows the name of each code."""

    def of(self, codes: Ints) -> tuple[str, ...]:
        """Return the names of codes."""
        ...


@dataclass(frozen=True)
class Listed:
    """Names in a list; the code of a name is its place.

    >>> Listed(("found", "none")).of(np.array([1, 0, 1]))
    ('none', 'found', 'none')
    """

    names: tuple[str, ...]

    def of(self, codes: Ints) -> tuple[str, ...]:
        """Return the names of codes."""
        return tuple([self.names[code] for code in codes.tolist()])


@dataclass(frozen=True, eq=False)
class Same:
    """A column with the same value in every row."""

    value: Any
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def take(self, rows: Ints) -> "Same":
        """Return the column of some of the rows."""
        return Same(self.value, len(rows))

    def tolist(self) -> list[Any]:
        """Return the value of every row."""
        return [self.value] * self.n_rows


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of names, each as a number."""

    codes: Ints
    naming: Naming

    def __len__(self) -> int:
        return len(self.codes)

    def __reduce__(self) -> Any:
        """Send only the names that occur to another process: all names of the model may be millions."""
        codes, names = self.used()
        return Coded, (codes, Listed(names))

    def take(self, rows: Ints) -> "Coded":
        """Return the column of some of the rows."""
        return Coded(self.codes[rows], self.naming)

    def tolist(self) -> list[str]:
        """Return the name of every row."""
        return list(self.naming.of(self.codes))

    def used(self) -> tuple[Ints, tuple[str, ...]]:
        """Return the names that occur, and before them for each row the place of its name among these.

        >>> Coded(np.array([2, 0, 2]), Listed(("free", "prize", "call"))).used()
        (array([1, 0, 1]), ('free', 'call'))
        """
        used, places = np.unique(self.codes, return_inverse=True)
        return places, self.naming.of(used)


@dataclass(frozen=True, eq=False)
class Lists:
    """A column of lists: the values of all rows one after the other, and where those of each row are."""

    values: "Coded | npt.NDArray[Any]"
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Ints:
        """The number of values of each row."""
        return np.asarray(self.ends - self.starts)

    def take(self, rows: Ints) -> "Lists":
        """Return the column of some of the rows."""
        return Lists(self.values, self.starts[rows], self.ends[rows])

    def tolist(self) -> list[tuple[Any, ...]]:
        """Return the values of every row.

        >>> Lists(np.array([7, 8, 9]), np.array([0, 2, 2]), np.array([2, 2, 3])).tolist()
        [(7, 8), (), (9,)]
        """
        values = tuple(self.values.tolist())
        return [
            values[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]

    def packed(self) -> "Lists":
        """Return the same lists without values between them that are in no row.

        >>> Lists(np.array([7, 8, 9]), np.array([2, 0]), np.array([3, 1])).packed().values
        array([9, 7])
        """
        ends, n_values = np.cumsum(self.lengths), int(self.lengths.sum())
        starts = ends - self.lengths
        if n_values == len(self.values) and np.array_equal(starts, self.starts):
            return self
        entries = np.arange(n_values) + np.repeat(self.starts - starts, self.lengths)
        return Lists(self.values.take(entries), starts, ends)


Column = Same | Coded | Lists | npt.NDArray[Any]
"""The values of all rows in one field; an array of objects where no other form fits."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Explanations of many rows: what is the same in all of them, and a column for each other field."""

    n_rows: int
    shared: Mapping[str, Any]
    own: Mapping[str, Column]

    @staticmethod
    def of(explanations: Sequence[Explanation]) -> "Columns":
        """Return explanations as columns."""
        names = [field.name for field in fields(Explanation)]
        own = {name: objects([getattr(why, name) for why in explanations]) for name in names}
        return Columns(len(explanations), {}, own)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, name: str) -> Column:
        return self.own[name] if name in self.own else Same(self.shared[name], self.n_rows)

    @cached_property
    def sizes(self) -> Ints:
        """The size of each answer."""
        features = self["features"]
        if isinstance(features, Lists):
            return features.lengths
        return np.array([len(each) for each in features.tolist()], dtype=np.intp)

    @cached_property
    def proven(self) -> npt.NDArray[np.bool_]:
        """Whether it is proven of each answer that none is smaller, or cheaper."""
        values = {name: np.array(self[name].tolist()) for name in ("status", "costs", "lower_bound", "cost")}
        return np.asarray(
            is_proven(
                found=values["status"] == "found",
                is_sure=np.array([each is None for each in self["confidence"].tolist()], dtype=bool),
                lower_bound=values["lower_bound"],
                size=np.where(values["costs"], values["cost"], self.sizes),
            )
        )

    def take(self, rows: Ints) -> "Columns":
        """Return the explanations of some of the rows."""
        return Columns(len(rows), self.shared, {name: column.take(rows) for name, column in self.own.items()})

    def explanations(self) -> list[Explanation]:
        """Return an object for each row."""
        names, shared = list(self.own), dict(self.shared)
        rows = zip(*(column.tolist() for column in self.own.values()), strict=True)
        return [filled(shared, zip(names, values, strict=True)) for values in rows]


def objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return an array of objects, whatever they are.

    >>> objects([(1, 2), (3, 4)])
    array([(1, 2), (3, 4)], dtype=object)
    """
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
