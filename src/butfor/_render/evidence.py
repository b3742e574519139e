"""Texts and items of a row split into evidence and the rest."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

Piece = tuple[str, bool]
"""A piece of a text, or an item, and whether it is evidence."""


Column = tuple[str, list[Piece]]
"""A column of a record: its name, and its cell in pieces."""
COLUMNS_SHOWN = 15
"""Columns of a record up to which all are shown."""


def pieces(text: str, spans: tuple[tuple[tuple[int, int], ...], ...]) -> Iterator[Piece]:
    """Yield a text in pieces, each either evidence or not; joined, the pieces are the text.

    >>> list(pieces("free prize", (((0, 4),),)))
    [('free', True), (' prize', False)]
    """
    end = 0
    for start, stop in sorted(span for places in spans for span in places):
        start, stop = max(start, end), min(stop, len(text))
        if start < stop:
            if end < start:
                yield text[end:start], False
            yield text[start:stop], True
            end = stop
    if text[end:]:
        yield text[end:], False


def record(why: "Explanation") -> Iterator[Column]:
    """Yield the columns of a record, each with its cell in pieces."""
    for column, (name, cell) in enumerate(why.table):
        spans = tuple(mark[1:] for marks in why.marks for mark in marks if mark[0] == column)
        yield name, list(pieces(cell, (spans,)))


def shown_columns(why: "Explanation") -> tuple[list[Column], list[Column]]:
    """Return the columns of a record that are shown, and the others: in a wide one, those without marks."""
    columns = list(record(why))
    if len(columns) <= COLUMNS_SHOWN:
        return columns, []
    marked = [any(gone for _, gone in cell) for _, cell in columns]
    return (
        [column for column, is_marked in zip(columns, marked, strict=True) if is_marked],
        [column for column, is_marked in zip(columns, marked, strict=True) if not is_marked],
    )


def items(why: "Explanation") -> Iterator[Piece]:
    """Yield the removed items in the order of their removal, then the others in the order of the row."""
    yield from ((name, True) for name in why.features)
    left = Counter(why.features)  # of two items with one name, only one may be removed
    for name in why.items:
        if left[name]:
            left[name] -= 1
        else:
            yield name, False


def not_in_text(why: "Explanation") -> tuple[str, ...]:
    """Return the removed features whose spans in the text are not known."""
    return tuple(name for i, name in enumerate(why.features) if not any(why.spans[i : i + 1]))
