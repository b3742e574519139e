"""Bounds for networks of several layers: lines below and above each neuron, from the last layer to the first.

The lines of a layer turn linear bounds over its outputs into linear bounds over its inputs. At the first
layer these are bounds over the removals (CROWN, Zhang et al.).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.lines import highest_lines, largest_sums, largest_sums_under, slope_limits
from butfor.models.bounds.region import Minorant, TouchingRegion
from butfor.models.formula.network import Layer

ROUNDED = 1e-9
"""Ranges that miss each other by less than this, relative to their terms, meet in a point."""


@dataclass(frozen=True, eq=False)
class LayerLines:
    """For each neuron of a layer a line below φ and a line above it, as slopes and offsets."""

    below: tuple[FloatArray, FloatArray]
    above: tuple[FloatArray, FloatArray]


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
            ranges=tuple(_unknown(layer.weights.shape[0]) for layer in layers),
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
        """Narrow the ranges of the inputs of the first layer."""
        _narrow(self.ranges[0], self.z - self._most(self.drops), self.z + self._most(-self.drops))

    def _most(self, terms: FloatArray) -> FloatArray:
        """Bound the sums of terms of the units that a flipping set removes (units × sums)."""
        self.check_deadline()
        if self.under is None or not self.k:
            return largest_sums(terms, self.k)
        slack = -self.under.constant
        return largest_sums_under(terms, self.under.coefficients, slack, self.k, self.check_deadline)

    def _minorant(self) -> Minorant:
        def least(weights: FloatArray) -> FloatArray:
            return np.asarray(self.z @ weights - self._most(self.drops @ weights))

        at = self.z - self.drops[self.candidate].sum(axis=0)
        constant, weights = linear_below(self.layers, at, self.ranges, least)
        return Minorant(constant + float(self.z @ weights), -self.drops @ weights)


def _unknown(n: int) -> Ranges:
    return np.full(n, -np.inf), np.full(n, np.inf)


def _narrow(ranges: Ranges, low: FloatArray, high: FloatArray) -> None:
    """Intersect ranges with others, in place."""
    np.maximum(ranges[0], low, out=ranges[0])
    np.minimum(ranges[1], high, out=ranges[1])


def linear_below(
    layers: tuple[Layer, ...],
    at: FloatArray,
    ranges: Sequence[Ranges],
    least: Callable[[FloatArray], FloatArray],
) -> tuple[float, FloatArray]:
    """Return a linear function of the inputs, as constant and weights, below what layers make of them.

    It touches near the inputs `at`. `ranges` are those of the inputs of the first layer, and as many of later
    ones as are known, which are narrowed in place; `least` returns a lower bound of weighted sums of the
    inputs of the first layer (inputs × sums).
    """
    lines: list[LayerLines] = []
    low, high = ranges[0]
    for depth, layer in enumerate(layers):
        lines.append(_lines_of(layer, at, low, high))
        constants, weights = _over_inputs(layers, lines, layer.weights, layer.bias)
        if depth == len(layers) - 1:
            return float(constants[0]), weights[:, 0]
        low = constants + least(weights)
        constants, weights = _over_inputs(layers, lines, -layer.weights, -layer.bias)
        high = -(constants + least(weights))
        if depth + 1 < len(ranges):
            _narrow(ranges[depth + 1], low, high)
            low, high = ranges[depth + 1]
        at = layer.value(at[np.newaxis])[0]
    raise AssertionError("a network has layers")


def _over_inputs(
    layers: tuple[Layer, ...], lines: list[LayerLines], weights: FloatArray, bias: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bound φ · weights + bias of the last layer with lines by constants + inputs · weights of the first."""
    constants = bias.copy()
    for depth in range(len(lines) - 1, -1, -1):
        (slope_below, offset_below), (slope_above, offset_above) = lines[depth].below, lines[depth].above
        positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        constants = constants + offset_below @ positive + offset_above @ negative
        weights = slope_below[:, np.newaxis] * positive + slope_above[:, np.newaxis] * negative
        if depth:
            constants = constants + layers[depth - 1].bias @ weights
            weights = layers[depth - 1].weights @ weights
    return constants, weights


def _lines_of(layer: Layer, at: FloatArray, low: FloatArray, high: FloatArray) -> LayerLines:
    """Return lines for each neuron of a layer on its range; the lower one touches φ near `at`."""
    low, high = np.minimum(low, high), np.maximum(low, high)
    ones = np.ones(len(low))
    slopes, offsets = [], []
    for weights in (ones, -ones):
        least, most = slope_limits(layer.activation, weights, low, high)
        wanted = np.clip(weights * layer.activation.slope(np.clip(at, low, high)), least, most)
        slopes.append(weights * wanted)
        offsets.append(weights * highest_lines(layer.activation, weights, wanted, low, high)[0])
    return LayerLines((slopes[0], offsets[0]), (slopes[1], offsets[1]))
