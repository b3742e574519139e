"""Bounds for sums of decision trees: a linear function below every tree, whose slopes are raised together.

Any slopes give a linear function below a tree: its offset is the least value, over all leaves, of the leaf's
number less the slopes of the units that are removed there. So the sum of these functions lies below the sum
of the trees. Subgradient steps raise the slopes (Lagrangian decomposition: at its best, the bound is that of
the linear program over the leaves).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.ascent import Ascent
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import Minimum, Minorant, Region

AHEAD = 0.03
"""The bound that steps aim at, as a share of the row's own distance from the flip."""
ROUNDING = float(np.finfo(np.float64).eps)
"""How far a sum may be off for each of its terms, in relation to the sum of their absolute values."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeRegion(Region):
    """A region of sets for the score constant + linear · r + the numbers of the leaves that r reaches."""

    constant: float
    linear: FloatArray
    trees: OpenTrees
    """The trees, over the free units."""
    slopes: FloatArray
    """The slopes so far, for each pair of a tree and one of its units."""
    doubt: FloatArray
    """Free units: how much the trees disagree on whether the unit is removed."""
    aim: float
    """The bound at which steps aim."""
    memory: FloatArray | None = None
    """The slopes of all pairs of the row, which the next root region begins with; None below the root."""
    pairs: IntArray
    """The number of each pair among all pairs of the row."""

    @staticmethod
    def root(
        *,
        k: int,
        constant: float,
        linear: FloatArray,
        trees: OpenTrees,
        memory: FloatArray | None = None,
        **others: Any,
    ) -> "TreeRegion":
        """Return the root region; it begins with the slopes in `memory`, and leaves better ones there."""
        slopes = trees.changes_of_single_removals() if memory is None else memory
        none = np.zeros(len(linear), dtype=bool)
        fixed = trees.fixed(none, ~none, k)
        return TreeRegion(
            **others,
            k=k,
            constant=constant + fixed.constant,
            linear=linear + fixed.linear,
            trees=fixed.trees,
            slopes=slopes[fixed.pairs],
            doubt=np.zeros(len(linear)),
            aim=AHEAD * abs(constant),
            memory=memory,
            pairs=fixed.pairs,
        )

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum for the slopes so far, then those that better slopes lead to."""
        if not len(self.slopes):
            yield self.lowest(Minorant(self.constant, self.linear))
            return
        quick_minimum = None if self.costs is None else self._within_costs
        problem = self.trees, self.constant, self.linear, self.k, self.aim
        ascent, is_done = Ascent(*problem, self.slopes, quick_minimum), False
        while not is_done:
            self.check_deadline()
            is_done = not ascent.advance()
            if self.memory is not None:
                self.memory[self.pairs] = self.slopes
            if is_done:
                gaps = np.abs(ascent.uphill * self.slopes)
                self.doubt[:] = np.bincount(self.trees.unit_of_pair, gaps, minlength=len(self.free))
            if not is_done or ascent.is_new:
                minimum = self.lowest(self._rounded_down(ascent.minorant))
                yield minimum
                if minimum.bound > 0:
                    return

    def _within_costs(self, minorant: Minorant) -> tuple[float, IntArray]:
        minimum = self.lowest(minorant)
        return minimum.bound, minimum.chosen

    def _rounded_down(self, minorant: Minorant) -> Minorant:
        """Return the minorant of the slopes that were kept last, lowered by what rounding can have added."""
        sizes = self.trees.size + 2 * np.abs(self.slopes).sum() + np.abs(self.linear).sum()
        error = ROUNDING * (500 + len(self.trees.values)) * float(sizes + abs(self.constant))
        return replace(minorant, constant=minorant.constant - error)

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "TreeRegion | None":
        fixed = self.trees.fixed(gone, stays, self.k)
        return replace(
            self,
            constant=self.constant + float(self.linear[gone].sum()) + fixed.constant,
            linear=self.linear[stays] + fixed.linear,
            trees=fixed.trees,
            slopes=self.slopes[fixed.pairs],
            doubt=self.doubt[stays],
            memory=None,
            pairs=self.pairs[fixed.pairs],
        )

    def branching(self, minimum: Minimum) -> int:
        """Return the unit on which the trees disagree most."""
        return int(np.argmax(self.doubt)) if self.doubt.any() else super().branching(minimum)
