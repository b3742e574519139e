"""What a vectoriser counts in a text of which units may be cut: read once, in pieces, for all sets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor.models.arrays import IntArray
from butfor.models.counted import longest_runs
from butfor.models.text.clumps import Clump, clumps_of
from butfor.models.text.contributions import Contributions, Leaf
from butfor.models.text.grams import word_grams
from butfor.models.text.leaves import Leaf as Vectoriser
from butfor.models.text.sequences import Item, NGrams, trees_of
from butfor.models.text.spans import Span, in_order, without

LETTERS = {r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"(?u)\w+", r"\w+"}
"""Patterns of tokens that are runs of letters."""
LOCAL_PATTERNS = LETTERS | {r"(?u)\S+", r"\S+"}
"""Patterns of tokens that see nothing beyond a blank."""
N_CHECKS = 24
"""How many cut texts an own tokenizer is held against: of single units, of neighbours, and of any."""


@dataclass(frozen=True, eq=False)
class CutText:
    """A text of which units may be cut, or put behind a mask. What is read of it once is kept."""

    text: str
    unit_spans: Sequence[Sequence[Span]]
    """For each unit all its places."""
    mask: str | None = None
    """What takes the place of a removed unit."""

    def contributions(self, leaf: Vectoriser, window: int) -> Contributions | None:
        """Return what a vectoriser counts, as a function of the units that are cut; None if unknown.

        It is known where each clump is read by itself. Vectorisers of scikit-learn do, but for n-grams of
        characters across blanks. Others are asked about some cut texts. N-grams of words are looked for
        across at most `window` removed units.
        """
        if leaf.kind == "char":
            return None
        contributions = self._read_runs(leaf) if self.mask is None and counts_runs(leaf) else None
        if contributions is not None:
            return contributions
        if leaf.reaches_over_words:
            contributions = self._read_sequence(leaf, window)
        else:
            contributions = self._read_clumps(leaf)
        if contributions is None or sees_clumps_only(leaf):
            return contributions
        return contributions if self._holds(contributions, leaf, window) else None

    def without(self, units: Iterable[int]) -> str:
        """Return the text without some units."""
        return without(self.text, [span for unit in units for span in self.unit_spans[unit]], self.mask)

    @cached_property
    def in_order(self) -> IntArray:
        """The units in the order of their places, each as often as it stands in the text."""
        return in_order(self.unit_spans)

    @cached_property
    def clumps(self) -> list[Clump]:
        """The clumps of the text."""
        return clumps_of(self.text, self.unit_spans)

    def _read_runs(self, leaf: Vectoriser) -> Contributions | None:
        """Read runs of letters, which no cut changes; None unless each is a unit, or in none.

        A cut brings no two letters together.
        """
        text, pattern, stop_words = leaf.preprocess(self.text), leaf.pattern, leaf.stop_words
        if pattern is None or len(text) != len(self.text):
            return None
        unit_at = {span: unit for unit, spans in enumerate(self.unit_spans) for span in map(tuple, spans)}
        kept: dict[int, list[str]] = {}
        n_in_units = 0
        for match in pattern.finditer(text):
            unit = unit_at.get(match.span(), -1)
            n_in_units += unit >= 0
            token = match[0]
            if token not in stop_words:
                kept.setdefault(unit, []).append(token)
        if n_in_units < len(unit_at):  # a unit is more than a run of letters, or part of one
            return None
        contributions = Contributions()
        for unit, tokens in kept.items():
            if unit < 0:
                contributions.add_fixed(leaf.counts(tokens))
            else:
                contributions.add_single(unit, leaf.counts(tokens), {})
        return contributions

    def _read_clumps(self, leaf: Vectoriser) -> Contributions | None:
        """Read grams that never reach beyond a clump."""
        contributions = Contributions()
        total: Counter[Any] = Counter()
        for clump in self.clumps:
            forms = _forms(leaf, clump, self.mask)
            if forms is None:
                items = _items(leaf, clump, self.mask) if leaf.kind == "word" else None
                if items is None:
                    return None
                for item in items:
                    total.update(item.kept)
                    _add_item(contributions, leaf, item)
                continue
            counts = [leaf.counts(grams) for grams in forms]
            total.update(forms[0])
            if not clump.units:
                contributions.add_fixed(counts[0])
            elif len(clump.units) == 1:
                contributions.add_single(clump.units[0], counts[0], counts[1])
            else:
                _add_several(contributions, clump, counts)
        grams = leaf.analyze(self.text)
        is_whole = all(isinstance(gram, str) for gram in grams) and total == Counter(grams)
        return contributions if is_whole else None

    def _read_sequence(self, leaf: Vectoriser, window: int) -> Contributions | None:
        """Read n-grams of words, which reach beyond clumps."""
        if leaf not in self._known_items:
            self._known_items[leaf] = self._items_of(leaf)
        items = self._known_items[leaf]
        if items is None:
            return None
        contributions = Contributions()
        if leaf.sizes[0] == 1:
            for item in items:
                _add_item(contributions, leaf, item)
        known = leaf.vocabulary
        ngrams = NGrams(
            *leaf.sizes, leaf.counted, (lambda gram: True) if known is None else leaf.ends.__contains__
        )
        for leaves in trees_of(items, ngrams, window):
            units = {unit for literals, _ in leaves for unit, _ in literals}
            if not units:
                contributions.add_fixed(leaves[0][1])
            elif len(units) == 1:
                of = {literals[0][1]: counts for literals, counts in leaves}
                contributions.add_single(units.pop(), of[False], of[True])
            else:
                contributions.add_tree(leaves)
        return contributions

    @cached_property
    def _known_items(self) -> dict[Vectoriser, list[Item] | None]:
        return {}

    def _items_of(self, leaf: Vectoriser) -> list[Item] | None:
        """Return the tokens of the text, stretch by stretch; None unless the n-grams are made of these."""
        items: list[Item] = []
        for clump in self.clumps:
            own = _items(leaf, clump, self.mask)
            if own is None:
                return None
            items += own
        items = [item for item in items if item.kept or item.removed]
        tokens = [token for item in items for token in item.kept]
        return items if word_grams(tokens, *leaf.sizes)[0] == leaf.analyze(self.text) else None

    def _holds(self, contributions: Contributions, leaf: Vectoriser, window: int) -> bool:
        """Return whether the counts are those of the vectoriser itself, on some cut texts."""
        n_units = len(self.unit_spans)
        for removed in _sets_to_check(n_units):
            line = np.isin(np.arange(n_units), list(removed))
            if leaf.reaches_over_words and longest_runs(self.in_order, line[np.newaxis])[0] > window:
                continue  # they are not claimed for such sets
            try:
                grams = leaf.analyze(self.without(removed))
            except Exception:  # as on any other text, the model will report it
                return False
            if _less(leaf.counts(grams), contributions.counts(removed)):
                return False
        return True


def sees_clumps_only(leaf: Vectoriser) -> bool:
    """Return whether a vectoriser is known to read each clump by itself."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    vectoriser = leaf.vectoriser
    plain = type(vectoriser) in (CountVectorizer, HashingVectorizer, TfidfVectorizer)
    own = vectoriser.preprocessor is not None or callable(vectoriser.strip_accents)
    if not plain or own or leaf.cleaning:
        return False
    if leaf.kind == "char_wb":
        return True
    return leaf.kind == "word" and vectoriser.tokenizer is None and vectoriser.token_pattern in LOCAL_PATTERNS


