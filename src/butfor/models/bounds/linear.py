"""Bounds for linear scores: the score is its own minorant, and sorting is the proof."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.region import Minimum, Minorant, Region


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRegion(Region):
    """A region of sets for the score constant − r · drops."""

    constant: float
    drops: FloatArray

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum of the score itself."""
        yield self.lowest(Minorant(self.constant, -self.drops))

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "LinearRegion":
        return replace(self, constant=self.constant - float(self.drops[gone].sum()), drops=self.drops[stays])
