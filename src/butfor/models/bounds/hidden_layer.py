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
    MULTIPLIERS,
    chord_slopes,
    largest_sums,
    largest_sums_under,
    lines_below,
    slope_limits,
)
from butfor.models.bounds.region import Minimum, Minorant, Region, RegionCheck
from butfor.models.compiled import network_kernels
from butfor.models.formula.activations import COMPILED, Activation

STEPS, COMPILED_STEPS = 3, 12
"""How often the slopes are raised before the region is narrowed; compiled steps cost far less than that."""
WEIGHTS, Z, LOW, HIGH, SIZE, SLOPES = range(6)


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenLayerRegion(Region):
    """A region of sets for the score constant + linear · r + Σ weights · φ(z − r · drops)."""

    constant: float
    linear: FloatArray
    activation: Activation
    neurons: FloatArray
    """6 × neurons, by the names above: their weights; z; the least and the largest value of z − r · drops
    over the sets of the region that can flip; the sum of the absolute terms of z, to which its rounding
    errors are relative; and the slopes of the lines below them so far."""
    drops: FloatArray

    @staticmethod
    def root(
        *, weights: FloatArray, z: FloatArray, drops: FloatArray, activation: Activation, **others: Any
    ) -> "HiddenLayerRegion":
        """Return the root region: the ranges of the neurons are not known yet."""
        n, n_neurons = drops.shape
        neurons = np.empty((6, n_neurons))
        neurons[WEIGHTS], neurons[Z], neurons[LOW], neurons[HIGH] = weights, z, -np.inf, np.inf
        neurons[SIZE], neurons[SLOPES] = np.abs(z) + np.abs(drops).sum(axis=0), weights * activation.slope(z)
        region = HiddenLayerRegion(
            **others,
            linear=np.zeros(n),
            activation=activation,
            neurons=neurons,
            drops=np.ascontiguousarray(drops),
        )
        kernels = region._kernels
        return region._narrowed_by(kernels, None, 0.0)[1] if kernels else region._ranged()._folded()

    @property
    def _kernels(self) -> Any:
        """The module of compiled loops, if they know these neurons."""
        return network_kernels() if type(self.activation) in COMPILED else None

    def check(self) -> RegionCheck:
        """Have the minorants fix units and propose sets."""
        kernels = self._kernels
        if kernels is None or self.costs is not None:
            return super().check()
        self.check_deadline()
        kind = COMPILED[type(self.activation)]
        refuted, highest, constant, coefficients, gone, kept, proposed, n_proposed = kernels.check(
            kind, self.constant, self.linear, self.neurons, self.drops, self.k, COMPILED_STEPS
        )
        sets = [tuple(np.sort(each[each >= 0]).tolist()) for each in proposed[:n_proposed]]
        return RegionCheck(
            refuted, -highest, Minorant(constant, coefficients), gone, kept & ~gone, self._with_removed(sets)
        )

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minimum for the slopes so far, then raise the slopes, and repeat."""
        weights, z, low, high, _, slopes_so_far = self.neurons
        least, most = slope_limits(self.activation, weights, low, high)
        slopes = np.clip(slopes_so_far, least, most)
        highest_lines = self._lines()
        pace = 1.0
        best, stalled = -np.inf, 0
        for _ in range(STEPS):
            self.check_deadline()
            offsets, touching = highest_lines(slopes)
            minorant = Minorant(
                self.constant + float(offsets.sum() + slopes @ z), self.linear - self.drops @ slopes
            )
            slopes_so_far[:] = slopes
            minimum = self.lowest(minorant)
            yield minimum
            bound = minimum.bound
            stalled = 0 if bound > best else stalled + 1
            best = max(best, bound)
            if stalled == 3:
                pace, stalled = 0.6 * pace, 0
            uphill = z - self.drops[minimum.chosen].sum(axis=0) - touching
            uphill[(uphill < 0) & (slopes <= least) | (uphill > 0) & (slopes >= most)] = 0.0
            steepness = float(uphill @ uphill)
            if steepness < 1e-18:
                return
            slopes = np.clip(slopes - pace * bound / steepness * uphill, least, most)

    def _after_fixing(
        self, gone: BoolArray, stays: BoolArray, best: Minorant | None
    ) -> "HiddenLayerRegion | None":
        neurons = self.neurons.copy()
        neurons[Z] -= self.drops[gone].sum(axis=0)
        region = replace(
            self,
            constant=self.constant + float(self.linear[gone].sum()),
            linear=self.linear[stays],
            neurons=neurons,
            drops=self.drops[stays],
        )
        coefficients, slack = None, 0.0
        if best is not None and region.k and neurons.size:
            coefficients = best.coefficients[stays]
            slack = -best.constant - float(best.coefficients[gone].sum())
        kernels = self._kernels
        if kernels is not None:
            self.check_deadline()
            is_left, region = region._narrowed_by(kernels, coefficients, slack)
            return region if is_left else None
        region = region._ranged()
        if coefficients is not None:
            region = region._tightened(coefficients, slack)
        return None if (region.neurons[LOW] > region.neurons[HIGH]).any() else region._folded()

    def branching(self, minimum: Minimum) -> int:
        """Return the unit that moves most those neurons whose lines are worst at the minimiser."""
        weights, z, *_, slopes = self.neurons
        at = z - self.drops[minimum.order[: self.k]].sum(axis=0)
        offsets, _ = self._lines()(slopes)
        errors = weights * self.activation.value(at) - slopes * at - offsets
        return int(np.argmax(np.abs(self.drops) @ np.maximum(errors, 0.0)))

    def _lines(self) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        weights, _, low, high, *_ = self.neurons
        return lines_below(self.activation, weights, low, high)

    def _narrowed_by(
        self, kernels: Any, coefficients: FloatArray | None, slack: float
    ) -> tuple[bool, "HiddenLayerRegion"]:
        """Do what `_ranged`, `_tightened` and `_folded` do, compiled; return whether some set is left."""
        kind, n_multipliers = COMPILED[type(self.activation)], 0 if coefficients is None else MULTIPLIERS
        costs = self.linear if coefficients is None else coefficients
        is_left, constant, linear, neurons, drops = kernels.narrowed(
            kind, self.constant, self.linear, self.neurons, self.drops, self.k, costs, slack, n_multipliers
        )
        return is_left, replace(self, constant=constant, linear=linear, neurons=neurons, drops=drops)

    def _ranged(self) -> "HiddenLayerRegion":
        """Narrow each range to what at most k removals can reach."""
        fall = largest_sums(self.drops, self.k)
        rise = largest_sums(-self.drops, self.k)
        return self._within(self.neurons[Z] - fall, self.neurons[Z] + rise)

    def _within(self, low: FloatArray, high: FloatArray) -> "HiddenLayerRegion":
        """Intersect the ranges with others. Ranges that miss each other only by rounding meet in a point."""
        neurons = self.neurons.copy()
        low, high = np.maximum(neurons[LOW], low), np.minimum(neurons[HIGH], high)
        rounded = (low > high) & (low - high <= 1e-9 * neurons[SIZE])
        low[rounded], high[rounded] = high[rounded], low[rounded]
        neurons[LOW], neurons[HIGH] = low, high
        return replace(self, neurons=neurons)

    def _tightened(self, coefficients: FloatArray, slack: float) -> "HiddenLayerRegion":
        """Narrow each range to the sets with coefficients · r ≤ slack, by Lagrange multipliers."""
        fall, rise = (
            largest_sums_under(drops, coefficients, slack, self.k, self.check_deadline)
            for drops in (self.drops, -self.drops)
        )
        return self._within(self.neurons[Z] - fall, self.neurons[Z] + rise)

    def _folded(self) -> "HiddenLayerRegion":
        """Move neurons that are straight on their range into the linear term."""
        straight = self.activation.straight(self.neurons[LOW], self.neurons[HIGH])
        if not straight.any():
            return self
        weights, z, low, high, *_ = self.neurons[:, straight]
        slopes = weights * chord_slopes(self.activation, low, high)
        constant = weights * self.activation.value(low) + slopes * (z - low)
        return replace(
            self,
            constant=self.constant + float(constant.sum()),
            linear=self.linear - self.drops[:, straight] @ slopes,
            neurons=self.neurons[:, ~straight],
            drops=self.drops[:, ~straight],
        )
