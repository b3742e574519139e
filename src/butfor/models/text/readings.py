"""What a vectoriser reads in a text: its grams, and the tokens or characters that each is made of."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from butfor.models.arrays import IntArray
from butfor.models.text.alignment import Aligned, aligned, lowered, unchanged
from butfor.models.text.grams import bounded_char_grams, char_grams, overlapped, word_grams
from butfor.models.text.leaves import Leaf
from butfor.models.text.places import Cut, places_of
from butfor.models.text.spans import (
    as_array,
    disjoint,
    runs_of_letters,
    runs_of_nonblanks,
    sentences_of,
    words_of,
)


@dataclass(frozen=True, eq=False)
class TextReading:
    """Grams, each made of tokens, or of characters of the text, from its `first` to before its `stop`."""

    grams: list[Any]
    first: IntArray
    stop: IntArray
    tokens: list[str] = field(default_factory=list)
    places: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.intp))
    """The span of each token in the text (tokens × 2); an empty span where it is unknown."""
    by_characters: bool = False


def readings_of(leaf: Leaf, text: str, *, by_sentence: bool = False) -> list[TextReading]:
    """Read a text as the vectoriser does; the readings together have each of its grams once.

    The result is compared with the vectoriser's own analyzer. Where they differ, the analyzer's grams are
    taken and searched for in the text. For sentences it is enough to know in which one a token stands.
    """
    grams = leaf.analyze(text)
    cuts: list[Cut] = [runs_of_letters, words_of, runs_of_nonblanks]
    if by_sentence:
        cuts.append(sentences_of)
    reading = None
    if leaf.kind == "word":
        reading = _by_words(leaf, text, grams, cuts)
    elif leaf.kind in ("char", "char_wb"):
        reading = _by_characters(leaf, text, grams, cuts)
    return _as_they_are(leaf, text, grams, cuts) if reading is None else [reading]


def _by_words(leaf: Leaf, text: str, grams: list[Any], cuts: list[Cut]) -> TextReading | None:
    tokens = leaf.read(text)
    places = _token_places(leaf, tokens, text, cuts)
    if leaf.stop_words:
        kept = [at for at, token in enumerate(tokens) if token not in leaf.stop_words]
        tokens, places = [tokens[at] for at in kept], places[kept]
    reading = TextReading(*word_grams(tokens, *leaf.sizes), list(map(str, tokens)), places)
    return reading if reading.grams == grams else _renamed(leaf, text, grams, reading)


def _token_places(leaf: Leaf, tokens: list[Any], text: str, cuts: list[Cut]) -> IntArray:
    view = aligned(text, leaf.preprocess, leaf.preprocess_piece)
    if view is not None and leaf.pattern is not None:
        group = leaf.pattern.groups  # findall returns the group if there is one
        return view.places(as_array(match.span(group) for match in leaf.pattern.finditer(view.text)))
    read = leaf.read_piece if view is None else leaf.tokenize_piece
    return places_of(list(map(str, tokens)), _views(text, view), cuts, read)


def _views(text: str, view: Aligned | None = None) -> list[Aligned]:
    """Return the forms of the text in which tokens may be found; many tokenizers lower it themselves."""
    first, lower = view or unchanged(text), lowered(text)
    return [first] if first.text == lower.text else [first, lower]


def _renamed(leaf: Leaf, text: str, grams: list[Any], expected: TextReading) -> TextReading | None:
    """Return the expected reading with the analyzer's own names for its grams, or None.

    This is for subclasses that stem the grams of scikit-learn's analyzer. Each gram must be the last one, and
    so the longest, that the analyzer makes of the gram's piece of the text alone.
    """
    if len(grams) != len(expected.grams):
        return None
    tokens, places = list(expected.tokens), expected.places.tolist()
    for gram, at, end in zip(grams, expected.first.tolist(), expected.stop.tolist(), strict=True):
        # The piece is taken from the text itself where its place is known.
        piece = text[places[at][0] : places[end - 1][1]] or " ".join(expected.tokens[at:end])
        made = leaf.analyze_piece(piece)
        if not made or made[-1] != str(gram):
            return None
        if end - at == 1:
            tokens[at] = str(gram)
    return replace(expected, grams=grams, tokens=tokens)


def _by_characters(leaf: Leaf, text: str, grams: list[Any], cuts: list[Cut]) -> TextReading | None:
    view = aligned(text, leaf.preprocess, leaf.preprocess_piece)
    flat = (view or unchanged(str(leaf.preprocess(text)))).collapsed()
    form = char_grams if leaf.kind == "char" else bounded_char_grams
    expected, first, stop = form(flat.text, *leaf.sizes)
    if expected != grams:
        return None
    if view is not None:
        first, stop = flat.places(np.column_stack([first, stop])).T
        return TextReading(grams, first, stop, by_characters=True)
    words = words_of(flat.text)
    tokens = [flat.text[start:end] for start, end in words]
    places = places_of(tokens, _views(text), cuts, leaf.words_of_piece)
    return TextReading(grams, *overlapped(as_array(words), first, stop), tokens, places)


def _as_they_are(leaf: Leaf, text: str, grams: list[Any], cuts: list[Cut]) -> list[TextReading]:
    """Take each gram for a token; but grams that overlap in the text are made of its characters."""
    names = list(map(str, grams))
    places = places_of(names, _views(text), cuts, leaf.analyze_piece)
    known = np.flatnonzero(places[:, 0] < places[:, 1])
    if len(disjoint(places[known])) == len(np.unique(places[known], axis=0)):
        return [_of_tokens(grams, names, places)]
    first, stop = places[known].T
    unknown = np.flatnonzero(places[:, 0] >= places[:, 1])
    return [
        TextReading([grams[at] for at in known], first, stop, by_characters=True),
        _of_tokens([grams[at] for at in unknown], [names[at] for at in unknown], places[unknown]),
    ]


def _of_tokens(grams: list[Any], tokens: list[str], places: IntArray) -> TextReading:
    positions = np.arange(len(grams) + 1)
    return TextReading(grams, positions[:-1], positions[1:], tokens, places)
