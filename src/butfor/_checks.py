"""Checks of the numbers that users pass."""

import math
from numbers import Integral, Real
from typing import Any

from butfor.errors import InputError


def require_count(name: str, value: Any, *, at_least: int = 1) -> None:
    """Raise `InputError` unless `value` is a whole number of at least `at_least`."""
    if not is_count(value, at_least=at_least):
        raise InputError(f"{name} must be a whole number of at least {at_least}, got {value!r}.")


def is_count(value: Any, *, at_least: int = 1) -> bool:
    """Return whether `value` is a whole number of at least `at_least`."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= at_least


def require_seconds(name: str, value: Any) -> None:
    """Raise `InputError` unless `value` is a positive number of seconds; infinity means no limit."""
    if not is_number(value) or not float(value) > 0:
        raise InputError(f"{name} must be a positive number of seconds, got {value!r}.")


def require_finite(name: str, value: Any) -> None:
    """Raise `InputError` unless `value` is a finite number."""
    if not is_number(value) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, got {value!r}.")


def require_positive(name: str, value: Any) -> None:
    """Raise `InputError` unless `value` is a positive, finite number."""
    if not is_number(value) or not math.isfinite(value) or not value > 0:
        raise InputError(f"{name} must be a positive number, got {value!r}.")


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)
