"""Models of Keras on rows of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.calling.returned import as_outputs
from butfor.models.objects.base import AdaptedModel, AsProbabilities
from butfor.models.objects.chain import FUNCTIONS, ChainPart, numbered_classes
from butfor.models.rows import as_dense, in_pieces


@dataclass(eq=False)
class KerasModel(AdaptedModel):
    """A model that takes rows as one dense tensor."""

    model: Any
    chain: tuple[ChainPart, ...] | None = None
    n_features_in_: int | None = None
    classes_: Sequence[Any] = ()
    name: str = "Model"
    ties_to_first: bool = True
    _as_probabilities: AsProbabilities = field(default_factory=AsProbabilities)

    @property
    def identity(self) -> Any:
        """The layers and their numbers."""
        return self.model.to_json(), self.model.get_weights()

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, or one score a row."""
        outputs = [as_outputs(self.model(as_dense(piece), training=False)) for piece in in_pieces(X)]
        return self._as_probabilities(np.concatenate(outputs))


def of_keras(model: Any) -> KerasModel:
    """Return a model of Keras as a classifier of rows."""
    shape, returned = getattr(model, "input_shape", None), getattr(model, "output_shape", None)
    if shape is None or returned is None or not (_is_flat(shape) and _is_flat(returned)):
        raise InputError(
            f"model must take rows and return a score for each class, got a model of Keras from {shape} to "
            f"{returned}. Pass a function that makes its inputs."
        )
    known = KerasModel(model, n_features_in_=shape[1], name=type(model).__name__)
    known.classes_ = numbered_classes(returned[1])
    known.chain = chain_of(model)
    if known.chain is not None:
        known._as_probabilities = AsProbabilities(known.chain[-1].name == "softmax")
    return known


def _is_flat(shape: Any) -> bool:
    return isinstance(shape, tuple) and len(shape) == 2 and isinstance(shape[1], int)


def chain_of(model: Any) -> tuple[ChainPart, ...] | None:
    """Return a Sequential of dense layers as a chain; None for any other model."""
    if type(model).__name__ != "Sequential" or not _is_exact(model):
        return None
    parts: list[ChainPart] = []
    for layer in model.layers:
        name = type(layer).__name__
        if not type(layer).__module__.startswith("keras.src.layers."):
            return None
        if name in ("Dropout", "InputLayer"):
            continue
        if name not in ("Dense", "Activation", "ReLU"):
            return None
        if name == "Dense":
            parts.append(_dense(layer))
        applied = "relu" if name == "ReLU" else getattr(layer.activation, "__name__", "")
        if name == "ReLU" and (layer.max_value is not None or layer.negative_slope or layer.threshold):
            return None
        if applied not in ("linear", *FUNCTIONS) or applied == "gelu":  # of which Keras has two
            return None
        parts += [ChainPart(applied)] if applied != "linear" else []
    return tuple(parts) if parts and parts[0].weights is not None else None


def _dense(layer: Any) -> ChainPart:
    numbers = [np.asarray(each) for each in layer.get_weights()]
    return ChainPart("linear", numbers[0], numbers[1] if len(numbers) > 1 else np.zeros(numbers[0].shape[1]))


def _is_exact(model: Any) -> bool:
    """Return whether the model computes in single or double precision, on the processor."""
    from keras import backend

    if getattr(model.dtype_policy, "name", "") not in ("float32", "float64"):
        return False
    if backend.backend() == "torch":
        return all(each.value.device.type == "cpu" for each in model.weights)
    if backend.backend() == "jax":
        from jax import default_backend

        return bool(default_backend() == "cpu")
    if backend.backend() == "tensorflow":
        from tensorflow import config

        return not config.list_physical_devices("GPU")
    return False
