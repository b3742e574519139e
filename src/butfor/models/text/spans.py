"""Spans of characters: the words and sentences of a text, and the text without some of them."""

import re
import unicodedata
from collections.abc import Iterable

import numpy as np

from butfor.models.arrays import IntArray

Span = tuple[int, int]
"""The start of a stretch of characters, and the position after its end."""

# Han and kana are written without blanks, so each of their characters is a word of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTERS = re.compile(r"\w+")
_NONBLANKS = re.compile(r"\S+")
# The lookbehind keeps the time for a long run of dots linear in its length.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?=\s|\Z)|[。！？]+[」』”’]*|[\r\n]+")


def words_of(text: str) -> list[Span]:
    r"""Return the spans of words: letters, digits and _ (`\w+`), with combining accents.

    >>> [text[slice(*span)] for text in ["Free, free!", "cafe\u0301s 東京"] for span in words_of(text)]
    ['Free', 'free', 'cafés', '東', '京']
    """
    marks = "" if text.isascii() else "".join(sorted(filter(_is_mark, set(text))))
    return [match.span() for match in re.finditer(_word_pattern(marks), text)]


def whole_words_of(text: str) -> list[Span]:
    """Return the spans of words with single signs that belong to them: "don't", "1,000", "prizes.example".

    >>> text = "Don't pay £1,000.50! win. now-or-never"
    >>> [text[slice(*span)] for span in whole_words_of(text)]
    ["Don't", 'pay', '1,000.50', 'win', 'now', 'or', 'never']
    """
    whole: list[Span] = []
    for start, end in words_of(text):
        if whole and start - whole[-1][1] == 1 and _joins(text, whole[-1][1]):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return whole


def places_of_runs(text: str, runs: Iterable[str]) -> dict[str, list[Span]]:
    r"""Return the places of whole runs of letters, digits and _ (`\w+`).

    >>> places_of_runs("free, freedom and free", ["free"])
    {'free': [(0, 4), (18, 22)]}
    """
    places: dict[str, list[Span]] = {}
    for run in runs:
        own = places.setdefault(run, [])
        start = text.find(run)
        while start >= 0:
            end = start + len(run)
            if not (start and _is_letter(text[start - 1])) and not _is_letter(text[end : end + 1]):
                own.append((start, end))
            start = text.find(run, end)
    return places


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def in_order(unit_spans: Iterable[Iterable[Span]]) -> IntArray:
    """Return the units in the order of their places, each as often as it stands in the text.

    >>> in_order([[(0, 4), (11, 15)], [(5, 10)]])
    array([0, 1, 0])
    """
    places = sorted((start, unit) for unit, spans in enumerate(unit_spans) for start, _ in spans)
    return np.array([unit for _, unit in places], dtype=np.intp)


def _joins(text: str, at: int) -> bool:
    """Return whether the sign between two words joins them into one."""
    sign, before, after = text[at], text[at - 1], text[at + 1]
    if sign in "'’":
        return True
    return (sign == "." and before.isalnum() and after.isalnum()) or (
        sign == "," and (before + after).isdigit()
    )


def runs_of_letters(text: str) -> list[Span]:
    r"""Return the spans of the pattern `\w+`, which splits letters from accents and keeps Han together."""
    return [match.span() for match in _LETTERS.finditer(text)]


def _word_pattern(marks: str) -> str:
    spaced = rf"[^\W{_UNSPACED}]+"
    if not marks:
        return rf"{spaced}|(?=\w)[{_UNSPACED}]"
    return rf"{spaced}(?:[{marks}]+(?:{spaced})?)*|(?=\w)[{_UNSPACED}][{marks}]*"


def _is_mark(character: str) -> bool:
    """Return whether this is an accent or vowel sign, which belongs to the letter before it."""
    return unicodedata.category(character)[0] == "M"


def runs_of_nonblanks(text: str) -> list[Span]:
    """Return the spans of what blanks separate."""
    return [match.span() for match in _NONBLANKS.finditer(text)]


