"""Proofs for linear scores: they are their own minorant, and a sort is the proof."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from butfor.models.base import BoolArray, FloatArray
from butfor.models.region import Minimum, Minorant, Region


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRegion(Region):
    """A region of sets for constant − r · drops."""

    constant: float
    drops: FloatArray

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum of the score itself."""
        yield self.lowest(Minorant(self.constant, -self.drops))

    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "LinearRegion":
        return replace(self, constant=self.constant - float(self.drops[gone].sum()), drops=self.drops[stays])
