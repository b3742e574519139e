"""Bounds for sums of decision trees: a linear function below every tree, whose slopes are raised together.

Any slopes give a linear function below a tree: its offset is the least value, over all leaves, of the leaf's
number less the slopes of the units that are removed there. So the sum of these functions lies below the sum
of the trees. Subgradient steps raise the slopes (Lagrangian decomposition: at its best, the bound is that of
the linear program over the leaves). Their length is Polyak's, and their direction is deflected by the one
before (Camerini, Fratta and Maffioli).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import Minimum, Minorant, Region

STEPS = 20
"""How often the slopes are raised before the region is narrowed."""
AHEAD = 0.03
"""The bound that steps aim at, as a share of the row's own distance from the flip."""
PATIENCE = 5
"""After so many steps without a better bound the steps become shorter."""
SHORTER = 0.7
DEFLECTION = 1.5
WORTH = 0.8
"""A bound is worth a try at fixing units if it leaves at most this share of the gap of the last one."""
LONG = 5_000
"""From this length on scalar products are computed without BLAS."""
ROUNDING = 1e-13
"""How far a sum may be off, in relation to the sum of its absolute terms."""


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
        constant: float,
        linear: FloatArray,
        trees: OpenTrees,
        memory: FloatArray | None = None,
        **others: Any,
    ) -> "TreeRegion":
        """Return the root region; it begins with the slopes in `memory`, and leaves better ones there."""
        return TreeRegion(
            **others,
            constant=constant,
            linear=linear,
            trees=trees,
            slopes=trees.changes_of_single_removals() if memory is None else memory,
            doubt=np.zeros(len(linear)),
            aim=AHEAD * abs(constant),
            memory=memory,
            pairs=np.arange(len(trees.unit_of_pair)),
        )._reduced()

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum for the slopes so far, then those that better slopes lead to."""
        if not len(self.slopes):
            yield self.lowest(Minorant(self.constant, self.linear))
            return
        slopes, pace, stalled, highest, worth = self.slopes.copy(), 1.0, 0, -np.inf, -np.inf
        uphill = direction = np.zeros(len(slopes))
        steepness, best = 1.0, None
        for step in range(STEPS):
            if step % 8 == 0:
                self.check_deadline()
            bottom = self.trees.bottom(slopes)
            minorant = self._minorant(slopes, bottom.offset)
            bound, chosen = self._quick_minimum(minorant)
            stalled += 1
            if bound > highest:
                highest, stalled, best = bound, 0, minorant
                self._keep(slopes)
            if bound > worth:
                worth, best = max(bound, WORTH * bound), None
                minimum = self.lowest(self._rounded_down(minorant))
                yield minimum
                if minimum.bound > 0:
                    return
            if stalled == PATIENCE:
                pace, stalled = SHORTER * pace, 0
            removed = np.zeros(len(self.free))
            removed[chosen] = 1.0
            uphill = removed[self.trees.unit_of_pair] - bottom.removed
            back = _dot(direction, uphill)  # a direction must not go back on the last one
            direction = uphill if back >= 0 else uphill - DEFLECTION * back / steepness * direction
            steepness = _dot(direction, direction)
            if steepness < 1e-18:
                break
            slopes = slopes + pace * (self.aim - bound) / steepness * direction
        self.doubt[:] = np.bincount(
            self.trees.unit_of_pair, np.abs(uphill * self.slopes), minlength=len(self.free)
        )
        if best is not None:
            yield self.lowest(self._rounded_down(best))

    def _keep(self, slopes: FloatArray) -> None:
        """Keep slopes for the next call and, at the root, for the next root."""
        self.slopes[:] = slopes
        if self.memory is not None:
            self.memory[self.pairs] = slopes

    def _minorant(self, slopes: FloatArray, offset: float) -> Minorant:
        by_trees = np.bincount(self.trees.unit_of_pair, slopes, minlength=len(self.free))
        return Minorant(self.constant + offset, self.linear + by_trees)

    def _rounded_down(self, minorant: Minorant) -> Minorant:
        """Return the minorant of the slopes that were kept last, lowered by what rounding can have added."""
        sizes = np.abs(self.trees.values).sum() + 2 * np.abs(self.slopes).sum() + np.abs(self.linear).sum()
        return replace(minorant, constant=minorant.constant - ROUNDING * float(sizes + abs(self.constant)))

    def _quick_minimum(self, minorant: Minorant) -> tuple[float, IntArray]:
        """Return the minimum of a minorant and its minimiser, without an order of the units."""
        if self.costs is not None:
            minimum = self.lowest(minorant)
            return minimum.bound, minimum.chosen
        c = minorant.coefficients
        chosen = np.argpartition(c, self.k)[: self.k] if self.k < len(c) else np.arange(len(c))
        chosen = chosen[c[chosen] < 0]
        return minorant.constant + float(c[chosen].sum()), chosen

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "TreeRegion | None":
        trees, pairs = self.trees.narrowed(gone, stays)
        return replace(
            self,
            constant=self.constant + float(self.linear[gone].sum()),
            linear=self.linear[stays],
            trees=trees,
            slopes=self.slopes[pairs],
            doubt=self.doubt[stays],
            memory=None,
            pairs=self.pairs[pairs],
        )._reduced()

    def _reduced(self) -> "TreeRegion":
        """Drop leaves that need more than k removals; move trees of one leaf or unit into the linear term."""
        trees, pairs, constant, linear = self.trees.reduced(self.k, len(self.free))
        return replace(
            self,
            constant=self.constant + constant,
            linear=self.linear + linear,
            trees=trees,
            slopes=self.slopes[pairs],
            doubt=self.doubt.copy(),
            pairs=self.pairs[pairs],
        )

    def branching(self, minimum: Minimum) -> int:
        """Return the unit on which the trees disagree most."""
        return int(np.argmax(self.doubt)) if self.doubt.any() else super().branching(minimum)


def _dot(one: FloatArray, other: FloatArray) -> float:
    """Return the scalar product; of long vectors without BLAS, whose threads cost more than they save."""
    return float(one @ other if len(one) < LONG else np.einsum("i,i", one, other))
