"""The units of a text: words with all their occurrences, single occurrences, or sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    n_unread: int = field(default=0, repr=False)
    """How many more units the text has, which the model does not read."""


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
    return _of_spans(text, unit, sentences_of(text) if unit == "sentence" else whole_words_of(text))


def units_by_tokens(text: str, unit: str, tokens: Sequence[Span]) -> TextUnits:
    r"""Return the units of a text of which a model reads these tokens, by their places.

    Units are words, and what else has tokens: signs, symbols and emoji, as far as they stand together. Units
    without any token are not read, such as those beyond the length of a model: they are counted.

    >>> units = units_by_tokens("Free prize!! call now", "word", [(0, 4), (5, 8), (8, 10), (10, 12)])
    >>> units
    TextUnits(names=('free', 'prize', '!!'), spans=(((0, 4),), ((5, 10),), ((10, 12),)), grams=())
    >>> units.n_unread
    2
    """
    require_text(text)
    require_unit(unit)
    if unit == "sentence":
        spans = sentences_of(text)
    else:
        words = whole_words_of(text)
        in_words, trimmed = as_array(words), [_trimmed(text, span) for span in tokens]
        others = as_array(span for span in trimmed if span[0] < span[1])
        first, stop = overlapped(in_words, *others.T)
        spans = sorted([*words, *_joined(others[first == stop].tolist())])
    read = as_array(sorted((start, end) for start, end in tokens if start < end))
    units = _of_spans(text, unit, spans)
    first, stop = overlapped(read, *as_array(place for places in units.spans for place in places).T)
    of_unit = np.repeat(np.arange(len(units.spans)), [len(places) for places in units.spans])
    kept = np.unique(of_unit[first < stop]).tolist()
    return TextUnits(
        tuple(units.names[i] for i in kept),
        tuple(units.spans[i] for i in kept),
        n_unread=len(units.names) - len(kept),
    )


def _trimmed(text: str, span: Span) -> Span:
    """Return a span without the blanks at its ends."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _joined(spans: Sequence[Sequence[int]]) -> list[Span]:
    """Return spans, those that touch or overlap as one."""
    joined: list[Span] = []
    for start, end in sorted((start, end) for start, end in spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _of_spans(text: str, unit: str, spans: Sequence[Span]) -> TextUnits:
    """Return the units at these places; words of one name are one."""
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
