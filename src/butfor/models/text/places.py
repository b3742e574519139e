"""The places of tokens: where in a text the tokens of a tokenizer stand."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.text.alignment import Aligned
from butfor.models.text.spans import Span, as_array, runs_of_nonblanks, words_of

Read = Callable[[str], Sequence[str] | None]
"""A tokenizer for pieces of a text; it returns None where it fails."""

Cut = Callable[[str], list[Span]]
"""A function that cuts a text into pieces."""

Shape = tuple[int, int, int]
"""The number of words of a token, and of other characters before the first and after the last."""

_LETTER = re.compile(r"\w")
_PIECES = re.compile(r"\w+|[^\w\s]")
_MOST_SHAPES = 50  # each costs a pass through the text
_FEW, _FAR = 3, 10  # up to how many tokens are guessed between others, and skipped at once


def places_of(tokens: list[str], views: list[Aligned], cuts: list[Cut], read: Read) -> IntArray:
    """Return the span of each token in the text (tokens × 2); an empty span where it is unknown.

    `views` are the forms of the text in which tokens may be found; `read` takes its tokens from the first.
    `cuts` are ways to cut the text into pieces. The most reliable methods come first. `tiled` and `by_pieces`
    find all tokens or none. `counted` and `in_step` may leave some open; the one that finds more is used.
    """
    for view in views:
        spans = tiled(tokens, view.text)
        if spans is not None:
            return view.places(as_array(spans))
    for cut in cuts:
        spans = by_pieces(tokens, views[0].text, cut, read)
        if spans is not None:
            return views[0].places(as_array(spans))
    places = np.zeros((len(tokens), 2), dtype=np.intp)
    for view in views:
        found = view.places(as_array(counted(tokens, view.text)))
        places = np.where(_known(places)[:, np.newaxis], places, found)
    if _known(places).all():
        return places
    others = views[0].places(as_array(in_step(tokens, views[0].text, runs_of_nonblanks, read)))
    return others if _known(others).sum() > _known(places).sum() else places


def _known(places: IntArray) -> BoolArray:
    return places[:, 0] < places[:, 1]


def tiled(tokens: Sequence[str], text: str) -> list[Span] | None:
    """Return the spans of tokens that follow one another with no letter left over; otherwise None.

    >>> tiled(["do", "n't", "go"], "don't go!")
    [(0, 2), (2, 5), (6, 8)]
    >>> tiled(["go"], "don't go!") is None
    True
    """
    spans, at = [], 0
    for token in tokens:
        start = text.find(token, at)
        if not token:
            start = at  # some tokenizers return empty tokens, which stand nowhere
        if start < 0 or _LETTER.search(text, at, start):
            return None
        at = start + len(token)
        spans.append((start, at))
    return None if _LETTER.search(text, at) else spans


def by_pieces(tokens: Sequence[str], text: str, cut: Cut, read: Read) -> list[Span] | None:
    """Return the spans of tokens by reading the text piece by piece; None unless that gives all tokens.

    >>> by_pieces(["runn", "fast"], "Running fast!", words_of, lambda word: [word.lower()[:4]])
    [(0, 7), (8, 12)]
    """
    spans: list[Span] = []
    for start, end in cut(text):
        piece = text[start:end]
        found = read(piece)
        if found is None or list(tokens[len(spans) : len(spans) + len(found)]) != list(found):
            return None
        spans += [(start + first, start + stop) for first, stop in _inside(found, piece, read)]
    return spans if len(spans) == len(tokens) else None


def in_step(tokens: Sequence[str], text: str, cut: Cut, read: Read) -> list[Span]:
    """Return the spans of tokens by reading pieces that give most of them, in their order.

    One to three tokens between others stand where the pieces between those stand, if these are as few. All
    other tokens are left open, with an empty span.

    >>> in_step(["win", "free_prize", "now"], "win free prize now", runs_of_nonblanks, lambda word: [word])
    [(0, 3), (4, 14), (15, 18)]
    """
    names, places = _read_all(text, cut, read)
    spans, at, there = [(0, 0)] * len(tokens), 0, 0
    while at < len(tokens) and there < len(names):
        if tokens[at] == names[there]:
            spans[at] = places[there]
            at, there = at + 1, there + 1
            continue
        skipped = _skip(tokens, at, names, there)
        ahead, beyond = skipped or (1, 1)
        if skipped and 0 < ahead <= _FEW and 0 < beyond <= _FEW:
            start, end = places[there][0], places[there + beyond - 1][1]
            inside = _inside(tokens[at : at + ahead], text[start:end], read)
            spans[at : at + ahead] = [(start + first, start + stop) for first, stop in inside]
        at, there = at + ahead, there + beyond
    return spans


def _read_all(text: str, cut: Cut, read: Read) -> tuple[list[str], list[Span]]:
    """Return the tokens of all pieces, and their spans."""
    names: list[str] = []
    places: list[Span] = []
    for start, end in cut(text):
        found = read(text[start:end]) or ()
        names += found
        places += [(start + first, start + stop) for first, stop in _inside(found, text[start:end], read)]
    return names, places


def _skip(tokens: Sequence[str], at: int, names: Sequence[str], there: int) -> tuple[int, int] | None:
    """Return how many tokens and names to skip until two of each are the same, as few as possible."""
    for both in range(2 * _FAR):
        for ahead in range(both + 1):
            ours = tokens[at + ahead : at + ahead + 2]
            theirs = names[there + both - ahead : there + both - ahead + 2]
            if ours and ours == theirs:
                return ahead, both - ahead
    return None


def _inside(tokens: Sequence[str], piece: str, read: Read) -> list[Span]:
    """Return the spans of tokens within their piece.

    Tokens that cannot be told apart get the whole piece; tokens without a letter get an empty span.
    """
    spans = tiled(tokens, piece)
    if spans is None and len(piece.lower()) == len(piece):
        spans = tiled(tokens, piece.lower())
    if spans is None and len(tokens) > 1:
        pieces = [match.span() for match in _PIECES.finditer(piece)]
        found = [(read(piece[start:end]) or (), (start, end)) for start, end in pieces]
        if [name for names, _ in found for name in names] == list(tokens):
            spans = [span for names, span in found for _ in names]
    if spans is None:
        spans = [(0, len(piece)) if _LETTER.search(token) else (0, 0) for token in tokens]
    return spans


def counted(tokens: Sequence[str], text: str) -> list[Span]:
    """Return the spans of tokens that occur in the text, as words of their own, as often as among the tokens.

    Tokens that occur more or less often are left open, with an empty span.

    >>> counted(["prize", "be", "free"], "free prize: they are free to be")
    [(5, 10), (29, 31), (0, 0)]
    """
    bounds = words_of(text)
    shapes: dict[Shape, dict[str, list[Span]]] = {}
    found = {}
    for token, count in Counter(tokens).items():
        shape = _shape(token)
        if shape not in shapes:
            shapes[shape] = _stretches(text, bounds, shape) if len(shapes) < _MOST_SHAPES else {}
        spans = shapes[shape].get(token, [])
        found[token] = spans[::-1] if len(spans) == count else [(0, 0)] * count
    return [found[token].pop() for token in tokens]


def _shape(token: str) -> Shape:
    words = words_of(token)
    return (len(words), words[0][0], len(token) - words[-1][1]) if words else (0, 0, 0)


def _stretches(text: str, bounds: list[Span], shape: Shape) -> dict[str, list[Span]]:
    """Return the places of all stretches of a text that have this shape."""
    n_words, before, behind = shape
    found = defaultdict(list)
    for (start, _), (_, end) in zip(bounds, bounds[n_words - 1 :], strict=False) if n_words else ():
        span = start - before, end + behind
        if span[0] >= 0:
            found[text[slice(*span)]].append(span)
    return found
