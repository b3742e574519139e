"""Bounds for networks of several layers: lines below and above each neuron, from the last layer to the first.

The lines of a layer turn linear bounds over its outputs into linear bounds over its inputs. At the first
layer these are bounds over the removals (CROWN, Zhang et al.).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.lines import highest_lines, largest_sums_under, slope_limits
from butfor.models.bounds.region import Minorant, TouchingRegion
from butfor.models.compiled import network_kernels
from butfor.models.formula.activations import COMPILED, Activation
from butfor.models.formula.network import Layer

ROUNDED = 1e-9
"""Ranges that miss each other by less than this, relative to their terms, meet in a point."""


@dataclass(frozen=True, eq=False)
class LayerLines:
    """For each neuron of a layer a line below φ and a line above it."""

    lines: FloatArray
    """4 × neurons: the slopes and the offsets of the lines below, then of those above."""

    @staticmethod
    def of(activation: Activation, at: FloatArray, low: FloatArray, high: FloatArray) -> "LayerLines":
        """Return lines for each neuron of a layer on its range; the lower one touches φ near `at`."""
        kernels = network_kernels() if type(activation) in COMPILED else None
        if kernels is not None:
            return LayerLines(kernels.layer_lines(COMPILED[type(activation)], at, low, high))
        low, high = np.minimum(low, high), np.maximum(low, high)
        ones = np.ones(len(low))
        lines = []
        for weights in (ones, -ones):
            least, most = slope_limits(activation, weights, low, high)
            wanted = np.clip(weights * activation.slope(np.clip(at, low, high)), least, most)
            lines += [weights * wanted, weights * highest_lines(activation, weights, wanted, low, high)[0]]
        return LayerLines(np.array(lines))

    def below_sums(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound φ · weights (neurons × sums) by constants + inputs · slopes from below; return both."""
        kernels = network_kernels()
        if kernels is not None:
            constants, slopes = kernels.below_sums(self.lines, np.ascontiguousarray(weights))
            return constants, slopes
        slope_below, offset_below, slope_above, offset_above = self.lines
        positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        slopes = slope_below[:, np.newaxis] * positive + slope_above[:, np.newaxis] * negative
        return offset_below @ positive + offset_above @ negative, slopes


Ranges = tuple[FloatArray, FloatArray]
"""The least and the largest values of some numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DeepRegion(TouchingRegion):
    """A region of sets for the score that layers make of z − r · drops."""

    layers: tuple[Layer, ...]
    """The layers; the last one is turned to the row's side, and the limit is subtracted from its bias."""
    z: FloatArray
    drops: FloatArray
    size: FloatArray
    """The sum of the absolute terms of z, to which its rounding errors are relative."""
    ranges: tuple[Ranges, ...]
    """Of the inputs of each layer, over the sets of the region that can flip, as far as known."""
    under: Minorant | None = None
    """A minorant that a flipping set must bring to zero or below."""

    @staticmethod
    def root(*, layers: tuple[Layer, ...], z: FloatArray, drops: FloatArray, **others: Any) -> "DeepRegion":
        """Return the root region: no ranges are known yet."""
        region = DeepRegion(
            **others,
            layers=layers,
            z=z,
            drops=drops,
            size=np.abs(z) + np.abs(drops).sum(axis=0),
            ranges=unknown_ranges(layers),
            candidate=np.zeros(len(drops), dtype=bool),
        )
        region._ranged()
        return region

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "DeepRegion | None":
        best = best or self.under
        under = None
        if best is not None:
            constant = best.constant + float(best.coefficients[gone].sum())
            under = Minorant(constant, best.coefficients[stays])
        region = replace(
            self,
            z=self.z - self.drops[gone].sum(axis=0),
            drops=self.drops[stays],
            candidate=self.candidate[stays],
            ranges=tuple((low.copy(), high.copy()) for low, high in self.ranges),
            under=under,
        )
        region._ranged()
        low, high = region.ranges[0]
        return None if (low - high > ROUNDED * self.size).any() else region

    def _ranged(self) -> None:
        """Narrow the ranges of the inputs of the first layer on which it is not straight."""
        bent = _bent(self.layers[0], self.ranges[0])
        z, drops = self.z[bent], self.drops[:, bent]
        _narrow(self.ranges[0], bent, z - self._most(drops), z + self._most(-drops))

    def _most(self, terms: FloatArray) -> FloatArray:
        """Bound the sums of terms of the units that a flipping set removes (units × sums)."""
        self.check_deadline()
        costs, slack = np.zeros(len(terms)), 0.0
        if self.under is not None:
            costs, slack = self.under.coefficients, -self.under.constant
        return largest_sums_under(terms, costs, slack, self.k, self.check_deadline)

    def _minorant(self) -> Minorant:
        def least(weights: FloatArray) -> FloatArray:
            by_sum = weights.T @ self.drops.T  # contiguous sum by sum, as they are needed
            return np.asarray(self.z @ weights - self._most(by_sum.T))

        at = self.z - self.drops[self.candidate].sum(axis=0)
        constant, weights = linear_below(self.layers, at, self.ranges, least)
        return Minorant(constant + float(self.z @ weights), -self.drops @ weights)


