"""A text, of which words can be cut out."""

from dataclasses import dataclass

import numpy as np

from butfor.models.arrays import BoolArray
from butfor.models.text import Span, without


@dataclass(frozen=True, eq=False)
class TextRow:
    """A text and the units that may be removed of it, by their places: cut out, or put behind a mask."""

    text: str
    spans: tuple[tuple[Span, ...], ...]
    """For each unit all its places, (start, end)."""
    mask: str | None = None
    """What takes the place of a removed unit; None: nothing."""
    kind = None
    """A text comes in no kind of table."""

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
        return [
            without(
                self.text, [span for unit in np.flatnonzero(line) for span in self.spans[unit]], self.mask
            )
            for line in removed
        ]

    def whole(self) -> list[str]:
        """Return the text itself, in a list."""
        return [self.text]

    @property
    def n_values(self) -> int:
        """How many characters one copy of the text carries."""
        return len(self.text)

    def columns_without(self, units: tuple[int, ...]) -> list[int]:
        """Return no columns: a text has none."""
        return []
