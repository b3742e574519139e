"""Networks read as a chain: layers and functions of single numbers, one after the other."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

FUNCTIONS = ("relu", "tanh", "sigmoid", "gelu", "gelu_tanh", "softmax", "log_softmax")
"""The functions of outputs that a chain may have, by name."""


@dataclass(frozen=True, eq=False)
class ChainPart:
    """A link of the chain: "linear", "bag sum", "bag mean", or a function by name."""

    name: str
    weights: npt.NDArray[Any] | None = None
    """inputs × outputs."""
    bias: npt.NDArray[Any] | None = None


def shape_of(chain: tuple[ChainPart, ...]) -> tuple[int, int]:
    """Return how many inputs a chain takes, and how many outputs it returns."""
    layers = [part.weights for part in chain if part.weights is not None]
    return len(layers[0]), layers[-1].shape[1]


def numbered_classes(n_outputs: int) -> tuple[str, ...]:
    """Return the classes of a network by number; none where it returns one score a row."""
    return () if n_outputs == 1 else tuple(f"class {i}" for i in range(n_outputs))
