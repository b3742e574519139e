"""A text, of which words can be cut out."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.counted import Counted, NoFormula, longest_runs, runs_with_each
from butfor.models.row import Row
from butfor.models.row_kind import CSR
from butfor.models.text import CutText, Span, TextModel, sentences_of

FIRST_WINDOW = 4
"""For how many removed words in a row n-grams are looked for across the cut, at first."""


@dataclass(frozen=True, eq=False)
class TextRow:
    """A text and the units that may be removed of it, by their places: cut out, or put behind a mask."""

    text: str
    spans: tuple[tuple[Span, ...], ...]
    """For each unit all its places, (start, end)."""
    mask: str | None = None
    """What takes the place of a removed unit; None: nothing."""
    model: TextModel | None = None
    """The vectorisers that read it, where they are known."""
    most_in_a_row: int = FIRST_WINDOW
    """For how many removed words in a row n-grams are looked for across the cut."""
    reading: CutText | None = None
    """What has been read of the text already."""
    kind = None
    """A text comes in no kind of table."""
    is_text = True
    is_sparse = True

    @property
    def n_units(self) -> int:
        """How many units a search may remove."""
        return len(self.spans)

    def without(self, removed: BoolArray) -> list[str]:
        """Write the text once for every set of removed units.

        >>> row = TextRow("free prize, call now", (((0, 4),), ((12, 16),)))
        >>> row.without(np.array([[False, False], [True, False], [True, True]]))
        ['free prize, call now', 'prize, call now', 'prize, now']
        """
        return [self._reading.without(np.flatnonzero(line)) for line in removed]

    def whole(self) -> list[str]:
        """Return the text itself, in a list."""
        return [self.text]

    @property
    def n_values(self) -> int:
        """How many characters one copy of the text carries."""
        return len(self.text)

    @cached_property
    def parts(self) -> tuple[IntArray, ...]:
        """The units of each sentence; a unit with several places belongs to the sentence of the first.

        >>> row = TextRow("Call now. You won.", (((0, 4),), ((5, 8),), ((14, 17),)))
        >>> row.parts
        (array([0, 1]), array([2]))
        """
        starts = [start for start, _ in sentences_of(self.text)]
        first = [min(places)[0] if places else 0 for places in self.spans]
        sentence = np.searchsorted(starts, first, side="right")
        return tuple(np.flatnonzero(sentence == each) for each in np.unique(sentence))

    def columns_without(self, units: tuple[int, ...]) -> list[int]:
        """Return no columns: a text has none."""
        return []

    def counted(self, source: int) -> Counted:
        """Return what a vectoriser counts; raise `NoFormula` if that is not known for all removal sets."""
        if self._cut is None:
            raise NoFormula
        return self._cut[0][source]

    @property
    def window(self) -> int | None:
        """Up to how many removed units the counts hold in any case; None: there is no limit."""
        return None if self._cut is None else self._cut[1]

    def wider(self, window: int) -> "TextRow":
        """Return the same text, whose counts hold for more removed units."""
        return replace(self, most_in_a_row=window, reading=self._reading)

    def beyond(self, removed: BoolArray) -> BoolArray:
        """Return which sets remove so many units in a row that the counts do not hold for them."""
        beyond = np.zeros(len(removed), dtype=bool)
        if self.window is not None:
            many = np.flatnonzero(removed.sum(axis=1) > self.window)
            beyond[many] = longest_runs(self._reading.in_order, removed[many]) > self.window
        return beyond

    def beyond_with_each(self, removed: BoolArray) -> BoolArray:
        """Return the same for one removal set together with each further unit."""
        if self.window is None or removed.sum() < self.window:
            return np.zeros(self.n_units, dtype=bool)
        return runs_with_each(self._reading.in_order, removed) > self.window

    def recounted(self, source: int, removed: BoolArray) -> Any:
        """Return what a vectoriser counts in the text without some units, as CSR; the text is read."""
        assert self.model is not None
        leaf, counted = self.model.leaves[source], self.counted(source)
        counts = [leaf.counts(leaf.analyze(text)) for text in self.without(removed)]
        row_of = np.repeat(np.arange(len(counts)), [len(each) for each in counts])
        columns = [column for each in counts for column in each]
        values = np.array([count for each in counts for count in each.values()], dtype=counted.dtype)
        return sparse.csr_matrix((values, (row_of, columns)), shape=(len(counts), counted.n_columns))

    def as_row(self, source: int) -> Row:
        """Return the counts as a row whose columns go with units; raise `NoFormula` if they do not."""
        counted = self.counted(source)
        single = counted.single
        removable = np.flatnonzero(single.units >= 0)
        bundle_of = single.units[removable]
        if not counted.is_plain or len(np.unique(bundle_of)) < self.n_units:
            raise NoFormula
        return Row(
            columns=single.columns.astype(np.int32),
            values=single.kept.astype(counted.dtype),
            n_features=counted.n_columns,
            kind=CSR,
            removable=removable,
            bundle_of=bundle_of,
        )

    @cached_property
    def _cut(self) -> tuple[list[Counted], int | None] | None:
        if self.model is None:
            return None
        return self.model.cut(self._reading, self.most_in_a_row)

    @cached_property
    def _reading(self) -> CutText:
        return self.reading or CutText(self.text, self.spans, self.mask)
