"""Proofs for networks of several layers: lines below and above every unit, from the last layer to the first.

The lines of a layer turn linear bounds over its outputs into linear bounds over its inputs, until they are
bounds over the removals (Zhang et al., CROWN).
"""

from dataclasses import dataclass, replace

import numpy as np

from butfor.models.base import BoolArray, FloatArray
from butfor.models.lines import highest_lines, largest_sums, slope_limits
from butfor.models.network import Layer
from butfor.models.region import Minorant, TouchingRegion


@dataclass(frozen=True, eq=False)
class _Lines:
    """For every unit of a layer a line below φ and one above it: slopes and offsets."""

    below: tuple[FloatArray, FloatArray]
    above: tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class DeepRegion(TouchingRegion):
    """A region of sets for layers of z − r · drops."""

    layers: tuple[Layer, ...]
    """With the side of the row and the limit worked into the last."""
    z: FloatArray
    drops: FloatArray

    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "DeepRegion":
        return replace(
            self,
            z=self.z - self.drops[gone].sum(axis=0),
            drops=self.drops[stays],
            candidate=self.candidate[stays],
        )

    def _minorant(self) -> Minorant:
        at = (self.z - self.drops[self.candidate].sum(axis=0))[np.newaxis]
        low = self.z - largest_sums(self.drops, self.k)
        high = self.z + largest_sums(-self.drops, self.k)
        lines: list[_Lines] = []
        for depth, layer in enumerate(self.layers):
            self.check_deadline()
            lines.append(_lines(layer, at[0], low, high))
            constants, slopes = self._bound_below(lines, layer.weights, layer.bias)
            if depth == len(self.layers) - 1:
                return Minorant(float(constants[0]), slopes[:, 0])
            low = constants - largest_sums(-slopes, self.k)
            constants, slopes = self._bound_below(lines, -layer.weights, -layer.bias)
            high = largest_sums(-slopes, self.k) - constants
            at = layer.value(at)
        raise AssertionError("a network has layers")

    def _bound_below(
        self, lines: list[_Lines], weights: FloatArray, bias: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound φ(inputs) · weights + bias by constants + r · slopes, through all layers so far."""
        constants = bias.copy()
        for depth in range(len(lines) - 1, -1, -1):
            (slope_below, offset_below), (slope_above, offset_above) = lines[depth].below, lines[depth].above
            positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
            constants = constants + offset_below @ positive + offset_above @ negative
            weights = slope_below[:, np.newaxis] * positive + slope_above[:, np.newaxis] * negative
            if depth:
                constants = constants + self.layers[depth - 1].bias @ weights
                weights = self.layers[depth - 1].weights @ weights
        return constants + self.z @ weights, -self.drops @ weights


def _lines(layer: Layer, at: FloatArray, low: FloatArray, high: FloatArray) -> _Lines:
    """Bound every unit of a layer on its range, below by a line that touches near `at`, and above."""
    low, high = np.minimum(low, high), np.maximum(low, high)
    ones = np.ones(len(low))
    slopes, offsets = [], []
    for weights in (ones, -ones):
        least, most = slope_limits(layer.activation, weights, low, high)
        wanted = np.clip(weights * layer.activation.slope(np.clip(at, low, high)), least, most)
        slopes.append(weights * wanted)
        offsets.append(weights * highest_lines(layer.activation, weights, wanted, low, high)[0])
    return _Lines((slopes[0], offsets[0]), (slopes[1], offsets[1]))
