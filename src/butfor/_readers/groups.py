"""Groups of features, which are removed together."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor._readers.names import Names
from butfor.errors import InputError


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of each feature: none, one or several."""

    source: Mapping[Any, Any] | Sequence[Any] | Callable[[str], Any]
    names: Names

    def of(self, column: int, name: str) -> tuple[str, ...]:
        """Return the groups of a feature; a feature in no group is a unit of its own."""
        if isinstance(self.source, Mapping):
            return _labels(self.source.get(column, self.source.get(name)))
        if isinstance(self.source, Sequence):
            return _labels(self.source[column])
        return _labels(self.source(name))

    @cached_property
    def labels(self) -> frozenset[str] | None:
        """The names of all groups; None where a function makes them."""
        if isinstance(self.source, Mapping):
            return frozenset(label for each in self.source.values() for label in _labels(each))
        if isinstance(self.source, Sequence):
            return frozenset(label for each in self.source for label in _labels(each))
        return None

    def is_group(self, key: Any) -> bool:
        """Return whether a key names a group; where a function makes them, whether it names no feature."""
        if self.labels is not None:
            return str(key) in self.labels
        return isinstance(key, str) and not self.names.is_known(key)

    def unit_names(self, argument: str, key: Any) -> list[str]:
        """Return the names of the units that a key means: a group, or features that are in no group."""
        if self.is_group(key):
            return [str(key)]
        columns = self.names.columns(argument, key)
        for column, name in zip(columns, self.names.of(columns), strict=True):
            groups = self.of(column, name)
            if groups:
                raise InputError(f"{argument} must name groups, got {key!r}, which is part of {groups[0]!r}.")
        return list(self.names.of(columns))


def as_groups(groups: Any, names: Names) -> Groups | None:
    """Read groups: a mapping, one label for each column, or a function of names."""
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
    """Return the labels of a feature: none, one, or several; a missing value of a data frame is none."""
    if group is None or group != group:
        return ()
    if isinstance(group, str):
        return (group,)
    if isinstance(group, Collection):
        return tuple(dict.fromkeys(map(str, group)))
    return (str(group),)
