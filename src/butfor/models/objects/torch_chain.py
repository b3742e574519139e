"""Modules of PyTorch read as a chain: layers and functions of single numbers, one after the other."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor.models.objects.chain import ChainPart

SHAPES = {"squeeze", "flatten"}
"""Functions that do nothing to a row of outputs but for its shape."""
IDLE = {"Identity", "Dropout", "AlphaDropout", "Flatten", "Dropout1d"}
"""Modules that do nothing in evaluation mode, but for the shape."""
FUNCTIONS = {
    "ReLU": "relu",
    "relu": "relu",
    "relu_": "relu",
    "Tanh": "tanh",
    "tanh": "tanh",
    "Sigmoid": "sigmoid",
    "sigmoid": "sigmoid",
    "GELU": "gelu",
    "gelu": "gelu",
    "Softmax": "softmax",
    "softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "log_softmax": "log_softmax",
}
"""Functions by the names that modules, functions and methods of PyTorch have for them."""


def chain_of(module: Any) -> tuple[ChainPart, ...] | None:
    """Return a module as a chain that begins with a layer; None if it is no such chain.

    What its `forward` does is traced by `torch.fx`. Where that depends on the numbers in a row, is another
    operation, or goes two ways, the module is no chain.
    """
    if not _is_exact() or any(_is_changed(each) for each in module.modules()):
        return None
    try:
        parts = list(_traced(module))
    except Exception:  # its code cannot be traced, or does something else
        return None
    starts = bool(parts) and parts[0].weights is not None
    bags = [part for part in parts[1:] if part.name.startswith("bag")]
    return tuple(parts) if starts and not bags else None


class _UnknownLayerError(Exception):
    """An operation that is no link of a chain."""


def _is_exact() -> bool:
    """Return whether PyTorch multiplies in the precision of the numbers, and not in a lower one."""
    import torch

    return bool(torch.get_float32_matmul_precision() == "highest" and not torch.is_autocast_enabled("cpu"))


def _is_changed(module: Any) -> bool:
    """Return whether hooks act on what a module takes or returns."""
    return bool(module._forward_hooks or module._forward_pre_hooks)


def _traced(module: Any) -> Iterator[ChainPart]:
    """Yield the links of a chain in the order in which `forward` calls them."""
    from torch.fx import symbolic_trace
    from torch.nn import Sequential

    traced = symbolic_trace(Sequential(module) if is_own(module) else module)
    last, is_first = None, True
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            last = node if is_first else last
            is_first = False
        elif node.op == "output":
            if node.args[0] is not last:
                raise _UnknownLayerError
        else:
            if not node.args or node.args[0] is not last:
                raise _UnknownLayerError
            yield from _parts(node, traced)
            last = node


def is_own(module: Any) -> bool:
    """Return whether a module is one of PyTorch's own layers."""
    return type(module).__module__.startswith("torch.nn.modules.")


def _parts(node: Any, traced: Any) -> list[ChainPart]:
    """Return what a node does to the node before it."""
    if node.op == "call_module":
        return _of_module(traced.get_submodule(node.target))
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    if name in SHAPES or (name == "dropout" and not node.kwargs.get("training", True)):
        return []
    return _function(name, node.kwargs.get("approximate", "none"), node.kwargs.get("dim", -1))


def _function(name: str, approximate: str, dim: Any) -> list[ChainPart]:
    known = FUNCTIONS.get(name)
    if known is None or (known.endswith("softmax") and dim not in (1, -1)):
        raise _UnknownLayerError
    return [ChainPart("gelu_tanh" if known == "gelu" and approximate == "tanh" else known)]


def _of_module(module: Any) -> list[ChainPart]:
    if not is_own(module):
        raise _UnknownLayerError
    name = type(module).__name__
    if name in IDLE:
        return []
    read: Callable[[Any], list[ChainPart]] | None = LAYERS.get(name)
    if read is not None:
        return read(module)
    return _function(name, getattr(module, "approximate", "none"), getattr(module, "dim", -1))


def _linear(module: Any) -> list[ChainPart]:
    bias = np.zeros(module.out_features) if module.bias is None else numbers_of(module.bias)
    return [ChainPart("linear", numbers_of(module.weight).T, bias)]


def _bag(module: Any) -> list[ChainPart]:
    """Read an EmbeddingBag: a sum or mean of the vectors of ids."""
    if module.mode == "max" or module.max_norm is not None or module.padding_idx is not None:
        raise _UnknownLayerError
    weights = numbers_of(module.weight)
    return [ChainPart(f"bag {module.mode}", weights, np.zeros(weights.shape[1]))]


def _batch_norm(module: Any) -> list[ChainPart]:
    """Read a BatchNorm1d: in evaluation mode it subtracts numbers, then scales and adds others."""
    if module.running_mean is None or module.num_features > MOST_NORMED:
        raise _UnknownLayerError
    mean, variance = numbers_of(module.running_mean), numbers_of(module.running_var)
    n = len(mean)
    scale, shift = (
        (np.ones(n), np.zeros(n)) if module.weight is None else map(numbers_of, (module.weight, module.bias))
    )
    scale = scale / np.sqrt(variance + module.eps)
    return [
        ChainPart("linear", np.eye(n, dtype=mean.dtype), -mean),
        ChainPart("linear", np.diag(scale), shift),
    ]


LAYERS: dict[str, Callable[[Any], list[ChainPart]]] = {
    "Linear": _linear,
    "EmbeddingBag": _bag,
    "BatchNorm1d": _batch_norm,
}
"""What reads a layer, by the name of its class."""
MOST_NORMED = 4_096
"""A norm of more numbers than this is not read: its matrix would be large."""


def numbers_of(tensor: Any) -> npt.NDArray[Any]:
    """Return the numbers of a tensor; raise where it is not of single or double precision, or elsewhere."""
    array = tensor.detach()
    if str(array.dtype) not in ("torch.float32", "torch.float64") or array.device.type != "cpu":
        raise _UnknownLayerError
    return np.array(array.numpy())
