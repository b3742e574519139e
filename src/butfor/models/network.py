"""Models as networks over linear forms of the row: what partial evaluation needs to know of a model.

Every fast family is one: a linear model is a single form; a neural network or a kernel machine applies
functions of one number to many forms and adds them up, once or several times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from butfor.models.activations import Activation, Identity, Link, SideBySide
from butfor.models.base import FloatArray
from butfor.models.forms import Forms, LocalForms
from butfor.models.row import Row


@dataclass(frozen=True, eq=False)
class Layer:
    """From z to φ(z) · weights + bias."""

    activation: Activation
    weights: FloatArray
    """inputs × outputs"""
    bias: FloatArray

    def value(self, z: FloatArray) -> FloatArray:
        """Evaluate, one point a line."""
        return self.activation.value(z) @ self.weights + self.bias

    def error(self, size: FloatArray, error: FloatArray, precision: float) -> tuple[FloatArray, FloatArray]:
        """Bound the outputs, and their errors, for inputs up to `size` that are off by up to `error`."""
        strength = np.abs(self.weights)
        largest = self.activation.largest(size)
        outputs = largest @ strength + np.abs(self.bias)
        from_inputs = (self.activation.steepest(size) * error + precision * largest) @ strength
        return outputs, from_inputs + len(strength) * precision * outputs


@dataclass(frozen=True, eq=False)
class Network:
    """A number for every row: linear forms of it, side by side, through layers, the last with one output."""

    kind: str
    forms: tuple[Forms, ...]
    layers: tuple[Layer, ...] = ()
    link: Link = Identity()  # noqa: RUF009 - frozen
    sparse: bool = False
    """Whether it is one layer of many units, of which few move with each feature: a kernel machine."""

    def at(self, row: Row) -> LocalForms:
        """Evaluate the linear forms partially: all that depends on the row."""
        parts = [forms.at(row) for forms in self.forms]
        return parts[0] if len(parts) == 1 else LocalForms.side_by_side(parts)

    def value(self, z: FloatArray) -> FloatArray:
        """Evaluate, from the values of the forms, one point a line, on the wide scale."""
        for layer in self.layers:
            z = layer.value(z)
        return z[:, 0]

    def error(self, forms: LocalForms) -> float:
        """Bound the difference that rounding can make between our value and the model's own."""
        size, error = forms.size, forms.precision * forms.size
        for layer in self.layers:
            size, error = layer.error(size, error, forms.precision)
        return float(error[0])

    def collapsed(self, forms: LocalForms) -> tuple["Network", LocalForms]:
        """Give the same function as one linear form, if no layer bends anything."""
        if not self.layers or not all(layer.activation == Identity() for layer in self.layers):
            return self, forms
        now, drops = forms.now, forms.drops
        for layer in self.layers:
            now, drops = now @ layer.weights + layer.bias, drops @ layer.weights
        return replace(self, layers=()), replace(forms, now=now, own=drops, common=None)

    def affine(self, scale: float, shift: float) -> "Network":
        """Give scale · value + shift."""
        network = self.without_link()
        if not network.layers:
            return replace(network, forms=(network.forms[0].affine(scale, shift),))
        *layers, last = network.layers
        last = replace(last, weights=scale * last.weights, bias=scale * last.bias + shift)
        return replace(network, layers=(*layers, last))

    def without_link(self) -> "Network":
        """Give the same function with its link as one more layer."""
        if self.link == Identity():
            return self
        layer = Layer(self.link, np.ones((1, 1)), np.zeros(1))
        return replace(self, layers=(*self.layers, layer), link=Identity(), sparse=False)


def mean_of(networks: Sequence[Network]) -> Network:
    """Give the network whose value is the mean of others with equally many layers."""
    networks = [network.without_link() for network in networks]
    layers = [_joined(at_depth) for at_depth in zip(*(each.layers for each in networks), strict=True)]
    last = layers[-1]
    share = np.full((len(networks), 1), 1 / len(networks))
    layers[-1] = Layer(last.activation, last.weights @ share, last.bias @ share)
    forms = tuple(form for network in networks for form in network.forms)
    return Network(networks[0].kind, forms, tuple(layers))


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
