"""Atoms: the smallest pieces of a text that can be removed alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.text.grams import overlapped
from butfor.models.text.readings import TextReading
from butfor.models.text.spans import as_array, disjoint, with_marks, words_of

Members = list[tuple[int, ...]]
"""For each atom the units that it belongs to."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Tokens of all readings of a text; tokens that overlap are one atom.

    Atoms whose place is known come first, in the order of the text.
    """

    spans: IntArray
    """The spans of those atoms that have a place (atoms × 2)."""
    n: int
    names: list[str]
    called: IntArray
    """The names that vectorisers give to atoms: pairs of an atom and the number of a name."""
    of_tokens: list[IntArray]
    """For each reading, the atoms of its tokens; for a reading by characters, all atoms with a place."""

    def by_name(self) -> IntArray:
        """Number the atoms so that those that share a name, directly or through others, have one number."""
        atoms, names = self.called.T
        size = self.n + len(self.names)
        links = sparse.coo_array((np.ones(len(atoms)), (atoms, names + self.n)), shape=(size, size))
        _, groups = sparse.csgraph.connected_components(links, directed=False)
        _, first, numbers = np.unique(groups[: self.n], return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))  # by the first atom of each
        return np.asarray(order[numbers], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Touches:
    """The grams of a reading that have a column, each made of `atoms` from `first` to before `stop`."""

    columns: IntArray
    first: IntArray
    stop: IntArray
    atoms: IntArray

    def touched(self) -> IntArray:
        """Return the atoms that are in a gram."""
        return self.atoms[covered(self.first, self.stop, len(self.atoms))]

    def grams(self, members: Members) -> list[tuple[int, tuple[int, ...]]]:
        """Return the column of each gram and the units that it touches, for those that touch any."""
        of_atoms = [members[atom] for atom in self.atoms.tolist()]
        units = [
            of_atoms[at] if end - at == 1 else tuple(sorted(set().union(*of_atoms[at:end])))
            for at, end in zip(self.first.tolist(), self.stop.tolist(), strict=True)
        ]
        return [gram for gram in zip(self.columns.tolist(), units, strict=True) if gram[1]]


def touches_of(atoms: Atoms, readings: Sequence[TextReading], columns: Sequence[IntArray]) -> list[Touches]:
    """Return, for each reading, which atoms its grams are made of, for grams with a column (-1 is none)."""
    touches = []
    for reading, own, of_tokens in zip(readings, columns, atoms.of_tokens, strict=True):
        first, stop = reading.first, reading.stop
        if reading.by_characters:
            first, stop = overlapped(atoms.spans, first, stop)
        kept = (own >= 0) & (first < stop)
        touches.append(Touches(own[kept], first[kept], stop[kept], of_tokens))
    return touches


def covered(first: IntArray, stop: IntArray, length: int) -> BoolArray:
    """Return which of `length` positions lie in one of the ranges.

    >>> covered(np.array([1, 2]), np.array([3, 3]), 4).tolist()
    [False, True, True, False]
    """
    change = np.bincount(first, minlength=length + 1) - np.bincount(stop, minlength=length + 1)
    return np.cumsum(change)[:length] > 0


def atoms_of(text: str, readings: Sequence[TextReading]) -> Atoms:
    """Return the atoms of a text.

    Where a vectoriser reads characters, words that are tokens of no other vectoriser are atoms too.
    """
    places = np.concatenate([np.zeros((0, 2), dtype=np.intp), *(reading.places for reading in readings)])
    spans = with_marks(text, disjoint(places[places[:, 0] < places[:, 1]]))
    fillers = np.zeros((0, 2), dtype=np.intp)
    if any(reading.by_characters for reading in readings):
        fillers = _between(spans, as_array(words_of(text)))
        spans = disjoint(np.concatenate([spans, fillers]))
    number: dict[str, int] = {}
    n, of_tokens = len(spans), []
    called = [_called(_at(spans, fillers), word_names(text, fillers), number)]
    for reading in readings:
        atoms = _at(spans, reading.places)
        unplaced = np.flatnonzero(reading.places[:, 0] >= reading.places[:, 1])
        atoms[unplaced] = n + np.arange(len(unplaced))
        n += len(unplaced)
        called.append(_called(atoms, reading.tokens, number))
        of_tokens.append(np.arange(len(spans)) if reading.by_characters else atoms)
    return Atoms(spans, n, list(number), np.concatenate(called), of_tokens)


def word_names(text: str, spans: IntArray) -> list[str]:
    """Name words so that those that differ only in case have one name."""
    names: dict[str, str] = {}
    words = (text[start:end] for start, end in spans.tolist())
    return [names.setdefault(word.casefold(), word.lower()) for word in words]


def _at(spans: IntArray, places: IntArray) -> IntArray:
    """Return the span that each place lies in."""
    return np.searchsorted(spans[:, 0], places[:, 0], side="right") - 1


def _called(atoms: IntArray, names: Sequence[str], number: dict[str, int]) -> IntArray:
    numbers = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.intp)
    return np.column_stack([atoms, numbers])


def _between(spans: IntArray, words: IntArray) -> IntArray:
    """Return the words that overlap none of the spans."""
    first, stop = overlapped(spans, *words.T)
    return words[first >= stop]
