"""Models as networks over linear forms of the row: what partial evaluation needs to know of a model.

Every fast family is one: a linear model is a single form; a neural network or a kernel machine applies
functions of one number to many forms and adds them up, once or several times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.special import softmax

from butfor.models.activations import Activation, Identity, Link, Relu, SideBySide
from butfor.models.base import FloatArray
from butfor.models.forms import Forms, LocalForms, grain_of
from butfor.models.lead import Lead
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
    """A number for every row: linear forms of it, side by side, through layers, the last with one output.

    With more than two classes there is an output for each, and the number is a lead among them.
    """

    kind: str
    forms: tuple[Forms, ...]
    layers: tuple[Layer, ...] = ()
    link: Link = Identity()  # noqa: RUF009 - frozen
    sparse: bool = False
    """Whether it is one layer of many units, of which few move with each feature: a kernel machine."""
    softmax: bool = False
    """Whether the user knows the outputs of many classes as probabilities."""
    lead: Lead | None = None
    scaled: bool = False
    """Whether the weights of the last layer are not the model's own, but multiples of them."""
    precision: float = 0.0
    """The relative error of what stands behind the forms, where that is coarser than the forms themselves."""

    def at(self, row: Row) -> LocalForms:
        """Evaluate the linear forms partially: all that depends on the row."""
        members = [forms.at(row) for forms in self.forms]
        local = members[0] if len(members) == 1 else LocalForms.side_by_side(members)
        local = replace(local, precision=max(local.precision, self.precision))
        return local if row.part_of is None else local.merged(row.part_of, row.n_parts)

    def outputs(self, z: FloatArray) -> FloatArray:
        """Evaluate all outputs, from the values of the forms, one point a line, on the wide scale."""
        for layer in self.layers:
            z = layer.value(z)
        return z

    def value(self, z: FloatArray) -> FloatArray:
        """Evaluate the one number, on the wide scale."""
        outputs = self.outputs(z)
        return outputs[:, 0] if self.lead is None else self.lead.of(outputs)

    def reported(self, z: FloatArray) -> FloatArray:
        """Evaluate the one number, on the scale that the user knows."""
        if self.lead is None:
            return self.link.value(self.value(z))
        outputs = self.outputs(z)
        return self.lead.of(softmax(outputs, axis=1) if self.softmax else outputs)

    def error(self, forms: LocalForms) -> float:
        """Bound the difference that rounding can make between our value and the model's own."""
        size, error = forms.size, forms.precision * forms.size
        for layer in self.layers:
            size, error = layer.error(size, error, forms.precision)
        if self.lead is None:
            return float(error[0])
        return 2 * float(error.max()) + 4 * forms.precision  # a difference, and the rounding of probabilities

    def adds_exactly(self, row: Row) -> bool:
        """Tell whether no sum of the model is rounded, whatever is removed and in whatever order it adds up.

        So it is where all terms are multiples of a power of two, and not too large: bits and whole weights.
        """
        forms = self.at(row)
        digits = np.finfo(np.float32 if forms.precision > 1e-9 else np.float64).nmant + 1
        grain, size = min(form.grain(row) for form in self.forms), forms.size
        for layer in self.layers:
            if self.scaled or layer.activation not in (Identity(), Relu()):
                return False
            if not size.max(initial=0.0) <= 2.0**digits * grain:
                return False
            grain = min(grain * grain_of(layer.weights), grain_of(layer.bias))
            size, _ = layer.error(size, np.zeros_like(size), 0.0)
        return bool(size.max(initial=0.0) <= 2.0**digits * grain)

    def collapsed(self, forms: LocalForms) -> tuple["Network", LocalForms]:
        """Give the same function as one linear form, if no layer bends anything."""
        if not self.layers or not all(layer.activation == Identity() for layer in self.layers):
            return self, forms
        now, drops = forms.now, forms.drops
        for layer in self.layers:
            now, drops = now @ layer.weights + layer.bias, drops @ layer.weights
        forms = replace(forms, now=now, own=drops, common=None, zeros_are_exact=False)
        return replace(self, layers=()), forms

    def affine(self, scale: float, shift: float) -> "Network":
        """Give scale · value + shift."""
        network = self.without_link()
        if not network.layers:
            return replace(network, forms=(network.forms[0].affine(scale, shift),))
        *layers, last = network.layers
        last = replace(last, weights=scale * last.weights, bias=scale * last.bias + shift)
        return replace(network, layers=(*layers, last), scaled=True)

    def without_link(self) -> "Network":
        """Give the same function with its link as one more layer."""
        if self.link == Identity():
            return self
        layer = Layer(self.link, np.ones((1, 1)), np.zeros(1))
        return replace(self, layers=(*self.layers, layer), link=Identity(), sparse=False)


def mean_of(networks: Sequence[Network]) -> Network:
    """Give the network whose value is the mean of others with equally many layers."""
    joined = side_by_side([network.without_link() for network in networks])
    *layers, last = joined.layers
    share = np.full((len(networks), 1), 1 / len(networks))
    mean = Layer(last.activation, last.weights @ share, last.bias @ share)
    return replace(joined, layers=(*layers, mean), scaled=True)


def side_by_side(networks: Sequence[Network]) -> Network:
    """Give the network with an output for each of others with equally many layers."""
    layers = [_joined(at_depth) for at_depth in zip(*(each.layers for each in networks), strict=True)]
    forms = tuple(form for network in networks for form in network.forms)
    precision = max(network.precision for network in networks)
    scaled = any(network.scaled for network in networks)
    return Network(networks[0].kind, forms, tuple(layers), precision=precision, scaled=scaled)


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
