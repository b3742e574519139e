"""Bounds for networks over sums of trees: calibrated, averaged and stacked ensembles.

The lines of the layers turn the score into a linear function of the sums of trees that lies below it (CROWN),
and that is a sum of trees itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.deep import linear_below, unknown_ranges
from butfor.models.bounds.lines import largest_sums
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import Minimum, Minorant, Region, at_candidates
from butfor.models.bounds.trees import TreeRegion
from butfor.models.formula.network import Layer


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeLayersRegion(Region):
    """A region of sets for the score that layers make of z − r · drops + the leaves that r reaches."""

    layers: tuple[Layer, ...]
    """The layers; the last one is turned to the row's side, and the limit is subtracted from its bias."""
    z: FloatArray
    drops: FloatArray
    trees: OpenTrees
    """The trees, with a number for each function at each leaf."""
    candidate: BoolArray
    """Which free units the candidate removes, near which the lines touch."""

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of the sums of trees below the score, for a few candidates."""
        yield from at_candidates(self.candidate, lambda: self.minima_of(self._sum_of_trees()))

    def _sum_of_trees(self) -> TreeRegion:
        """Return a region of the same sets whose score is a sum of trees, nowhere above this one's."""
        everything = np.eye(len(self.z))
        at = self.z - self.drops[self.candidate].sum(axis=0) + self.trees.value(self.candidate)
        of_inputs = self._least(everything), -self._least(-everything)
        ranges = (of_inputs, *unknown_ranges(self.layers[1:]))
        constant, weights = linear_below(self.layers, at, ranges, self._least)
        return TreeRegion.root(
            free=self.free,
            k=self.k,
            check_deadline=self.check_deadline,
            costs=self.costs,
            capacity=self.capacity,
            constant=constant + float(self.z @ weights),
            linear=-(self.drops @ weights),
            trees=self.trees.weighted(weights),
        )

    def _least(self, weights: FloatArray) -> FloatArray:
        """Bound weighted sums of the functions from below (functions × sums)."""
        self.check_deadline()
        affine = self.z @ weights - largest_sums(self.drops @ weights, self.k)
        return np.asarray(affine + self.trees.weighted(weights).least(self.k))

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "TreeLayersRegion":
        trees, _ = self.trees.narrowed(gone, stays)
        return replace(
            self,
            z=self.z - self.drops[gone].sum(axis=0),
            drops=self.drops[stays],
            trees=trees,
            candidate=self.candidate[stays],
        )
