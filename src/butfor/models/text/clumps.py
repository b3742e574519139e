"""A text in clumps, each of which vectorisers read by itself, whatever is cut out of the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from butfor.models.text.spans import Span, as_array, disjoint, runs_of_nonblanks, without

MOST_UNITS = 6
"""Clumps of more units are not read in all their forms."""


@dataclass(frozen=True, eq=False)
class Clump:
    """What stands between two blanks, and the units that can be removed of it."""

    text: str
    units: tuple[int, ...]
    """The units, in the order of their first places."""
    spans: tuple[tuple[Span, ...], ...]
    """For each of them its places in the clump."""

    def without(self, removed: Sequence[int], mask: str | None) -> str:
        """Return the clump without some of its units, given by their positions in `units`."""
        if not removed:
            return self.text
        if len(removed) == 1 and self.spans[removed[0]] == ((0, len(self.text)),):
            return mask or ""
        return without(self.text, [span for at in removed for span in self.spans[at]], mask)

    def forms(self) -> list[tuple[int, ...]] | None:
        """Return all subsets of its units, the empty one first; None if they are too many."""
        if len(self.units) > MOST_UNITS:
            return None
        sizes = range(len(self.units) + 1)
        return [each for size in sizes for each in combinations(range(len(self.units)), size)]


def clumps_of(text: str, unit_spans: Sequence[Sequence[Span]]) -> list[Clump]:
    """Cut a text at its blanks, but not within a unit.

    >>> [(clump.text, clump.units) for clump in clumps_of("win free-prize now", [[(4, 8)], [(9, 14)]])]
    [('win', ()), ('free-prize', (0, 1)), ('now', ())]
    """
    places = [(*span, unit) for unit, spans in enumerate(unit_spans) for span in spans]
    places.sort()
    inside = as_array((start, end) for start, end, _ in places)
    stretches = disjoint(np.concatenate([as_array(runs_of_nonblanks(text)), inside]))
    bounds = np.searchsorted(inside[:, 0], np.append(stretches[:, 0], len(text) + 1)).tolist()
    clumps = []
    for (first, stop), low, high in zip(stretches.tolist(), bounds, bounds[1:], strict=False):
        of_units: dict[int, list[Span]] = {}
        for start, end, unit in places[low:high]:
            of_units.setdefault(unit, []).append((start - first, end - first))
        clumps.append(Clump(text[first:stop], tuple(of_units), tuple(map(tuple, of_units.values()))))
    return clumps