def counts_runs(leaf: Vectoriser) -> bool:
    """Return whether a vectoriser counts single runs of letters, and nothing else."""
    vectoriser = leaf.vectoriser
    plain = leaf.kind == "word" and leaf.sizes == (1, 1) and not vectoriser.strip_accents
    return plain and sees_clumps_only(leaf) and vectoriser.token_pattern in LETTERS


def _forms(leaf: Vectoriser, clump: Clump, mask: str | None) -> list[list[str]] | None:
    """Return the grams of a clump, without each subset of its units; None if these are too many, or fail."""
    subsets = clump.forms()
    if subsets is None:
        return None
    forms = [leaf.analyze_piece(clump.without(subset, mask)) for subset in subsets]
    return None if any(grams is None for grams in forms) else [grams or [] for grams in forms]


def _add_several(contributions: Contributions, clump: Clump, counts: list[dict[int, float]]) -> None:
    """Add the counts of a clump of several units: unit by unit where they add up, otherwise as a tree."""
    subsets = clump.forms() or []
    whole = counts[0]
    losses = [_less(whole, counts[1 + at]) for at in range(len(clump.units))]
    for subset, own in zip(subsets, counts, strict=True):
        left = whole
        for at in subset:
            left = _less(left, losses[at])
        if left != own:
            break
    else:
        contributions.add_fixed(counts[-1])
        for unit, loss in zip(clump.units, losses, strict=True):
            contributions.add_single(unit, loss, {})
        return
    leaves: list[Leaf] = []
    for subset, own in zip(subsets, counts, strict=True):
        literals = tuple((unit, at in subset) for at, unit in enumerate(clump.units))
        leaves.append((literals, own))
    contributions.add_tree(leaves)


