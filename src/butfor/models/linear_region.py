"""Proofs for linear scores: they are their own minorant, and a sort is the proof."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from butfor.models.base import BoolArray, FloatArray, IntArray
from butfor.models.region import Minorant, Region


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRegion(Region):
    """A region of sets for constant − r · drops."""

    constant: float
    drops: FloatArray

    def minorants(self) -> Iterator[Minorant]:
        """Yield the score itself."""
        yield Minorant(self.constant, -self.drops)

    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "LinearRegion":
        return replace(self, constant=self.constant - float(self.drops[gone].sum()), drops=self.drops[stays])

    def branching(self, chosen: IntArray) -> int:
        """Choose the feature that the minimiser removes first."""
        return int(chosen[0])
