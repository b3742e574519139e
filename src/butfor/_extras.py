"""Import of optional dependencies."""

from importlib import import_module
from typing import Any

from butfor.errors import InputError


def optional(module: str, *, extra: str) -> Any:
    """Return a module of an extra; raise `InputError` with the command to install it if it is missing.

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
