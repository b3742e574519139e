"""Where the evidence is: a text cut at its spans, a row's items with the removed ones first."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from butfor.explanation import Explanation

Piece = tuple[str, bool]
"""A piece of text, or an item, and whether it is evidence."""


def pieces(text: str, spans: tuple[tuple[tuple[int, int], ...], ...]) -> Iterator[Piece]:
    """Cut a text into evidence and the rest; joined, the pieces are the text.

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


def items(why: "Explanation") -> Iterator[Piece]:
    """Give the removed items in the order of their removal, then the others in the row's."""
    yield from ((name, True) for name in why.features)
    left = Counter(why.features)  # of two items with one name, one may be gone
    for name in why.items:
        if left[name]:
            left[name] -= 1
        else:
            yield name, False


def not_in_text(why: "Explanation") -> tuple[str, ...]:
    """Give the removed features whose place in the text is not known."""
    return tuple(name for i, name in enumerate(why.features) if not any(why.spans[i : i + 1]))
