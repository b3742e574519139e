"""The counts of a vectoriser in a text: what each removal set leaves in each column."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.row import Row

Literal = tuple[int, bool]
"""A unit, and whether it must be removed; otherwise it must not be."""


class NoFormula(Exception):  # noqa: N818 - not an error: the model is a black box on this row
    """What the steps of the model make of a row, or of a text that is cut, is not known."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """The leaves of trees: which units must be removed, or must not be, for each; one holds in each tree."""

    literals: tuple[tuple[Literal, ...], ...]
    tree: IntArray
    """The tree of each leaf, ascending."""


@dataclass(frozen=True, eq=False)
class Single:
    """Columns that depend on one unit, or on none."""

    columns: IntArray
    kept: FloatArray
    """The counts while the unit is there."""
    removed: FloatArray
    """The counts once it is removed."""
    units: IntArray
    """−1 for none."""


@dataclass(frozen=True, eq=False)
class AtLeaves:
    """Columns that depend on one tree: their counts at its leaves, where they have any."""

    leaves: IntArray
    columns: IntArray
    counts: FloatArray


@dataclass(frozen=True, eq=False)
class Several:
    """Columns that depend on several units or trees, which add up."""

    columns: IntArray
    now: FloatArray
    """The counts in the whole text."""
    changes: Any
    """Units × columns, CSR: what each unit adds while it is there."""
    at_leaves: Any
    """Leaves × columns, CSR: what each leaf adds."""
    low: FloatArray
    high: FloatArray
    """The least and the largest count."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of one vectoriser in a text."""

    n_columns: int
    dtype: Any
    single: Single
    at_leaves: AtLeaves
    several: Several
    conditions: Conditions

    @property
    def is_plain(self) -> bool:
        """Whether each column goes as a whole with one unit."""
        return (
            not len(self.conditions.tree) and not len(self.several.columns) and not self.single.removed.any()
        )


def longest_runs(units: IntArray, removed: BoolArray) -> IntArray:
    """Return, for each removal set, how many neighbours it removes at most; `units` are in their order.

    >>> longest_runs(np.array([0, 1, 2, 1]), np.array([[True, True, False], [False, True, False]]))
    array([2, 1])
    """
    runs, longest = np.zeros(len(removed), dtype=np.intp), np.zeros(len(removed), dtype=np.intp)
    last = -1
    for place in np.flatnonzero(np.asarray(removed.any(axis=0))[units]):
        gone = removed[:, units[place]]
        runs = np.where(gone, runs + 1, 0) if place == last + 1 else gone.astype(np.intp)
        longest, last = np.maximum(longest, runs), int(place)
    return longest


def runs_with_each(units: IntArray, removed: BoolArray) -> IntArray:
    """Bound, for one removal set with each further unit, how many neighbours are removed at most.

    >>> runs_with_each(np.array([0, 1, 2, 3]), np.array([False, True, False, False]))
    array([2, 1, 2, 1])
    """
    gone = removed[units]
    place = np.arange(len(units))
    before = place - np.maximum.accumulate(np.where(gone, -1, place))  # removed neighbours up to a place
    from_left = np.append(0, np.where(gone, before, 0)[:-1])
    after = np.minimum.accumulate(np.where(gone, len(units), place)[::-1])[::-1] - place
    from_right = np.append(np.where(gone, after, 0)[1:], 0)
    beside = np.bincount(units, np.where(gone, 0, from_left + from_right), minlength=len(removed))
    longest = int(np.where(gone, before, 0).max(initial=0))
    return np.maximum(np.where(removed, 0, 1 + beside).astype(np.intp), longest)


class CountedText(Protocol):
    """A text of which units can be cut, with what vectorisers count in it; or a record of such and others."""

    @property
    def is_text(self) -> bool:
        """Whether it is one text, not a record."""
        ...

    @property
    def is_sparse(self) -> bool:
        """Whether the estimator behind the vectorisers gets sparse rows."""
        ...

    @property
    def n_units(self) -> int:
        """How many units may be removed."""
        ...

    def counted(self, source: int) -> Counted:
        """Return the counts of one vectoriser; raise `NoFormula` if they are not known."""
        ...

    def as_row(self, source: int) -> Row:
        """Return the counts of one vectoriser as a row; raise `NoFormula` if they are no such row."""
        ...

    def recounted(self, source: int, removed: BoolArray) -> Any:
        """Return the counts of one vectoriser without some units, as CSR, read from the text itself."""
        ...

    @property
    def window(self) -> int | None:
        """Up to how many removed units the counts hold in any case; None: there is no limit."""
        ...

    def beyond(self, removed: BoolArray) -> BoolArray:
        """Return which removal sets the counts do not hold for, so that the text must be read."""
        ...

    def beyond_with_each(self, removed: BoolArray) -> BoolArray:
        """Return the same for one removal set together with each further unit."""
        ...
