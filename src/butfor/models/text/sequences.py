"""n-grams of words in a text of which words may be cut: which appear and which go with each removal."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from butfor.models.counted import Literal
from butfor.models.text.contributions import Leaf

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """A stretch of tokens that depends on one unit."""

    unit: int
    """−1 where it never changes."""
    kept: Tokens
    """The tokens while the unit is there."""
    removed: Tokens = ()
    """The tokens once it is removed."""


@dataclass(frozen=True, eq=False)
class NGrams:
    """The n-grams of two and more words that a vectoriser knows."""

    smallest: int
    largest: int
    column: Callable[[str], tuple[int, float] | None]
    """The column of an n-gram and what it adds to it, or None."""
    can_go_on: Callable[[str], bool]
    """Whether words are the end of a longer n-gram that is known."""

    def starting(self, seq: Tokens, n_last: int) -> tuple[dict[int, float], bool]:
        """Return the counts of the n-grams that start at the first word, and whether more words may add some.

        Only those that end within the last `n_last` words are counted.
        """
        counts: dict[int, float] = {}
        goes_on = False
        for size in range(max(1, len(seq) - n_last + 1), min(self.largest, len(seq)) + 1):
            gram = " ".join(seq[:size])
            if size >= max(2, self.smallest):
                known = self.column(gram)
                if known is not None:
                    counts[known[0]] = counts.get(known[0], 0.0) + known[1]
            goes_on = goes_on or (size < self.largest and self.can_go_on(gram))
        return counts, goes_on


def trees_of(items: Sequence[Item], ngrams: NGrams, window: int) -> Iterator[list[Leaf]]:
    """Yield, for each item, the counts of the n-grams that end in it, as leaves over the units before it.

    They hold for sets that remove at most `window` units in a row.
    """
    walk = _Walk(items, ngrams, window)
    single = [len(item.kept) == 1 and not item.removed for item in items]
    for at, item in enumerate(items):
        if ngrams.largest == 2 and single[at] and not ngrams.can_go_on(item.kept[0]):
            continue
        leaves = walk.pairs_at(at, single) if ngrams.largest == 2 else None
        if leaves is None:
            leaves = []
            for is_removed, tokens in ((False, item.kept), (True, item.removed)):
                if is_removed and item.unit < 0:
                    continue
                literals: tuple[Literal, ...] = () if item.unit < 0 else ((item.unit, is_removed),)
                leaves += walk.leaves_at(at, literals, tokens)
        if any(counts for _, counts in leaves):
            yield leaves


@dataclass(frozen=True, eq=False)
class _Walk:
    items: Sequence[Item]
    ngrams: NGrams
    window: int

    def pairs_at(self, at: int, single: Sequence[bool]) -> list[Leaf] | None:
        """Return the leaves of pairs that end in an item; None unless each item is one word that can go."""
        if not single[at]:
            return None
        item, column = self.items[at], self.ngrams.column
        token = item.kept[0]
        before: list[tuple[int, tuple[int, float] | None]] = []
        seen: set[int] = set()
        n_useful = 0
        while at > 0 and len(seen) <= self.window:
            at -= 1
            if not single[at]:
                return None
            left = self.items[at]
            if left.unit in seen:
                continue
            known = column(f"{left.kept[0]} {token}")
            before.append((left.unit, known))
            if known is not None:
                n_useful = len(before)
            if left.unit < 0 or left.unit == item.unit:  # it always stands between
                break
            seen.add(left.unit)
        if not n_useful:
            return []
        literals: tuple[Literal, ...] = () if item.unit < 0 else ((item.unit, False),)
        leaves: list[Leaf] = [] if item.unit < 0 else [(((item.unit, True),), {})]
        for unit, known in before[:n_useful]:
            counts = {} if known is None else {known[0]: known[1]}
            if unit < 0 or unit == item.unit:
                return [*leaves, (literals, counts)]
            leaves.append(((*literals, (unit, False)), counts))
            literals = (*literals, (unit, True))
        return [*leaves, (literals, {})]

    def leaves_at(self, at: int, literals: tuple[Literal, ...], tokens: Tokens) -> list[Leaf]:
        """Return the leaves of n-grams that end in the tokens of an item."""
        return self._extended(at, literals, tokens, (), len(tokens), {}) if tokens else [(literals, {})]

    def _leaves(
        self, at: int, literals: tuple[Literal, ...], seq: Tokens, n_last: int, counts: dict[int, float]
    ) -> list[Leaf]:
        """Go on to the left of a sequence of words whose last `n_last` are those of the item."""
        leaves: list[Leaf] = []
        known = dict(literals)
        for place, ends in self._useful(at, known, seq, n_last):
            item = self.items[place]
            if item.unit in known or item.unit < 0:
                is_removed = known.get(item.unit, False)
                tokens = item.removed if is_removed else item.kept
                if tokens:
                    return leaves + self._extended(place, literals, tokens, seq, n_last, counts)
                continue
            kept = (*literals, (item.unit, False))
            leaves += self._extended(place, kept, item.kept, seq, n_last, counts)
            literals = (*literals, (item.unit, True))
            known[item.unit] = True
            if item.removed:
                return leaves + self._extended(place, literals, item.removed, seq, n_last, counts)
            if ends:
                break
        return [*leaves, (literals, counts)]

    def _useful(self, at: int, known: dict[int, bool], seq: Tokens, n_last: int) -> list[tuple[int, bool]]:
        """Return the items to the left that can stand next to a sequence, up to the last that adds something.

        With each comes whether it is the last of them.
        """
        reached: list[int] = []
        last = -1
        removed = {unit for unit, is_removed in known.items() if is_removed}
        n_removed = 0
        while at >= 0:
            item = self.items[at]
            is_known = item.unit in known or item.unit in removed
            forms = [item.kept, item.removed]
            if item.unit < 0:
                forms = [item.kept]
            elif is_known:
                forms = [item.removed if item.unit in removed else item.kept]
            reached.append(at)
            for tokens in forms:
                if tokens and self._adds(tokens, seq, n_last):
                    last = len(reached)
            if all(forms):  # it always stands between
                break
            if item.unit >= 0 and not is_known:
                if n_removed == self.window:
                    break
                n_removed += 1
                removed.add(item.unit)
            at -= 1
        return [(place, number == last) for number, place in enumerate(reached[: max(0, last)], 1)]

    def _adds(self, tokens: Tokens, seq: Tokens, n_last: int) -> bool:
        """Return whether tokens before a sequence make n-grams, or may with more words before them."""
        for first in range(len(tokens) - 1, -1, -1):
            counts, goes_on = self.ngrams.starting(tokens[first:] + seq, n_last)
            if counts or goes_on:
                return True
        return False

    def _extended(
        self,
        at: int,
        literals: tuple[Literal, ...],
        tokens: Tokens,
        seq: Tokens,
        n_last: int,
        counts: dict[int, float],
    ) -> list[Leaf]:
        """Put the tokens of an item before a sequence."""
        if not tokens:
            return self._leaves(at - 1, literals, seq, n_last, counts)
        counts = dict(counts)
        goes_on = False
        for first in range(len(tokens) - 1, -1, -1):
            own, more = self.ngrams.starting(tokens[first:] + seq, n_last)
            _add(counts, own)
            goes_on = goes_on or more
        if not goes_on:
            return [(literals, counts)]
        return self._leaves(at - 1, literals, tokens + seq, n_last, counts)


def _add(counts: dict[int, float], more: dict[int, float]) -> None:
    for column, count in more.items():
        counts[column] = counts.get(column, 0.0) + count