def _less(counts: dict[int, float], others: dict[int, float]) -> dict[int, float]:
    """Subtract counts; what is zero is left out."""
    columns = {*counts, *others}
    left = {column: counts.get(column, 0.0) - others.get(column, 0.0) for column in columns}
    return {column: count for column, count in left.items() if count}


def _add_item(contributions: Contributions, leaf: Vectoriser, item: Item) -> None:
    """Add the tokens of an item."""
    if item.unit < 0:
        contributions.add_fixed(leaf.counts(item.kept))
    else:
        contributions.add_single(item.unit, leaf.counts(item.kept), leaf.counts(item.removed))


def _items(leaf: Vectoriser, clump: Clump, mask: str | None) -> list[Item] | None:
    """Return the tokens of a clump, unit by unit; None unless they are the same in all its forms.

    Runs of letters are: a cut brings no two letters together. So of very many units not all forms are read.
    """
    forms = clump.forms()
    if forms is None:
        if mask is not None or not sees_clumps_only(leaf) or leaf.vectoriser.token_pattern not in LETTERS:
            return None
        forms = [(), *((at,) for at in range(len(clump.units))), tuple(range(len(clump.units)))]
    tokens = [_tokens(leaf, clump.without(form, mask)) for form in forms]
    if any(each is None for each in tokens):
        return None
    of_forms = [each or () for each in tokens]
    if not clump.units:
        return [Item(-1, of_forms[0])]
    if len(clump.units) == 1:
        return [Item(clump.units[0], of_forms[0], of_forms[1])]
    items: list[Item] = []
    masked = () if mask is None else _tokens(leaf, mask)
    places = sorted((*span, at) for at, spans in enumerate(clump.spans) for span in spans)
    end = 0
    for start, stop, at in [*places, (len(clump.text), len(clump.text), -1)]:
        between, own = _tokens(leaf, clump.text[end:start]), _tokens(leaf, clump.text[start:stop])
        if between is None or own is None or masked is None:
            return None
        items.append(Item(-1, between))
        if at >= 0:
            items.append(Item(clump.units[at], own, masked))
        end = stop
    for form, expected in zip(forms, of_forms, strict=True):
        gone = {clump.units[at] for at in form}
        read = [token for item in items for token in (item.removed if item.unit in gone else item.kept)]
        if tuple(read) != expected:
            return None
    return items


def _tokens(leaf: Vectoriser, piece: str) -> tuple[str, ...] | None:
    """Return the tokens of a piece that are no stop words; None where the tokenizer fails."""
    tokens = leaf.read_piece(piece)
    return None if tokens is None else tuple(token for token in tokens if token not in leaf.stop_words)


def _sets_to_check(n_units: int) -> Iterator[set[int]]:
    """Yield sets of single units, of neighbours, and any."""
    rng = np.random.default_rng(0)
    for _ in range(min(N_CHECKS, n_units)):
        yield {int(rng.integers(n_units))}
    for _ in range(N_CHECKS if n_units > 1 else 0):
        first, length = int(rng.integers(n_units)), int(rng.integers(2, 5))
        yield set(range(first, min(first + length, n_units)))
    for _ in range(N_CHECKS if n_units > 1 else 0):
        yield set(np.flatnonzero(rng.random(n_units) < rng.random()).tolist())
