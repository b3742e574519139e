"""Units that share features: a phrase goes with each of its words, a film with each of its genres."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor.models.base import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Holders:
    """Which units hold which parts of a row.

    A holding is some units, one of which is enough to end it. A part is gone once all its holdings have
    ended: a phrase goes with any of its words; a column that counts two occurrences of a word goes with both.
    """

    held: Any
    """CSR, holdings × units: one where the unit ends the holding. The holdings of a part stand together."""
    starts: IntArray
    """Where the holdings of each part begin."""

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.held.shape[1])

    @property
    def n_parts(self) -> int:
        """How many parts they hold."""
        return len(self.starts)

    def gone(self, removed: BoolArray) -> BoolArray:
        """Tell which parts are gone without some units (sets × parts).

        >>> from scipy import sparse
        >>> held = sparse.csr_array([[1.0, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
        >>> a, a_or_b, b_and_c = 0, 1, 2  # where the holdings of three parts begin
        >>> holders = Holders(held, np.array([a, a_or_b, b_and_c]))
        >>> holders.gone(np.array([[True, False, False], [False, True, True]]))
        array([[ True,  True, False],
               [False,  True,  True]])
        """
        if not self.n_parts:
            return np.zeros((len(removed), 0), dtype=bool)
        ended = self.held @ removed.T.astype(np.float64) > 0
        return np.asarray(np.logical_and.reduceat(ended, self.starts, axis=0).T)

    def narrowed(self, gone: BoolArray, stays: BoolArray) -> tuple["Holders", BoolArray, BoolArray]:
        """Remove some units and let only some others go: what is left, and which parts are gone or stay."""
        ended = self.held @ gone.astype(np.float64) > 0
        held = self.held[:, np.flatnonzero(stays)]
        lasting = ~ended & (np.diff(held.indptr) == 0)
        parts_gone = np.logical_and.reduceat(ended, self.starts)
        parts_kept = np.logical_or.reduceat(lasting, self.starts)
        left = ~(parts_gone | parts_kept)
        holding_left = ~ended & left[self._part_of]
        sizes = np.bincount(self._part_of[holding_left], minlength=self.n_parts)[left]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else np.zeros(0, dtype=np.intp)
        return Holders(held[np.flatnonzero(holding_left)], starts.astype(np.intp)), parts_gone, parts_kept

    def most_parts(self, k: int) -> int:
        """Bound how many parts can go with k units."""
        if not self.n_parts:
            return 0
        touching = np.unique(self._part_of[self._holding_of] * self.n_units + self.held.indices)
        counts = np.sort(np.bincount(touching % self.n_units, minlength=self.n_units))[::-1]
        return min(self.n_parts, int(counts[:k].sum()))

    def folded(self, coefficients: FloatArray) -> FloatArray:
        """Bound a linear function of the parts from below by one of the units.

        What lowers it is charged to each unit that may end the part's shortest holding, as at least one of
        them must; what raises it to one unit of its only holding, as that one is enough.
        """
        shortest = self._shortest
        lowering = np.minimum(coefficients, 0.0)
        folded = np.asarray(shortest.T @ lowering)
        raising = (coefficients > 0) & (np.diff(np.append(self.starts, self.held.shape[0])) == 1)
        if raising.any():
            lines = shortest[np.flatnonzero(raising)]
            line_of = np.repeat(np.arange(lines.shape[0]), np.diff(lines.indptr))
            by_need = np.lexsort((folded[lines.indices], line_of))
            best = lines.indices[by_need[lines.indptr[:-1]]]
            folded += np.bincount(best, coefficients[raising], minlength=self.n_units)
        return folded

    @cached_property
    def _part_of(self) -> IntArray:
        """The part of every holding."""
        sizes = np.diff(np.append(self.starts, self.held.shape[0]))
        return np.repeat(np.arange(self.n_parts), sizes)

    @cached_property
    def _holding_of(self) -> IntArray:
        """The holding of every entry."""
        return np.repeat(np.arange(self.held.shape[0]), np.diff(self.held.indptr))

    @cached_property
    def _shortest(self) -> Any:
        """The holding of each part that the fewest units can end."""
        sizes = np.diff(self.held.indptr)
        by_size = np.lexsort((sizes, self._part_of))
        return self.held[by_size[self.starts]]
