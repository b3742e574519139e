"""Types of what compiled loops get and make. Imports numba."""

from collections.abc import Callable
from typing import Any

import numba
from numba import types

FLOAT, INT, INT32, BOOL, WORD = types.float64, types.int64, types.int32, types.boolean, types.uint64
NOTHING = types.void


def given(dtype: Any, ndim: int = 1) -> Any:
    """Return the type of an array that is read; it may be shared by processes, which may not write to it."""
    return types.Array(dtype, ndim, "C", readonly=True)


def made(dtype: Any, ndim: int = 1) -> Any:
    """Return the type of an array that is made or changed."""
    return types.Array(dtype, ndim, "C")


def tuple_of(*members: Any) -> Any:
    """Return the type of a tuple of these members."""
    return types.Tuple(members)  # type: ignore[no-untyped-call]


def function_of(returned: Any, *arguments: Any) -> Any:
    """Return the type of a compiled function that is passed to another, which then need not contain it."""
    return types.FunctionType(returned(*arguments))


def compiled(returned: Any, *arguments: Any, any_order: bool = False) -> Callable[[Any], Any]:
    """Compile a function for arguments of these types, or take it from disk.

    If sums may be added up in any order, the processor adds several terms at a time.
    """
    fastmath: Any = {"reassoc", "nsz", "contract"} if any_order else False
    signature = returned(*arguments)
    return numba.njit(signature, cache=True, nogil=True, error_model="numpy", fastmath=fastmath)  # type: ignore[no-any-return]
