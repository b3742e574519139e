"""Names of a package whose modules are imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package: each name is in one of its modules.

    >>> find, names = lazily("butfor", {"Budget": "budget"})
    >>> find("Budget").__module__, "Budget" in names()
    ('butfor.budget', True)
    >>> find("Buget")
    Traceback (most recent call last):
    AttributeError: module 'butfor' has no attribute 'Buget'
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find, lambda: sorted({*vars(sys.modules[package]), *modules})
