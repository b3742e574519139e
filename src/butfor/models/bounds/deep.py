"""Bounds for networks of several layers: lines below and above each neuron, from the last layer to the first.

The lines of a layer turn linear bounds over its outputs into linear bounds over its inputs. At the first
layer these are bounds over the removals (CROWN, Zhang et al.).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.lines import highest_lines, largest_sums, slope_limits
from butfor.models.bounds.region import Minorant, TouchingRegion
from butfor.models.formula.network import Layer


@dataclass(frozen=True, eq=False)
class LayerLines:
    """For each neuron of a layer a line below φ and a line above it, as slopes and offsets."""

    below: tuple[FloatArray, FloatArray]
    above: tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class DeepRegion(TouchingRegion):
    """A region of sets for the score that layers make of z − r · drops."""

    layers: tuple[Layer, ...]
    """The layers; the last one is turned to the row's side, and the limit is subtracted from its bias."""
    z: FloatArray
    drops: FloatArray

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "DeepRegion":
        return replace(
            self,
            z=self.z - self.drops[gone].sum(axis=0),
            drops=self.drops[stays],
            candidate=self.candidate[stays],
        )

    def _minorant(self) -> Minorant:
        def least(weights: FloatArray) -> FloatArray:
            self.check_deadline()
            return np.asarray(self.z @ weights - largest_sums(self.drops @ weights, self.k))

        at = self.z - self.drops[self.candidate].sum(axis=0)
        low = self.z - largest_sums(self.drops, self.k)
        high = self.z + largest_sums(-self.drops, self.k)
        constant, weights = linear_below(self.layers, at, low, high, least)
        return Minorant(constant + float(self.z @ weights), -self.drops @ weights)


def linear_below(
    layers: tuple[Layer, ...],
    at: FloatArray,
    low: FloatArray,
    high: FloatArray,
    least: Callable[[FloatArray], FloatArray],
) -> tuple[float, FloatArray]:
    """Return a linear function of the inputs, as constant and weights, below what layers make of them.

    It touches near the inputs `at`. The inputs lie between `low` and `high`; `least` returns a lower bound of
    weighted sums of them (inputs × sums).
    """
    lines: list[LayerLines] = []
    for depth, layer in enumerate(layers):
        lines.append(_lines_of(layer, at, low, high))
        constants, weights = _over_inputs(layers, lines, layer.weights, layer.bias)
        if depth == len(layers) - 1:
            return float(constants[0]), weights[:, 0]
        low = constants + least(weights)
        constants, weights = _over_inputs(layers, lines, -layer.weights, -layer.bias)
        high = -(constants + least(weights))
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
