"""What came of a block of rows: an explanation of each, or its error, or None if it is left out."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from butfor.errors import ButforError
from butfor.results.columns import Columns, Ints
from butfor.results.explanation import Explanation

Outcome = Explanation | ButforError | None
"""An explanation, or the error of the row; None where only positive rows are explained and it is negative."""


class Outcomes(Sequence[Outcome]):
    """The outcomes of many rows, in their order; a sequence that is equal to the list of them.

    Explanations that were found for many rows together are kept as columns, and `butfor batch` writes these.
    The objects are made when somebody asks for the first one. `Explainer.explain_block` makes it.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    others : mapping from int to Explanation, ButforError or None
        The outcomes that are objects, by row number.
    columns : iterable of (array of int, Columns), optional
        The explanations of all other rows, with their row numbers.
    """

    def __init__(
        self, n_rows: int, others: Mapping[int, Outcome], columns: Iterable[tuple[Ints, Columns]] = ()
    ) -> None:
        self.n_rows = n_rows
        """How many rows there are."""
        self.others = others
        """The outcomes that are objects, by row number."""
        self.columns = tuple((rows, some) for rows, some in columns if len(rows))
        """The explanations of all other rows, with their row numbers."""

    @classmethod
    def of(cls, outcomes: Mapping[int, Outcome]) -> "Outcomes":
        """Return outcomes that are all objects.

        Parameters
        ----------
        outcomes : mapping from int to Explanation, ButforError or None
            The outcome of every row, by row number.

        Returns
        -------
        Outcomes
        """
        return cls(len(outcomes), outcomes)

    @classmethod
    def joined(cls, blocks: "Iterable[Outcomes]") -> "Outcomes":
        """Return the outcomes of several blocks, one after the other.

        Parameters
        ----------
        blocks : iterable of Outcomes

        Returns
        -------
        Outcomes

        Examples
        --------
        >>> Outcomes.joined([Outcomes(1, {0: None}), Outcomes(2, {0: None, 1: None})])
        [None, None, None]
        """
        n_rows, others, columns = 0, dict[int, Outcome](), list[tuple[Ints, Columns]]()
        for block in blocks:
            moved = block.at(np.arange(n_rows, n_rows + len(block)), {})
            others |= moved.others
            columns += moved.columns
            n_rows += len(block)
        return cls(n_rows, others, columns)

    def at(self, numbers: Ints, others: Mapping[int, Outcome]) -> "Outcomes":
        """Return these outcomes under other row numbers, together with those of other rows.

        Parameters
        ----------
        numbers : array of int
            The new number of each row.
        others : mapping from int to Explanation, ButforError or None
            The outcomes of the other rows.

        Returns
        -------
        Outcomes
        """
        new = numbers.tolist()
        moved = {new[number]: outcome for number, outcome in self.others.items()}
        columns = [(numbers[rows], some) for rows, some in self.columns]
        return Outcomes(len(self) + len(others), {**moved, **others}, columns)

    def replaced(self, outcomes: Mapping[int, Outcome]) -> "Outcomes":
        """Return the outcomes with others in the place of some.

        Parameters
        ----------
        outcomes : mapping from int to Explanation, ButforError or None
            The new outcomes, by row number.

        Returns
        -------
        Outcomes
        """
        if not outcomes:
            return self
        columns = []
        for rows, some in self.columns:
            stay = np.flatnonzero(~np.isin(rows, list(outcomes)))
            columns.append((rows[stay], some.take(stay)))
        return Outcomes(self.n_rows, {**self.others, **outcomes}, columns)

    def __len__(self) -> int:
        return self.n_rows

    @overload
    def __getitem__(self, index: int) -> Outcome: ...

    @overload
    def __getitem__(self, index: slice) -> list[Outcome]: ...

    def __getitem__(self, index: int | slice) -> Outcome | list[Outcome]:
        return self._as_list[index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Outcomes | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._as_list)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_as_list"}

    @cached_property
    def _as_list(self) -> list[Outcome]:
        """All outcomes as objects."""
        outcomes: list[Outcome] = [None] * self.n_rows
        for rows, some in self.columns:
            for row, why in zip(rows.tolist(), some.explanations(), strict=True):
                outcomes[row] = why
        for row, outcome in self.others.items():
            outcomes[row] = outcome
        return outcomes
