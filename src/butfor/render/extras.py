"""Libraries that butfor can do without."""

from importlib import import_module
from typing import Any

from butfor.errors import InputError


def optional(module: str, *, extra: str) -> Any:
    """Import a module of an extra, or say how to get it.

    >>> optional("no_such_module", extra="plot")
    Traceback (most recent call last):
    ...
    butfor.errors.InputError: this needs no_such_module, which is not installed: pip install "butfor[plot]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(
            f'this needs {error.name}, which is not installed: pip install "butfor[{extra}]"'
        ) from error
