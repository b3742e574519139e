"""A search with its parameters set from text, for the command line and the study."""

from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from typing import Any

from butfor.errors import InputError
from butfor.searches.base import Search


def with_settings(search: Any, settings: Iterable[str], *, argument: str = "settings") -> Search:
    """Return the search with parameters set: "n_samples=1000", or several values as "n_samples=100,1000".

    >>> from butfor import LimeC
    >>> with_settings(LimeC(), ["n_samples=20"]).n_samples
    20
    """
    own = vars(search) if is_dataclass(search) else {}
    known = [parameter for parameter, value in own.items() if isinstance(value, int | float)]
    values: dict[str, Any] = {}
    for setting in settings:
        parameter, _, value = setting.partition("=")
        if parameter not in known:
            listed = ", ".join(known) or "it has none"
            name = getattr(search, "name", "the search")
            raise InputError(f"{argument} must name a parameter of {name} ({listed}), got {setting!r}.")
        try:
            numbers = tuple(int(each) if each.isdecimal() else float(each) for each in value.split(","))
        except ValueError:
            raise InputError(
                f"{argument} must be NAME=VALUE with a number, or several with commas, got {setting!r}."
            ) from None
        values[parameter] = numbers if len(numbers) > 1 else numbers[0]
    changed: Search = replace(search, **values) if values else search
    return changed
