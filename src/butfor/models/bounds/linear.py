"""Bounds for linear scores: the score is its own minorant, and sorting is the proof."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.region import Minimum, Minorant, Region, RegionCheck


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRegion(Region):
    """A region of sets for the score constant − r · drops."""

    constant: float
    drops: FloatArray

    def check(self) -> RegionCheck:
        """Refute the region without sorting where even the largest drops together are too small."""
        largest = np.partition(self.drops, -self.k)[-self.k :] if 0 < self.k < len(self.drops) else self.drops
        lowest = self.constant - float(largest[largest > 0].sum())
        if lowest > 0:
            nothing = np.zeros(len(self.free), dtype=bool)
            return RegionCheck(True, -lowest, None, nothing, nothing, [])
        return super().check()

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum of the score itself."""
        yield self.lowest(Minorant(self.constant, -self.drops))

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "LinearRegion":
        return replace(self, constant=self.constant - float(self.drops[gone].sum()), drops=self.drops[stays])
