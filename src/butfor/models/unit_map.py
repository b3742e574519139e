"""Units that share columns: a phrase goes with each of its words, a film with each of its genres."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray

Clause = tuple[int, ...]
"""Units of which any one takes the hold off a bundle."""


@dataclass(frozen=True, eq=False)
class UnitMap:
    """Which units hold which bundles of a row.

    A bundle is some columns that always go together. It is held by clauses. A clause is broken once one of
    its units is removed, and a bundle is gone once all its clauses are broken. So a phrase, which has one
    clause of all its words, goes with any of them; a column that counts two occurrences of a word, which has
    two clauses of one unit each, goes with both.
    """

    n_units: int
    units: IntArray
    """The units of all clauses, one clause after the other."""
    clause_of: IntArray
    """For each entry of `units` the number of its clause, ascending."""
    bundle_of: IntArray
    """For each clause the number of the bundle that it holds, ascending."""
    n_bundles: int

    @staticmethod
    def of(bundles: Sequence[Sequence[Clause]], n_units: int) -> "UnitMap":
        """Return the unit map of bundles that are given by their clauses.

        >>> unit_map = UnitMap.of([[(0,)], [(0, 1)], [(1,), (2,)]], n_units=3)
        >>> unit_map.gone(np.array([[True, False, False], [False, True, True]]))
        array([[ True,  True, False],
               [False,  True,  True]])
        """
        clauses = [(bundle, clause) for bundle, held in enumerate(bundles) for clause in held]
        entries = [(i, unit) for i, (_, clause) in enumerate(clauses) for unit in sorted(set(clause))]
        clause_of, units = np.array(entries, dtype=np.intp).reshape(-1, 2).T
        bundle_of = np.array([bundle for bundle, _ in clauses], dtype=np.intp)
        return UnitMap(n_units, units, clause_of, bundle_of, len(bundles))

    @property
    def n_clauses(self) -> int:
        """The number of clauses."""
        return len(self.bundle_of)

    def gone(self, removed: BoolArray) -> BoolArray:
        """Return which bundles are gone without some units (removal sets × bundles)."""
        if not self.n_bundles:
            return np.zeros((len(removed), 0), dtype=bool)
        broken = self._matrix @ removed.T.astype(np.float64) > 0
        return np.asarray(np.logical_and.reduceat(broken, self._starts, axis=0).T)

    def narrowed(self, gone: BoolArray, stays: BoolArray) -> tuple["UnitMap", BoolArray, BoolArray]:
        """Fix some units and return the unit map of the rest.

        Units in `gone` are removed. Units in `stays` remain free, and all others are kept. Returns the map
        from free units to bundles that are still open, the bundles that are gone for sure, and those that are
        kept for sure.
        """
        broken = np.zeros(self.n_clauses, dtype=bool)
        broken[self.clause_of[gone[self.units]]] = True
        free = stays[self.units]
        lasting = ~broken & (np.bincount(self.clause_of[free], minlength=self.n_clauses) == 0)
        bundles_kept = self._any(lasting)
        bundles_gone = ~self._any(~broken)
        bundles_left = ~(bundles_gone | bundles_kept)
        clauses_left = ~broken & bundles_left[self.bundle_of]
        entries_left = free & clauses_left[self.clause_of]
        left = UnitMap(
            int(stays.sum()),
            (np.cumsum(stays) - 1)[self.units[entries_left]],
            (np.cumsum(clauses_left) - 1)[self.clause_of[entries_left]],
            (np.cumsum(bundles_left) - 1)[self.bundle_of[clauses_left]],
            int(bundles_left.sum()),
        )
        return left, bundles_gone, bundles_kept

    def most_bundles(self, k: int) -> int:
        """Return a bound on the number of bundles that can go with k units."""
        touching = np.unique(self.bundle_of[self.clause_of] * self.n_units + self.units)
        counts = np.bincount(touching % max(1, self.n_units), minlength=self.n_units)
        return min(self.n_bundles, int(np.sort(counts)[::-1][:k].sum()))

    def fold(self, coefficients: FloatArray, shares: FloatArray) -> tuple[float, FloatArray]:
        """Bound a linear function of the bundles from below by a linear function of the units.

        Returns the constant and the coefficients of that function. Take a bundle with a negative coefficient.
        It goes only if some unit breaks its shortest clause, so its coefficient is charged to each unit of
        that clause. Where several of them are removed, it is charged too often. So only a share of it is
        charged to the units, and the rest to the constant. A bundle with a positive coefficient and one
        clause goes with each unit of the clause, so that it is enough to charge one of them.
        """
        lowering = np.minimum(coefficients, 0.0)
        units, bundles = self._shortest
        folded = np.bincount(units, (shares * lowering)[bundles], minlength=self.n_units).astype(np.float64)
        raising = (coefficients > 0)[bundles] & self._single[bundles]
        if raising.any():
            units, bundles = units[raising], bundles[raising]
            by_need = np.lexsort((folded[units], bundles))
            first = by_need[np.flatnonzero(np.diff(bundles[by_need], prepend=-1))]
            folded += np.bincount(units[first], coefficients[bundles[first]], minlength=self.n_units)
        return float(((1 - shares) * lowering).sum()), folded

    def hits(self, chosen: IntArray) -> IntArray:
        """Count, for each bundle, how many of the chosen units are in its shortest clause."""
        units, bundles = self._shortest
        is_chosen = np.zeros(self.n_units, dtype=bool)
        is_chosen[chosen] = True
        return np.bincount(bundles[is_chosen[units]], minlength=self.n_bundles)

    def _any(self, clauses: BoolArray) -> BoolArray:
        """Return which bundles have one of these clauses."""
        bundles = np.zeros(self.n_bundles, dtype=bool)
        bundles[self.bundle_of[clauses]] = True
        return bundles

    @cached_property
    def _starts(self) -> IntArray:
        """The number of the first clause of each bundle."""
        return np.searchsorted(self.bundle_of, np.arange(self.n_bundles))

    @cached_property
    def _single(self) -> BoolArray:
        """Which bundles have only one clause."""
        return np.asarray(np.bincount(self.bundle_of, minlength=self.n_bundles) == 1)

    @cached_property
    def _shortest(self) -> tuple[IntArray, IntArray]:
        """The units in the shortest clause of each bundle, and for each of them the bundle."""
        sizes = np.bincount(self.clause_of, minlength=self.n_clauses)
        by_size = np.lexsort((sizes, self.bundle_of))
        is_shortest = np.zeros(self.n_clauses, dtype=bool)
        is_shortest[by_size[self._starts]] = True
        entries = is_shortest[self.clause_of]
        return self.units[entries], self.bundle_of[self.clause_of[entries]]

    @cached_property
    def _matrix(self) -> Any:
        """A matrix of clauses × units, with a one for each unit of a clause."""
        shape = (self.n_clauses, self.n_units)
        return sparse.csr_array((np.ones(len(self.units)), (self.clause_of, self.units)), shape=shape)
