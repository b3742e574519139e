"""Models as networks over affine functions of the row.

Each family that is evaluated by formula is one. A linear model is a single affine function. A neural network
or a kernel machine applies functions of one number to many affine functions and adds them up, once or several
times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.special import softmax

from butfor.models.arrays import FloatArray
from butfor.models.formula.activations import Activation, Identity, Link, Relu, SideBySide
from butfor.models.formula.affine import AffineMap, LocalAffine, grain_of
from butfor.models.margin import Margin
from butfor.models.row import Row


@dataclass(frozen=True, eq=False)
class Layer:
    """The function from z to φ(z) · weights + bias."""

    activation: Activation
    weights: FloatArray
    """inputs × outputs."""
    bias: FloatArray

    def value(self, z: FloatArray) -> FloatArray:
        """Return the outputs for each point (points × outputs)."""
        return self.activation.value(z) @ self.weights + self.bias

    def error(self, size: FloatArray, error: FloatArray, precision: float) -> tuple[FloatArray, FloatArray]:
        """Bound the outputs and their errors, for inputs of up to `size` that are off by up to `error`."""
        strength = np.abs(self.weights)
        largest = self.activation.largest(size)
        outputs = largest @ strength + np.abs(self.bias)
        from_inputs = (self.activation.steepest(size) * error + precision * largest) @ strength
        return outputs, from_inputs + len(strength) * precision * outputs


@dataclass(frozen=True, eq=False)
class Network:
    """A number for each row: its affine functions, side by side, through layers, the last with one output.

    With more than two classes there is an output for each, and the number is the margin.
    """

    kind: str
    affine_maps: tuple[AffineMap, ...]
    layers: tuple[Layer, ...] = ()
    link: Link = Identity()  # noqa: RUF009 - frozen
    sparse: bool = False
    """Whether it is one layer of many neurons, few of which change with each feature: a kernel machine."""
    softmax: bool = False
    """Whether the user sees the outputs of many classes as probabilities."""
    margin: Margin | None = None
    """How the outputs of many classes become one number; None for two classes."""
    scaled: bool = False
    """Whether the weights of the last layer are multiples of the model's own."""
    precision: float = 0.0
    """The relative error behind the affine functions, where it is larger than their own."""

    def at(self, row: Row) -> LocalAffine:
        """Evaluate the affine functions at a row. Nothing else depends on the row."""
        members = [affine_map.at(row) for affine_map in self.affine_maps]
        local = members[0] if len(members) == 1 else LocalAffine.side_by_side(members)
        local = replace(local, precision=max(local.precision, self.precision))
        return local if row.bundle_of is None else local.merged(row.bundle_of, row.n_bundles)

    def outputs(self, z: FloatArray) -> FloatArray:
        """Return all outputs, on the wide scale, from values of the affine functions (points × functions)."""
        for layer in self.layers:
            z = layer.value(z)
        return z

    def value(self, z: FloatArray) -> FloatArray:
        """Return the one number, on the wide scale."""
        outputs = self.outputs(z)
        return outputs[:, 0] if self.margin is None else self.margin.of(outputs)

    def reported(self, z: FloatArray) -> FloatArray:
        """Return the one number, on the user's scale."""
        if self.margin is None:
            return self.link.value(self.value(z))
        outputs = self.outputs(z)
        return self.margin.of(softmax(outputs, axis=1) if self.softmax else outputs)

    def error(self, affine: LocalAffine) -> float:
        """Bound the difference that rounding can make between our value and the model's own."""
        size, error = affine.size, affine.precision * affine.size
        for layer in self.layers:
            size, error = layer.error(size, error, affine.precision)
        if self.margin is None:
            return float(error[0])
        # A margin is a difference of two outputs, which may be rounded probabilities.
        return 2 * float(error.max()) + 4 * affine.precision

    def adds_exactly(self, row: Row) -> bool:
        """Return whether the model rounds no sum, whatever is removed and in whatever order it adds up.

        That holds where all terms are multiples of a power of two and not too large, such as bits and whole
        weights.
        """
        affine = self.at(row)
        digits = np.finfo(np.float32 if affine.precision > 1e-9 else np.float64).nmant + 1
        grain, size = min(affine_map.grain(row) for affine_map in self.affine_maps), affine.size
        for layer in self.layers:
            if self.scaled or layer.activation not in (Identity(), Relu()):
                return False
            if not size.max(initial=0.0) <= 2.0**digits * grain:
                return False
            grain = min(grain * grain_of(layer.weights), grain_of(layer.bias))
            size, _ = layer.error(size, np.zeros_like(size), 0.0)
        return bool(size.max(initial=0.0) <= 2.0**digits * grain)

    def collapsed(self, affine: LocalAffine) -> tuple["Network", LocalAffine]:
        """Return the same function without layers, if no layer bends anything."""
        if not self.layers or not all(layer.activation == Identity() for layer in self.layers):
            return self, affine
        now, drops = affine.now, affine.drops
        for layer in self.layers:
            now, drops = now @ layer.weights + layer.bias, drops @ layer.weights
        affine = replace(affine, now=now, own=drops, common=None, zeros_are_exact=False)
        return replace(self, layers=()), affine

    def rescaled(self, scale: float, shift: float) -> "Network":
        """Return the network of scale · value + shift."""
        network = self.without_link()
        if not network.layers:
            return replace(network, affine_maps=(network.affine_maps[0].rescaled(scale, shift),))
        *layers, last = network.layers
        last = replace(last, weights=scale * last.weights, bias=scale * last.bias + shift)
        return replace(network, layers=(*layers, last), scaled=True)

    def without_link(self) -> "Network":
        """Return the same function with its link as one more layer."""
        if self.link == Identity():
            return self
        layer = Layer(self.link, np.ones((1, 1)), np.zeros(1))
        return replace(self, layers=(*self.layers, layer), link=Identity(), sparse=False)


def mean_of(networks: Sequence[Network]) -> Network:
    """Return the network whose value is the mean of others with equally many layers."""
    joined = side_by_side([network.without_link() for network in networks])
    *layers, last = joined.layers
    share = np.full((len(networks), 1), 1 / len(networks))
    mean = Layer(last.activation, last.weights @ share, last.bias @ share)
    return replace(joined, layers=(*layers, mean), scaled=True)


def side_by_side(networks: Sequence[Network]) -> Network:
    """Return the network with one output for each of others with equally many layers."""
    layers = [_joined(at_depth) for at_depth in zip(*(each.layers for each in networks), strict=True)]
    affine_maps = tuple(each for network in networks for each in network.affine_maps)
    precision = max(network.precision for network in networks)
    scaled = any(network.scaled for network in networks)
    return Network(networks[0].kind, affine_maps, tuple(layers), precision=precision, scaled=scaled)


def _joined(layers: tuple[Layer, ...]) -> Layer:
    """Put layers side by side, each with its own inputs and outputs."""
    activations = [layer.activation for layer in layers]
    alike = all(activation == activations[0] for activation in activations)
    widths = tuple(len(layer.weights) for layer in layers)
    return Layer(
        activations[0] if alike else SideBySide(tuple(activations), widths),
        linalg.block_diag(*(layer.weights for layer in layers)),
        np.concatenate([layer.bias for layer in layers]),
    )
