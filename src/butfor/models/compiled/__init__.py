"""Inner loops that numba compiles (the extra `fast`). Without it numpy computes the same, more slowly."""

import logging
import os
from functools import cache
from importlib import import_module
from typing import Any

LOG = logging.getLogger(__name__)
MODULES = ("trees", "networks", "sets", "network_rows", "kernel_machines", "kernel_rows")


def tree_kernels() -> Any:
    """Return the module of compiled loops for trees; None if numba is missing or not wanted."""
    return kernels("trees")


def network_kernels() -> Any:
    """Return the module of compiled loops for networks; None if numba is missing or not wanted."""
    return kernels("networks")


def row_kernels() -> Any:
    """Return the module of compiled loops for rows of networks; None if numba is missing or not wanted."""
    return kernels("network_rows")


def machine_kernels() -> Any:
    """Return the module of compiled loops for kernel machines; None if numba is missing or not wanted."""
    return kernels("kernel_machines")


def machine_row_kernels() -> Any:
    """Return the module of compiled loops for rows of kernel machines; None as above."""
    return kernels("kernel_rows")


@cache
def kernels(name: str) -> Any:
    """Return a module of compiled loops; None if numba is missing or not wanted.

    The first call on a machine compiles them, which takes some seconds; numba keeps them on disk for later.
    """
    if os.environ.get("BUTFOR_COMPILED") == "0":
        return None
    try:
        return import_module(f"butfor.models.compiled.{name}")
    except Exception as error:  # a numba that does not go with this numpy, or no place to keep its files
        if not (isinstance(error, ModuleNotFoundError) and error.name == "numba"):
            LOG.warning("loops are not compiled, as numba cannot be used here: %s", error)
        return None
