"""Networks of other libraries that are chains of layers."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.formula.activations import Activation, Gelu, Identity, Logistic, Relu, Tanh
from butfor.models.formula.affine import AffineMap
from butfor.models.formula.mixed_map import linear_map
from butfor.models.formula.network import Layer, Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.objects.chain import ChainPart

ACTIVATIONS: dict[str, Activation] = {
    "relu": Relu(),
    "tanh": Tanh(),
    "sigmoid": Logistic(),
    "gelu": Gelu(),
    "gelu_tanh": Gelu(approximate=True),
}


@dataclass(frozen=True)
class Cast:
    """A step that turns rows into the precision in which the network computes."""

    dtype: str

    def transform(self, X: Any) -> Any:
        """Return rows in that precision."""
        return X.astype(self.dtype) if sparse.issparse(X) else np.asarray(X).astype(self.dtype)


def read_chain(chain: tuple[ChainPart, ...], steps: Preprocessing) -> Network | None:
    """Read a chain: its first layer computes affine functions of the row, or of the row over its sum."""
    first, *others = chain
    assert first.weights is not None
    assert first.bias is not None
    if not steps.keeps_features_apart:
        return None
    cast = replace(steps, transformers=(*steps.transformers, Cast(first.weights.dtype.str)))
    if first.name == "bag mean":
        cast = replace(cast, norm="l1")
    affine_map = linear_map(first.weights, first.bias.astype(np.float64), cast)
    layers, pending, n_outputs = [], None, len(first.bias)
    for part in others:
        if part.weights is None:
            if pending is not None:
                if pending not in ACTIVATIONS:
                    return None
                layers.append(_idle(pending, n_outputs))
            pending = part.name
        else:
            assert part.bias is not None
            n_outputs = len(part.bias)
            activation = Identity() if pending is None else ACTIVATIONS.get(pending)
            if activation is None:
                return None
            layers.append(Layer(activation, part.weights.astype(np.float64), part.bias.astype(np.float64)))
            pending = None
    return _with_outputs(affine_map, layers, pending, n_outputs)


def _with_outputs(
    affine_map: AffineMap, layers: list[Layer], pending: str | None, n_outputs: int
) -> Network | None:
    """Return the network with its last function: probabilities of classes, or one score."""
    if pending in ("softmax", "log_softmax") and n_outputs == 1:
        return None
    if pending in ACTIVATIONS and (n_outputs > 1 or pending != "sigmoid"):
        layers = [*layers, _idle(pending, n_outputs)]
        pending = None
    is_linear = all(layer.activation == Identity() for layer in layers)
    network = Network("linear" if is_linear else "neural network", (affine_map,))
    if n_outputs == 1:
        return replace(network, layers=tuple(layers), link=Logistic() if pending == "sigmoid" else Identity())
    if n_outputs == 2:  # how far the second class is ahead are its log-odds
        ahead = Layer(Identity(), np.array([[-1.0], [1.0]]), np.zeros(1))
        return replace(network, layers=(*layers, ahead), link=Logistic())
    return replace(network, layers=tuple(layers), softmax=True)


def _idle(name: str, n: int) -> Layer:
    """Return a function of single numbers as a layer."""
    return Layer(ACTIVATIONS[name], np.eye(n), np.zeros(n))