def _bent(layer: Layer, ranges: Ranges) -> BoolArray:
    """Return on which ranges a layer is not known to be straight."""
    low, high = ranges
    is_known = np.isfinite(low) & np.isfinite(high)
    return ~(is_known & layer.activation.straight(low, high))


def _narrow(ranges: Ranges, which: BoolArray, low: FloatArray, high: FloatArray) -> None:
    """Intersect some of the ranges with others, in place."""
    ranges[0][which] = np.maximum(ranges[0][which], low)
    ranges[1][which] = np.minimum(ranges[1][which], high)


def linear_below(
    layers: tuple[Layer, ...],
    at: FloatArray,
    ranges: Sequence[Ranges],
    least: Callable[[FloatArray], FloatArray],
) -> tuple[float, FloatArray]:
    """Return a linear function of the inputs, as constant and weights, below what layers make of them.

    It touches near the inputs `at`. `ranges` are those of the inputs of each layer; those of later layers are
    narrowed in place, unless the layer is straight on them. `least` returns a lower bound of weighted sums of
    the inputs of the first layer (inputs × sums).
    """
    lines: list[LayerLines] = []
    for depth, layer in enumerate(layers):
        if depth:
            bent = _bent(layer, ranges[depth])
            weights, bias = layers[depth - 1].weights[:, bent], layers[depth - 1].bias[bent]
            down, over_down = _over_inputs(layers, lines, weights, bias)
            up, over_up = _over_inputs(layers, lines, -weights, -bias)
            _narrow(ranges[depth], bent, down + least(over_down), -(up + least(over_up)))
        lines.append(LayerLines.of(layer.activation, at, *ranges[depth]))
        at = layer.value(at[np.newaxis])[0]
    constants, weights = _over_inputs(layers, lines, layers[-1].weights, layers[-1].bias)
    return float(constants[0]), weights[:, 0]


def unknown_ranges(layers: Sequence[Layer]) -> tuple[Ranges, ...]:
    """Return ranges of the inputs of layers of which nothing is known."""
    numbers = [layer.weights.shape[0] for layer in layers]
    return tuple((np.full(n, -np.inf), np.full(n, np.inf)) for n in numbers)


def _over_inputs(
    layers: tuple[Layer, ...], lines: list[LayerLines], weights: FloatArray, bias: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bound φ · weights + bias of the last layer with lines by constants + inputs · weights of the first."""
    total = bias
    for depth in range(len(lines) - 1, -1, -1):
        constants, weights = lines[depth].below_sums(weights)
        total = total + constants
        if depth:
            total = total + layers[depth - 1].bias @ weights
            weights = layers[depth - 1].weights @ weights
    return total, weights
