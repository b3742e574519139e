"""Models as networks over affine functions of the row.

Each family that is evaluated by formula is one. A linear model is a single affine function. A neural network
or a kernel machine applies functions of one number to many affine functions and adds them up, once or several
times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import softmax

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.compiled import (
    machine_kernels,
    machine_row_kernels,
    network_kernels,
    row_kernels,
    tree_kernels,
)
from butfor.models.counted import CountedText
from butfor.models.formula.activations import (
    COMPILED,
    Activation,
    Identity,
    Link,
    Quotient,
    Relu,
    SideBySide,
)
from butfor.models.formula.affine import AffineMap, LocalAffine, grain_of
from butfor.models.formula.mixed_map import MixedMap
from butfor.models.formula.trees.tree_map import TreeMap
from butfor.models.margin import Margin
from butfor.models.row import Row


@dataclass(frozen=True, eq=False)
class Layer:
    """The function from z to φ(z) · weights + bias."""

    activation: Activation
    weights: FloatArray
    """inputs × outputs."""
    bias: FloatArray

    @cached_property
    def strength(self) -> FloatArray:
        """The absolute weights."""
        return np.abs(self.weights)

    def value(self, z: FloatArray) -> FloatArray:
        """Return the outputs for each point (points × outputs)."""
        return self.activation.value(z) @ self.weights + self.bias

    def error(self, size: FloatArray, error: FloatArray, precision: float) -> tuple[FloatArray, FloatArray]:
        """Bound the outputs and their errors, for inputs of up to `size` that are off by up to `error`."""
        strength = self.strength
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
    ties_to_first: bool = False
    """Whether the model decides for the first of two classes where both are equally probable."""
    precision: float = 0.0
    """The relative error behind the affine functions, where it is larger than their own."""

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return len(self.layers[-1].bias) if self.layers else sum(len(each.bias) for each in self.affine_maps)

    @cached_property
    def has_trees(self) -> bool:
        """Whether any of its functions of the row is a sum of trees."""
        return any(isinstance(each, TreeMap) for each in self.affine_maps)

    @cached_property
    def has_ratios(self) -> bool:
        """Whether any of its functions of the row is divided by a norm."""
        return any(isinstance(each, MixedMap) for each in self.affine_maps)

    def compile(self) -> None:
        """Have compiled what a proof needs, which takes some seconds the first time on a machine."""
        if self.has_trees:
            tree_kernels()
        elif self.sparse:
            machine_kernels()
        elif self._has_compiled_layers:
            network_kernels()

    @property
    def _has_compiled_layers(self) -> bool:
        return any(type(layer.activation) in COMPILED for layer in self.layers)

    def prepare(self) -> None:
        """Do once what every process would do for itself."""
        if self.sparse:
            machine_row_kernels()
        elif self._has_compiled_layers and not self.has_trees:
            row_kernels()
        for each in self.affine_maps:
            if isinstance(each, TreeMap):
                each.prepare()

    def at(self, row: Row | CountedText) -> LocalAffine:
        """Evaluate the affine functions at a row. Nothing else depends on the row."""
        members = [affine_map.at(row) for affine_map in self.affine_maps]
        local = members[0] if len(members) == 1 else LocalAffine.side_by_side(members)
        return local if local.precision >= self.precision else replace(local, precision=self.precision)

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
        return self.margin.of(self.scores(z))

    def scores(self, z: FloatArray) -> FloatArray:
        """Return all outputs, on the user's scale."""
        outputs = self.outputs(z)
        return softmax(outputs, axis=1) if self.softmax else self.link.value(outputs)

    def error(self, affine: LocalAffine) -> float:
        """Bound the difference that rounding can make between our value and the model's own."""
        size, error = affine.size, affine.precision * affine.size
        for layer in self.layers:
            size, error = layer.error(size, error, affine.precision)
        if self.margin is None:
            return float(error[0])
        # A margin is a difference of two outputs, which may be rounded probabilities.
        return 2 * float(error.max()) + 4 * affine.precision

    def agrees(self, scores: FloatArray, row_scores: FloatArray, errors: FloatArray) -> BoolArray:
        """Return which scores on the wide scale, off by up to `errors`, agree with the model's own scores."""
        ours = self.link.value(scores)
        slope = self.link.steepest(np.abs(ours))
        return np.asarray(np.abs(ours - row_scores) <= 1e-6 * (1 + np.abs(row_scores)) + slope * errors)

    def adds_exactly(self, row: Row | CountedText) -> bool:
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
        """Return the same function without layers that bend nothing.

        With trees, or where few functions change with each feature, only if no layer bends anything.
        """
        is_plain = [layer.activation == Identity() for layer in self.layers]
        if not any(is_plain) or ((self.has_trees or self.sparse) and not all(is_plain)):
            return self, affine
        layers: list[Layer] = []
        for layer in self.layers:
            if layer.activation != Identity():
                layers.append(layer)
            elif layers:
                last = layers.pop()
                bias = last.bias @ layer.weights + layer.bias
                layers.append(replace(last, weights=last.weights @ layer.weights, bias=bias))
            else:
                affine = affine.transformed(layer.weights, layer.bias)
        return replace(self, layers=tuple(layers)), affine

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
        if isinstance(self.link, Quotient):
            maps = tuple(each.rescaled(1 / self.link.divisor, 0.0) for each in self.affine_maps)
            return replace(self, affine_maps=maps, link=Identity(), scaled=True)
        layer = Layer(self.link, np.ones((1, 1)), np.zeros(1))
        return replace(self, layers=(*self.layers, layer), link=Identity(), sparse=False)


def mean_of(networks: Sequence[Network], weights: Any = None) -> Network:
    """Return the network whose outputs are the means of those of others, with equal weights if not given."""
    joined = side_by_side([network.without_link() for network in networks])
    shares = np.ones(len(networks)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_outputs = joined.n_outputs // len(networks)
    mixing = np.kron((shares / shares.sum())[:, np.newaxis], np.eye(n_outputs))
    if not joined.layers:
        return replace(joined, layers=(Layer(Identity(), mixing, np.zeros(n_outputs)),), scaled=True)
    *layers, last = joined.layers
    mean = Layer(last.activation, last.weights @ mixing, last.bias @ mixing)
    return replace(joined, layers=(*layers, mean), scaled=True)


def side_by_side(networks: Sequence[Network]) -> Network:
    """Return the network with the outputs of all others, one after the other."""
    depth = max(len(network.layers) for network in networks)
    networks = [_deepened(network, depth) for network in networks]
    layers = [_joined(at_depth) for at_depth in zip(*(each.layers for each in networks), strict=True)]
    affine_maps = tuple(each for network in networks for each in network.affine_maps)
    precision = max(network.precision for network in networks)
    scaled = any(network.scaled for network in networks)
    kinds = {network.kind for network in networks}
    kind = kinds.pop() if len(kinds) == 1 else "ensemble"
    return Network(kind, affine_maps, tuple(layers), precision=precision, scaled=scaled)


def _deepened(network: Network, depth: int) -> Network:
    """Return the same function with more layers, which do nothing."""
    n_outputs = network.n_outputs
    idle = Layer(Identity(), np.eye(n_outputs), np.zeros(n_outputs))
    return replace(network, layers=(*network.layers, *[idle] * (depth - len(network.layers))))


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
