"""Which features go together."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.subjects.names import Names


@dataclass(frozen=True, eq=False)
class Groups:
    """From features to the groups that they are part of: none, one or several."""

    given: Mapping[Any, Any] | Sequence[Any] | Callable[[str], Any]
    names: Names

    def of(self, column: int, name: str) -> tuple[str, ...]:
        """Give the groups of a feature; none: it stays a unit of its own."""
        if isinstance(self.given, Mapping):
            return _labels(self.given.get(column, self.given.get(name)))
        if isinstance(self.given, Sequence):
            return _labels(self.given[column])
        return _labels(self.given(name))

    @cached_property
    def labels(self) -> frozenset[str] | None:
        """The names of all groups; None where a function makes them."""
        if isinstance(self.given, Mapping):
            return frozenset(label for each in self.given.values() for label in _labels(each))
        if isinstance(self.given, Sequence):
            return frozenset(label for each in self.given for label in _labels(each))
        return None

    def is_group(self, key: Any) -> bool:
        """Tell whether a user means a group by this: a label, or where they are not known, no feature."""
        if self.labels is not None:
            return str(key) in self.labels
        return isinstance(key, str) and not self.names.is_known(key)

    def unit_names(self, argument: str, key: Any) -> list[str]:
        """Give the names of the units that a user means: a group, or features that are in none."""
        if self.is_group(key):
            return [str(key)]
        columns = self.names.columns(argument, key)
        for column, name in zip(columns, self.names.of(columns), strict=True):
            groups = self.of(column, name)
            if groups:
                raise InputError(f"{argument} must name groups, got {key!r}, which is part of {groups[0]!r}.")
        return list(self.names.of(columns))


def as_groups(groups: Any, names: Names) -> Groups | None:
    """Read the groups that a user gives: a mapping, one label for each column, or a function of names."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        for feature in groups:
            names.columns("groups", feature)
        return Groups(groups, names)
    if callable(groups):
        return Groups(groups, names)
    if hasattr(groups, "__array__"):
        groups = np.asarray(groups, dtype=object).tolist()
    if isinstance(groups, str | bytes) or not isinstance(groups, Sequence):
        raise InputError(
            "groups must be a mapping from features to groups, one group for each column, or a function from "
            f"names to groups, got {type(groups).__name__}."
        )
    if names.n_features is not None and len(groups) != names.n_features:
        raise InputError(
            f"groups must be a mapping or have a label for each of {names.n_features:,} columns, got "
            f"{len(groups):,}."
        )
    return Groups(groups, names)


def _labels(group: Any) -> tuple[str, ...]:
    """Give the groups of a feature: none, one, or several; what is missing in a data frame is none."""
    if group is None or group != group:
        return ()
    if isinstance(group, str):
        return (group,)
    if isinstance(group, Collection):
        return tuple(dict.fromkeys(map(str, group)))
    return (str(group),)
