"""Units that share features: a phrase goes with each of its words, a film with each of its genres."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.base import BoolArray, FloatArray, IntArray

Holding = tuple[int, ...]
"""Units, any one of which ends it."""


@dataclass(frozen=True, eq=False)
class Holders:
    """Which units hold which parts of a row.

    A holding is some units, one of which is enough to end it. A part is gone once all its holdings have
    ended: a phrase goes with any of its words; a column that counts two occurrences of a word goes with both.
    """

    n_units: int
    units: IntArray
    """The units of all holdings, one after the other."""
    holding_of: IntArray
    """For each of these the holding that it is in, ascending."""
    part_of: IntArray
    """For each holding the part that it holds, ascending."""
    n_parts: int

    @staticmethod
    def of(parts: Sequence[Sequence[Holding]], n_units: int) -> "Holders":
        """Write down the holdings of every part.

        >>> holders = Holders.of([[(0,)], [(0, 1)], [(1,), (2,)]], n_units=3)
        >>> holders.gone(np.array([[True, False, False], [False, True, True]]))
        array([[ True,  True, False],
               [False,  True,  True]])
        """
        holdings = [(part, holding) for part, held in enumerate(parts) for holding in held]
        entries = [(i, unit) for i, (_, holding) in enumerate(holdings) for unit in sorted(set(holding))]
        holding_of, units = np.array(entries, dtype=np.intp).reshape(-1, 2).T
        part_of = np.array([part for part, _ in holdings], dtype=np.intp)
        return Holders(n_units, units, holding_of, part_of, len(parts))

    @property
    def n_holdings(self) -> int:
        """How many holdings there are."""
        return len(self.part_of)

    def gone(self, removed: BoolArray) -> BoolArray:
        """Tell which parts are gone without some units (sets × parts)."""
        if not self.n_parts:
            return np.zeros((len(removed), 0), dtype=bool)
        ended = self._matrix @ removed.T.astype(np.float64) > 0
        return np.asarray(np.logical_and.reduceat(ended, self._starts, axis=0).T)

    def narrowed(self, gone: BoolArray, stays: BoolArray) -> tuple["Holders", BoolArray, BoolArray]:
        """Remove some units and let only some others go: what is left, and which parts are gone or stay."""
        ended = np.zeros(self.n_holdings, dtype=bool)
        ended[self.holding_of[gone[self.units]]] = True
        free = stays[self.units]
        lasting = ~ended & (np.bincount(self.holding_of[free], minlength=self.n_holdings) == 0)
        parts_kept = self._any(lasting)
        parts_gone = ~self._any(~ended)
        parts_left = ~(parts_gone | parts_kept)
        holdings_left = ~ended & parts_left[self.part_of]
        entries_left = free & holdings_left[self.holding_of]
        left = Holders(
            int(stays.sum()),
            (np.cumsum(stays) - 1)[self.units[entries_left]],
            (np.cumsum(holdings_left) - 1)[self.holding_of[entries_left]],
            (np.cumsum(parts_left) - 1)[self.part_of[holdings_left]],
            int(parts_left.sum()),
        )
        return left, parts_gone, parts_kept

    def most_parts(self, k: int) -> int:
        """Bound how many parts can go with k units."""
        touching = np.unique(self.part_of[self.holding_of] * self.n_units + self.units)
        counts = np.bincount(touching % max(1, self.n_units), minlength=self.n_units)
        return min(self.n_parts, int(np.sort(counts)[::-1][:k].sum()))

    def fold(self, coefficients: FloatArray, shares: FloatArray) -> tuple[float, FloatArray]:
        """Bound a linear function of the parts from below by one of the units: its constant and coefficients.

        A part that lowers it is charged in full to each unit that may end its shortest holding, as one of
        them must. If several do, that counts it too often; so only a share of it is charged to the units, and
        the rest in any case. A part that raises it is charged to one unit of its only holding, as that one is
        enough.
        """
        lowering = np.minimum(coefficients, 0.0)
        units, parts = self._shortest
        folded = np.bincount(units, (shares * lowering)[parts], minlength=self.n_units).astype(np.float64)
        raising = (coefficients > 0)[parts] & self._single[parts]
        if raising.any():
            units, parts = units[raising], parts[raising]
            by_need = np.lexsort((folded[units], parts))
            first = by_need[np.flatnonzero(np.diff(parts[by_need], prepend=-1))]
            folded += np.bincount(units[first], coefficients[parts[first]], minlength=self.n_units)
        return float(((1 - shares) * lowering).sum()), folded

    def hits(self, chosen: IntArray) -> IntArray:
        """Count how many of some units may end the shortest holding of each part."""
        units, parts = self._shortest
        is_chosen = np.zeros(self.n_units, dtype=bool)
        is_chosen[chosen] = True
        return np.bincount(parts[is_chosen[units]], minlength=self.n_parts)

    def _any(self, holdings: BoolArray) -> BoolArray:
        """Tell which parts have one of these holdings."""
        parts = np.zeros(self.n_parts, dtype=bool)
        parts[self.part_of[holdings]] = True
        return parts

    @cached_property
    def _starts(self) -> IntArray:
        """Where the holdings of each part begin."""
        return np.searchsorted(self.part_of, np.arange(self.n_parts))

    @cached_property
    def _single(self) -> BoolArray:
        """Which parts have only one holding."""
        return np.asarray(np.bincount(self.part_of, minlength=self.n_parts) == 1)

    @cached_property
    def _shortest(self) -> tuple[IntArray, IntArray]:
        """The units that may end the shortest holding of each part, and the part."""
        sizes = np.bincount(self.holding_of, minlength=self.n_holdings)
        by_size = np.lexsort((sizes, self.part_of))
        is_shortest = np.zeros(self.n_holdings, dtype=bool)
        is_shortest[by_size[self._starts]] = True
        entries = is_shortest[self.holding_of]
        return self.units[entries], self.part_of[self.holding_of[entries]]

    @cached_property
    def _matrix(self) -> Any:
        """Holdings × units."""
        shape = (self.n_holdings, self.n_units)
        return sparse.csr_array((np.ones(len(self.units)), (self.holding_of, self.units)), shape=shape)
