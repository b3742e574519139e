"""Neural networks with any number of hidden layers."""

from typing import Any

import numpy as np

from butfor.models.formula.activations import Activation, Identity, Logistic, Relu, Tanh
from butfor.models.formula.mixed_map import linear_map
from butfor.models.formula.network import Layer, Network
from butfor.models.formula.preprocessing import Preprocessing

ACTIVATIONS: dict[str, Activation] = {
    "identity": Identity(),
    "logistic": Logistic(),
    "relu": Relu(),
    "tanh": Tanh(),
}


def read_mlp(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read an MLPClassifier; its first layer computes affine functions of the row."""
    many = len(model.classes_) > 2
    if model.out_activation_ != ("softmax" if many else "logistic") or model.activation not in ACTIVATIONS:
        return None
    activation = ACTIVATIONS[model.activation]
    layers = tuple(
        Layer(activation, weights.astype(np.float64), bias.astype(np.float64))
        for weights, bias in zip(model.coefs_[1:], model.intercepts_[1:], strict=True)
    )
    affine_map = linear_map(model.coefs_[0], model.intercepts_[0].astype(np.float64), steps)
    return Network("neural network", (affine_map,), layers, Identity() if many else Logistic(), softmax=many)