def sentences_of(text: str) -> list[Span]:
    r"""Return the spans of sentences: they end at a line break, or at . ! ? … before a blank (。 anywhere).

    The rule is simple: the full stop of an abbreviation ends a sentence too, so "Mr. Smith" is two.

    >>> text = "Free prize! Call 1.5 times...\nSee you"
    >>> [text[slice(*span)] for span in sentences_of(text)]
    ['Free prize!', 'Call 1.5 times...', 'See you']
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    spans = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        sentence = text[start:end]
        start += len(sentence) - len(sentence.lstrip())
        end = start + len(sentence.strip())
        if start < end:
            spans.append((start, end))
    return spans


def as_array(spans: Iterable[Span]) -> IntArray:
    """Return spans as an array of starts and ends (spans × 2)."""
    return np.array(list(spans), dtype=np.intp).reshape(-1, 2)


def disjoint(spans: IntArray) -> IntArray:
    """Sort spans and merge those that overlap; spans that only touch stay apart.

    >>> disjoint(as_array([(5, 7), (0, 2), (1, 4), (4, 5)])).tolist()
    [[0, 4], [4, 5], [5, 7]]
    """
    if not len(spans):
        return spans
    starts, ends = spans[np.lexsort(spans.T[::-1])].T
    new = np.append(True, starts[1:] >= np.maximum.accumulate(ends)[:-1])
    return np.column_stack([starts[new], np.maximum.reduceat(ends, np.flatnonzero(new))])


def with_marks(text: str, spans: IntArray) -> IntArray:
    """Extend disjoint spans by the accents after them, which would otherwise be left without a letter."""
    if text.isascii() or not any(map(_is_mark, set(text))):
        return spans
    ends = []
    limits = [*spans[1:, 0].tolist(), len(text)]
    for end, limit in zip(spans[:, 1].tolist(), limits, strict=False):
        while end < limit and _is_mark(text[end]):
            end += 1
        ends.append(end)
    return np.column_stack([spans[:, 0], np.array(ends, dtype=np.intp)])


def without(text: str, spans: Iterable[Span], mask: str | None = None) -> str:
    r"""Return the text without the spans, or with the mask in the place of each.

    All other characters stay, except for blanks around a cut. Of the blanks on its two sides one run is
    removed: the one without a line break, otherwise the second. A cut at an end of the text also removes the
    blanks beside it. A blank separates letters that a cut would bring together.

    >>> without("A free prize, free!", [(2, 6), (14, 18)])
    'A prize, !'
    >>> without("A free prize, free!", [(2, 6), (14, 18)], mask="[MASK]")
    'A [MASK] prize, [MASK]!'
    >>> without("win\ncash", [(0, 3)]), without("freePrizeNow", [(4, 9)])
    ('cash', 'free Now')
    """
    kept, at = [], 0
    for start, end in sorted(spans):
        if start < at:  # it overlaps the span before it
            at = max(at, end)
            continue
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    return _joined(kept) if mask is None else mask.join(kept)


def _joined(kept: list[str]) -> str:
    """Join the pieces that cuts left over."""
    joined = kept[:1]
    for piece in kept[1:]:
        left = joined[-1]
        if not left or left[-1].isspace():
            if left and _has_break(_leading(piece)) and not _has_break(left[len(left.rstrip()) :]):
                joined[-1] = left.rstrip()
            else:
                piece = piece.lstrip()
        elif piece and is_letter(left[-1]) and is_letter(piece[0]):
            piece = " " + piece
        if piece:
            joined.append(piece)
    if len(kept) > 1 and not kept[-1]:
        joined[-1] = joined[-1].rstrip()
    return "".join(joined)


def _leading(piece: str) -> str:
    return piece[: len(piece) - len(piece.lstrip())]


def _has_break(blanks: str) -> bool:
    return "\n" in blanks or "\r" in blanks


def is_letter(character: str) -> bool:
    """Return whether a character can be in a word."""
    return character.isalnum() or character == "_" or _is_mark(character)
