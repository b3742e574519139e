"""Rows in whatever form they come: how many there are, and some of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from butfor.models.row_kind import is_frame
from butfor.models.rows import n_rows_in


def n_rows_of(rows: Any) -> int | None:
    """Return how many rows there are; None where that is unknown without reading them."""
    return n_rows_in(rows) if hasattr(rows, "shape") or hasattr(rows, "__len__") else None


def in_pieces(rows: Any, n_rows: int) -> Iterator[Any]:
    """Yield slices of so many rows of a matrix, a data frame or a list.

    >>> list(in_pieces(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
    places = _places(rows)
    yield from (places[start : start + n_rows] for start in range(0, n_rows_in(rows), n_rows))


def each_row(rows: Any) -> Iterator[Any]:
    """Yield the rows of a matrix or a data frame, or texts, one after the other."""
    yield from in_pieces(rows, 1) if hasattr(rows, "tocsr") or is_frame(rows) else rows


def is_one_by_one(rows: Any) -> bool:
    """Return whether rows are a list of tables of one row each, such as a frame or a series."""
    return (
        isinstance(rows, list) and bool(rows) and all(hasattr(row, "iloc") or is_frame(row) for row in rows)
    )


def chosen_rows(rows: Any, numbers: Sequence[int]) -> Any:
    """Return the rows of a matrix or a data frame that have these numbers."""
    return _places(rows)[numbers]


def _places(rows: Any) -> Any:
    """Return what takes the numbers of rows in brackets."""
    return rows.iloc if hasattr(rows, "iloc") else rows
