"""Bounds for networks of one hidden layer: sums of one-dimensional functions of affine functions.

The score is constant + linear · r + Σ weight · φ(z − r · drops). A line below each weight · φ, on the range
of its affine function, gives a linear function below the whole score (CROWN, Zhang et al.). Polyak steps on
the dual raise the slopes of these lines. The ranges are narrowed to what a flipping set can reach.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.lines import (
    chord_slopes,
    largest_sums,
    largest_sums_under,
    lines_below,
    slope_limits,
)
from butfor.models.bounds.region import Minimum, Minorant, Region
from butfor.models.formula.activations import Activation

STEPS = 3
"""How often the slopes are raised before the region is narrowed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenLayerRegion(Region):
    """A region of sets for the score constant + linear · r + Σ weights · φ(z − r · drops)."""

    constant: float
    linear: FloatArray
    activation: Activation
    weights: FloatArray
    z: FloatArray
    drops: FloatArray
    low: FloatArray
    """The least value of z − r · drops, for each neuron, over the sets of the region that can flip."""
    high: FloatArray
    """The largest such value."""
    size: FloatArray
    """The sum of the absolute terms of z, to which its rounding errors are relative."""
    slopes: FloatArray
    """The slopes of the lines below the neurons so far."""

    @staticmethod
    def root(
        *, weights: FloatArray, z: FloatArray, drops: FloatArray, activation: Activation, **others: Any
    ) -> "HiddenLayerRegion":
        """Return the root region: the ranges of the neurons are not known yet."""
        n, n_neurons = drops.shape
        region = HiddenLayerRegion(
            **others,
            linear=np.zeros(n),
            activation=activation,
            weights=weights,
            z=z,
            drops=drops,
            low=np.full(n_neurons, -np.inf),
            high=np.full(n_neurons, np.inf),
            size=np.abs(z) + np.abs(drops).sum(axis=0),
            slopes=weights * activation.slope(z),
        )
        return region._ranged()._folded()

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum for the slopes so far, then raise the slopes, and repeat."""
        least, most = slope_limits(self.activation, self.weights, self.low, self.high)
        slopes = np.clip(self.slopes, least, most)
        highest_lines = self._lines()
        pace = 1.0
        best, stalled = -np.inf, 0
        for _ in range(STEPS):
            self.check_deadline()
            offsets, touching = highest_lines(slopes)
            minorant = Minorant(
                self.constant + float(offsets.sum() + slopes @ self.z), self.linear - self.drops @ slopes
            )
            self.slopes[:] = slopes
            minimum = self.lowest(minorant)
            yield minimum
            bound = minimum.bound
            stalled = 0 if bound > best else stalled + 1
            best = max(best, bound)
            if stalled == 3:
                pace, stalled = 0.6 * pace, 0
            uphill = self.z - self.drops[minimum.chosen].sum(axis=0) - touching
            uphill[(uphill < 0) & (slopes <= least) | (uphill > 0) & (slopes >= most)] = 0.0
            steepness = float(uphill @ uphill)
            if steepness < 1e-18:
                return
            slopes = np.clip(slopes - pace * bound / steepness * uphill, least, most)

    def _after_fixing(
        self, gone: BoolArray, stays: BoolArray, best: Minorant | None
    ) -> "HiddenLayerRegion | None":
        region = replace(
            self,
            constant=self.constant + float(self.linear[gone].sum()),
            linear=self.linear[stays],
            z=self.z - self.drops[gone].sum(axis=0),
            drops=self.drops[stays],
            slopes=self.slopes.copy(),
        )._ranged()
        if best is not None and region.k and len(region.z):
            slack = -best.constant - float(best.coefficients[gone].sum())
            region = region._tightened(best.coefficients[stays], slack)
        return None if (region.low > region.high).any() else region._folded()

    def branching(self, minimum: Minimum) -> int:
        """Return the unit that moves most those neurons whose lines are worst at the minimiser."""
        at = self.z - self.drops[minimum.order[: self.k]].sum(axis=0)
        offsets, _ = self._lines()(self.slopes)
        errors = self.weights * self.activation.value(at) - self.slopes * at - offsets
        return int(np.argmax(np.abs(self.drops) @ np.maximum(errors, 0.0)))

    def _lines(self) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        return lines_below(self.activation, self.weights, self.low, self.high)

    def _ranged(self) -> "HiddenLayerRegion":
        """Narrow each range to what at most k removals can reach."""
        fall = largest_sums(self.drops, self.k)
        rise = largest_sums(-self.drops, self.k)
        return self._within(self.z - fall, self.z + rise)

    def _within(self, low: FloatArray, high: FloatArray) -> "HiddenLayerRegion":
        """Intersect the ranges with others. Ranges that miss each other only by rounding meet in a point."""
        low, high = np.maximum(self.low, low), np.minimum(self.high, high)
        rounded = (low > high) & (low - high <= 1e-9 * self.size)
        low[rounded], high[rounded] = high[rounded], low[rounded]
        return replace(self, low=low, high=high)

    def _tightened(self, coefficients: FloatArray, slack: float) -> "HiddenLayerRegion":
        """Narrow each range to the sets with coefficients · r ≤ slack, by Lagrange multipliers."""
        multipliers = 1.0 / np.maximum(np.abs(self.weights), 1e-3)
        fall, rise = (
            largest_sums_under(drops, coefficients, slack, self.k, multipliers, self.check_deadline)
            for drops in (self.drops, -self.drops)
        )
        return self._within(self.z - fall, self.z + rise)

    def _folded(self) -> "HiddenLayerRegion":
        """Move neurons that are straight on their range into the linear term."""
        straight = self.activation.straight(self.low, self.high)
        if not straight.any():
            return self
        low, high, z, weights = (each[straight] for each in (self.low, self.high, self.z, self.weights))
        slopes = weights * chord_slopes(self.activation, low, high)
        constant = weights * self.activation.value(low) + slopes * (z - low)
        bent = ~straight
        return replace(
            self,
            constant=self.constant + float(constant.sum()),
            linear=self.linear - self.drops[:, straight] @ slopes,
            weights=self.weights[bent],
            z=self.z[bent],
            drops=self.drops[:, bent],
            low=self.low[bent],
            high=self.high[bent],
            size=self.size[bent],
            slopes=self.slopes[bent],
        )
