"""Explanations of many rows that are still being made."""

from collections.abc import Generator, Iterator
from typing import Any, Self

from butfor.results.explanations import Explanations


class ExplanationIterator(Iterator[Any]):
    """The explanations of many rows, in their order; rows are explained while you iterate.

    `Explainer.explain_many` makes it. Nothing is kept of what was yielded, so that the rows may be many.

    Parameters
    ----------
    outcomes : generator
        Yields an explanation for each row, or the error in its place.
    n_rows : int, optional
        The number of rows; None where it is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> explainer = Explainer(lambda X: X @ np.array([2, 1]), threshold=2)
    >>> whys = explainer.explain_many(np.array([[1, 0], [1, 1], [0, 1]]))
    >>> next(whys).columns
    (0,)
    >>> whys
    <ExplanationIterator: 1 of 3 rows explained so far; iterate, or call collect()>
    >>> whys.collect()
    <Explanations: 2 rows: 1 explained, 1 proven to have no answer.>
    """

    def __init__(self, outcomes: Generator[Any, None, None], n_rows: int | None = None) -> None:
        self._outcomes = outcomes
        self.n_rows = n_rows
        """The number of rows; None where it is unknown."""
        self.n_done = 0
        """The number of rows that were yielded."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        outcome = next(self._outcomes)
        self.n_done += 1
        return outcome

    def __repr__(self) -> str:
        of_all = "" if self.n_rows is None else f" of {self.n_rows:,}"
        rows = "row" if (self.n_rows or self.n_done) == 1 else "rows"
        done = f"{self.n_done:,}{of_all} {rows} explained so far"
        return f"<{type(self).__name__}: {done}; iterate, or call collect()>"

    def collect(self) -> Explanations:
        """Explain the rows that are left, and return them together: counted, drawn, as a frame.

        Returns
        -------
        Explanations
            With the errors of rows that failed, where `explain_many` was told to keep them.
        """
        first = self.n_done
        outcomes = list(self)
        return Explanations(outcomes, rows=range(first, first + len(outcomes)))

    def close(self) -> None:
        """End the work: rows that are left are not explained, and worker processes stop."""
        self._outcomes.close()
