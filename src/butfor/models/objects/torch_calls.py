"""What every call of a PyTorch model needs."""

from contextlib import AbstractContextManager
from typing import Any

from butfor.errors import InputError


def without_gradients() -> AbstractContextManager[Any]:
    """Return a context in which PyTorch computes no gradients; it is there, as the user holds a model."""
    import torch

    context: AbstractContextManager[Any] = torch.inference_mode()
    return context


def require_eval_mode(module: Any) -> None:
    """Raise where a module is in training mode, in which dropout draws at random."""
    if getattr(module, "training", False):
        raise InputError(
            f"model must be in evaluation mode, got {type(module).__name__} in training mode, in which "
            "dropout and batch norms change its scores. Call model.eval() first."
        )


def content_of(module: Any) -> Any:
    """Return what a module is made of: its parts in words, and its numbers by name."""
    state = module.state_dict() if hasattr(module, "state_dict") else {}
    numbers = {name: numbers.detach().cpu() for name, numbers in state.items() if hasattr(numbers, "detach")}
    precise = {name: each.float() if each.is_floating_point() else each for name, each in numbers.items()}
    return repr(module), {name: each.numpy() for name, each in precise.items()}


def device_of(module: Any) -> Any:
    """Return the device on which a module computes; the processor if it has no numbers of its own."""
    return next((numbers.device for numbers in module.parameters()), "cpu")
