"""The units of a text: words with all their occurrences, single occurrences, or sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import IntArray
from butfor.models.text.atoms import Atoms, Members, atoms_of, covered, touches_of, word_names
from butfor.models.text.grams import overlapped
from butfor.models.text.readings import TextReading
from butfor.models.text.spans import Span, as_array, sentences_of, whole_words_of

UNITS = ("word", "occurrence", "sentence")
"""The kinds of units, by name."""


@dataclass(frozen=True)
class TextUnits:
    """The units of one text, in its order; those whose place is unknown come last."""

    names: tuple[str, ...]
    """A word as the vectoriser knows it; an occurrence or a sentence as it stands in the text."""
    spans: tuple[tuple[Span, ...], ...]
    """All places of each unit in the text; none if they are unknown. Units never overlap."""
    grams: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """For each occurrence of an n-gram with a value in the row: its column, and the units that it touches."""


def require_unit(unit: object) -> None:
    """Raise `InputError` unless this is the name of a kind of units."""
    if unit not in UNITS:
        raise InputError(f"unit must be one of {', '.join(UNITS)}, got {unit!r}.")


def require_text(text: object) -> None:
    """Raise `InputError` unless this is a string."""
    if not isinstance(text, str):
        raise InputError(f"text must be a string, got {type(text).__name__}. Decode bytes, read files first.")


def units_of_text(text: str, unit: str = "word") -> TextUnits:
    r"""Return the units of a text without a known vectoriser: words are `\w+`, whatever their case.

    Some signs within a word belong to it: "don't", "1,000", "prizes.example".

    >>> units_of_text("Free prize! free?")
    TextUnits(names=('free', 'prize'), spans=(((0, 4), (12, 16)), ((5, 10),)), grams=())
    >>> units_of_text("Free prize! free?", unit="sentence").names
    ('Free prize!', 'free?')
    """
    require_text(text)
    require_unit(unit)
    spans = sentences_of(text) if unit == "sentence" else whole_words_of(text)
    names = word_names(text, as_array(spans)) if unit == "word" else [text[start:end] for start, end in spans]
    if unit != "word":
        return TextUnits(tuple(names), tuple((span,) for span in spans))
    places: dict[str, list[Span]] = {}
    for name, span in zip(names, spans, strict=True):
        places.setdefault(name, []).append(span)
    return TextUnits(tuple(places), tuple(map(tuple, places.values())))


def gather(text: str, unit: str, readings: Sequence[TextReading], columns: Sequence[IntArray]) -> TextUnits:
    """Return the units that touch a column, from what vectorisers read in the text.

    `columns` are the columns of the grams of each reading, -1 for none.
    """
    atoms = atoms_of(text, readings)
    touches = touches_of(atoms, readings, columns)
    touched = np.concatenate([np.zeros(0, dtype=np.intp), *(each.touched() for each in touches)])
    if unit == "sentence":
        names, spans, members = _sentences(text, atoms, touched)
    else:
        names, spans, members = _words(text, atoms, touched, together=unit == "word")
    grams = chain.from_iterable(each.grams(members) for each in touches)
    return TextUnits(tuple(names), tuple(spans), tuple(grams))


def _sentences(
    text: str, atoms: Atoms, touched: IntArray
) -> tuple[list[str], list[tuple[Span, ...]], Members]:
    """Make a unit of each sentence.

    An atom across two sentences belongs to both, one without a place to none.
    """
    sentences = as_array(sentences_of(text))
    first, stop = overlapped(sentences, *atoms.spans.T)
    placed = touched[touched < len(first)]
    kept = covered(first[placed], stop[placed], len(sentences))
    numbers = (np.cumsum(kept) - 1).tolist()
    members = [tuple(numbers[low:high]) for low, high in zip(first.tolist(), stop.tolist(), strict=True)]
    spans = [(start, end) for start, end in sentences[kept].tolist()]
    names = [text[start:end] for start, end in spans]
    return names, [(span,) for span in spans], members + [()] * (atoms.n - len(members))


def _words(
    text: str, atoms: Atoms, touched: IntArray, *, together: bool
) -> tuple[list[str], list[tuple[Span, ...]], Members]:
    """Make units of atoms: one of all atoms that share a name if `together`, otherwise one of each."""
    numbers = atoms.by_name() if together else np.arange(atoms.n)
    kept = np.unique(numbers[touched])
    numbers = np.where(np.isin(numbers, kept), np.searchsorted(kept, numbers), -1)
    spans = _places(atoms, numbers, len(kept))
    surfaces = [text[slice(*places[0])] if places else "" for places in spans]
    names = _names(atoms, numbers, len(kept))
    if together:
        names = [name or surface for name, surface in zip(names, surfaces, strict=True)]
    else:
        names = [surface or name for name, surface in zip(names, surfaces, strict=True)]
    return names, spans, list(zip(numbers.tolist(), strict=True))


def _places(atoms: Atoms, numbers: IntArray, n_units: int) -> list[tuple[Span, ...]]:
    """Return the places of each unit, in the order of the text."""
    placed = numbers[: len(atoms.spans)]
    order = np.argsort(placed, kind="stable")
    spans = [(start, end) for start, end in atoms.spans[order].tolist()]
    bounds = np.searchsorted(placed[order], np.arange(n_units + 1)).tolist()
    return [tuple(spans[low:high]) for low, high in pairwise(bounds)]


def _names(atoms: Atoms, numbers: IntArray, n_units: int) -> list[str]:
    """Return the one name that all atoms of a unit have; "" if there is none, or more than one."""
    n_names = len(atoms.names)
    # Each pair of numbers is packed into one, because pairs are much slower to sort.
    called, names = np.divmod(np.unique(atoms.called @ [n_names, 1]), n_names)
    of_names = numbers[called]
    pairs, counts = np.unique((of_names * n_names + names)[of_names >= 0], return_counts=True)
    units, names = np.divmod(pairs, n_names)
    sizes = np.bincount(numbers[numbers >= 0], minlength=n_units)
    everywhere = counts == sizes[units]
    single = np.bincount(units[everywhere], minlength=n_units) == 1
    named = [""] * n_units
    for unit, name in zip(units[everywhere].tolist(), names[everywhere].tolist(), strict=True):
        named[unit] = atoms.names[name] if single[unit] else ""
    return named
