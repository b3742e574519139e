"""The n-grams that scikit-learn forms, in its own order, each with the stretch that it is made of."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from butfor.models.arrays import IntArray
from butfor.models.text.spans import runs_of_nonblanks

Grams = tuple[list[Any], IntArray, IntArray]
"""Grams; for each the first of the tokens or characters that it is made of, and the first after it."""


def word_grams(tokens: Sequence[Any], smallest: int, largest: int) -> Grams:
    """Form n-grams of words, that is, of tokens.

    >>> grams, first, stop = word_grams(["win", "a", "prize"], 1, 2)
    >>> grams[3:], first[3:].tolist(), stop[3:].tolist()
    (['win a', 'a prize'], [0, 1], [2, 3])
    """
    first, stop = _stretches(len(tokens), smallest, largest)
    pairs = zip(first.tolist(), stop.tolist(), strict=True)
    return [tokens[at] if end - at == 1 else " ".join(tokens[at:end]) for at, end in pairs], first, stop


def char_grams(text: str, smallest: int, largest: int) -> Grams:
    """Form n-grams of characters."""
    first, stop = _stretches(len(text), smallest, largest)
    return [text[at:end] for at, end in zip(first.tolist(), stop.tolist(), strict=True)], first, stop


def _stretches(length: int, smallest: int, largest: int) -> tuple[IntArray, IntArray]:
    sizes = range(smallest, min(largest, length) + 1)
    first = [np.arange(length - size + 1) for size in sizes]
    stop = [starts + size for starts, size in zip(first, sizes, strict=True)]
    none = np.zeros(0, dtype=np.intp)
    return np.concatenate([none, *first]), np.concatenate([none, *stop])


def bounded_char_grams(text: str, smallest: int, largest: int) -> Grams:
    """Form n-grams of characters within words, each word between two blanks (scikit-learn's char_wb).

    These blanks are not in the text, so a gram is made of the word's own characters.

    >>> grams, first, stop = bounded_char_grams("ab", 3, 9)
    >>> grams, first.tolist(), stop.tolist()
    ([' ab', 'ab ', ' ab '], [0, 0, 0], [2, 2, 2])
    """
    grams: list[str] = []
    ranges = [(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))]
    known: dict[str, Grams] = {}
    words = runs_of_nonblanks(text)
    for start, end in words:
        word = text[start:end]
        if word not in known:
            known[word] = _grams_of_word(word, smallest, largest)
        own, first, stop = known[word]
        grams += own
        ranges.append((first + start, stop + start))
    first, stop = map(np.concatenate, zip(*ranges, strict=True))
    return grams, first, stop


def _grams_of_word(word: str, smallest: int, largest: int) -> Grams:
    padded = f" {word} "
    grams, first, stop = [], [], []
    for size in range(smallest, largest + 1):
        for at in range(max(1, len(padded) - size + 1)):
            grams.append(padded[at : at + size])
            first.append(max(0, at - 1))
            stop.append(min(len(word), at - 1 + size))
        if len(padded) <= size:
            break  # a word shorter than the size gives one gram only
    return grams, np.array(first, dtype=np.intp), np.array(stop, dtype=np.intp)


def overlapped(spans: IntArray, first: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
    """Return, for each stretch, the first of the disjoint spans that it overlaps, and the first after those.

    >>> spans = np.array([[0, 4], [5, 9]])
    >>> first, stop = overlapped(spans, np.array([2, 4, 3]), np.array([6, 5, 3]))
    >>> first.tolist(), stop.tolist()
    ([0, 1, 0], [2, 1, 0])
    """
    real = first < stop
    return (
        np.where(real, np.searchsorted(spans[:, 1], first, side="right"), 0),
        np.where(real, np.searchsorted(spans[:, 0], stop, side="left"), 0),
    )
