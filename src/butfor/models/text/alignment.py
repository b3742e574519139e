"""A preprocessed text, with the position of each character in the user's own text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from butfor.models.arrays import IntArray
from butfor.models.text.spans import is_letter, words_of

Change = Callable[[str], Any]

_BLANKS = re.compile(r"\s\s+")


@dataclass(frozen=True, eq=False)
class Aligned:
    """A changed text; for each of its characters, the span in the original text that it comes from."""

    text: str
    starts: IntArray
    ends: IntArray

    def places(self, spans: IntArray) -> IntArray:
        """Return spans of the changed text as spans of the original one; (0, 0) where they are empty."""
        places = np.zeros_like(spans)
        real = spans[:, 0] < spans[:, 1]
        places[real] = np.column_stack([self.starts[spans[real, 0]], self.ends[spans[real, 1] - 1]])
        return places

    def collapsed(self) -> "Aligned":
        """Replace each run of blanks by one, as vectorisers do for n-grams of characters."""
        kept = np.ones(len(self.text), dtype=bool)
        for match in _BLANKS.finditer(self.text):
            kept[match.start() + 1 : match.end()] = False
        return Aligned(_BLANKS.sub(" ", self.text), self.starts[kept], self.ends[kept])


def unchanged(text: str) -> Aligned:
    """Align a text with itself.

    >>> unchanged("free").places(np.array([[0, 2], [1, 1]])).tolist()
    [[0, 2], [0, 0]]
    """
    return _in_step(text)


def aligned(text: str, change: Change, change_piece: Change | None = None) -> Aligned | None:
    """Return the changed text with the origin of each character, or None if it cannot be found.

    The text is changed character by character, otherwise word by word, otherwise by the runs between
    blanks. The first of these that gives the changed text again shows where its characters come from.
    `change_piece` is `change` for short pieces.

    >>> lower = aligned("İzmir, ﬁne!", str.lower)
    >>> lower.text, lower.places(np.array([[0, 6], [8, 12]])).tolist()
    ('i̇zmir, ﬁne!', [[0, 5], [7, 11]])
    >>> aligned("ab cd", lambda text: text[::-1]) is None
    True
    """
    changed = change(text)
    if not isinstance(changed, str):
        return None
    if changed == text or (text.isascii() and changed == text.lower()):
        return _in_step(changed)
    for pieces in _cuts(text):
        changed_pieces = _changed(pieces, change_piece or change)
        if changed_pieces is not None and _same("".join(changed_pieces), changed):
            return _with_vanished(text, _by_pieces(changed, pieces, changed_pieces))
    return None


def lowered(text: str) -> Aligned:
    """Return the text in lower case, aligned."""
    return aligned(text, str.lower) or unchanged(text)


def _in_step(changed: str) -> Aligned:
    positions = np.arange(len(changed) + 1)
    return Aligned(changed, positions[:-1], positions[1:])


def _cuts(text: str) -> Iterator[list[str]]:
    yield list(text)
    bounds = sorted({0, len(text), *(bound for word in words_of(text) for bound in word)})
    yield [text[start:end] for start, end in pairwise(bounds)]
    yield re.findall(r"\s+|\S+", text)


def _changed(pieces: list[str], change: Change) -> list[str] | None:
    changed: dict[str, str] = {}
    for piece in dict.fromkeys(pieces):
        try:
            new = change(piece)
        except Exception:  # a function for whole texts may fail on a piece
            return None
        if not isinstance(new, str):
            return None
        changed[piece] = new
    return [changed[piece] for piece in pieces]


def _same(joined: str, changed: str) -> bool:
    """Compare, but ignore sigma, the one letter whose lower case depends on what follows it."""
    return joined == changed or (len(joined) == len(changed) and joined.casefold() == changed.casefold())


def _by_pieces(changed: str, pieces: list[str], changed_pieces: list[str]) -> Aligned:
    """Align piece by piece: character by character if a piece kept its length, otherwise as a whole."""
    before, after = (np.fromiter(map(len, each), dtype=np.intp) for each in (pieces, changed_pieces))
    inner = np.arange(len(changed)) - np.repeat(np.cumsum(after) - after, after)
    in_step = np.repeat(before == after, after)
    ends = np.repeat(np.cumsum(before), after)
    starts = ends - np.repeat(before, after) + np.where(in_step, inner, 0)
    return Aligned(changed, starts, np.where(in_step, starts + 1, ends))


def _with_vanished(text: str, view: Aligned) -> Aligned:
    """Count letters that left nothing behind to the letter beside them: "odz" comes from all of "Łódź"."""
    starts, ends = view.starts.copy(), view.ends.copy()
    gap_starts, gap_ends = np.append(0, ends), np.append(starts, len(text))
    for gap in np.flatnonzero(gap_starts < gap_ends).tolist():
        first, stop = int(gap_starts[gap]), int(gap_ends[gap])
        if gap > 0 and is_letter(text[first - 1]):
            while first < stop and is_letter(text[first]):
                first += 1
            ends[gap - 1] = first
        if gap < len(starts) and is_letter(text[stop]):
            while first < stop and is_letter(text[stop - 1]):
                stop -= 1
            starts[gap] = stop
    return Aligned(view.text, starts, ends)
