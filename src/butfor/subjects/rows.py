"""Rows of a data matrix: single features, or groups of them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models import Row, as_row
from butfor.subjects.base import Subject
from butfor.subjects.costs import Costs
from butfor.subjects.units import subject_of_units

Groups = Callable[[int, str], tuple[str, ...]]
"""From a column and its name to the groups that it is part of; none: it stays a unit of its own."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Read rows: numbers in columns, with names."""

    n_features: int | None
    names: tuple[str, ...] | None
    protected: frozenset[Any] = frozenset()
    """Columns, and names of groups."""
    groups: Groups | None = None
    costs: Costs | None = None
    takes_texts = False
    reads_again = False

    def read(self, given: Any) -> Subject:
        """Read one row: any SciPy sparse matrix or array, or anything dense with one or two dimensions."""
        row = as_row(given, self.n_features)
        columns = row.columns.tolist()
        names = self._names(columns)
        if self.groups is not None:
            return self._grouped(row, columns, names, self.groups)
        if self.protected:
            row = row.protecting(np.array([c for c in self.protected if isinstance(c, int)]))
        costs = None
        if self.costs is not None:
            kept = row.removable
            costs = self.costs.of([names[i] for i in kept], [columns[i] for i in kept])
        return Subject(row=row, items=names, removable=row.removable, costs=costs)

    def _names(self, columns: list[int]) -> tuple[str, ...]:
        known = self.names
        if known is None:
            return tuple([f"feature {column}" for column in columns])
        return tuple([known[column] for column in columns])

    def _grouped(self, row: Row, columns: list[int], names: tuple[str, ...], groups: Groups) -> Subject:
        units: dict[tuple[str, int | None], int] = {}
        protected: set[int] = set()
        holdings = []
        for column, name in zip(columns, names, strict=True):
            keys: list[tuple[str, int | None]] = [(group, None) for group in groups(column, name)]
            keys = keys or [(name, column)]
            held = tuple(units.setdefault(key, len(units)) for key in keys)
            holdings.append([held])
            if column in self.protected:
                protected.update(held)
        unit_names = [name for name, _ in units]
        flags = np.array(
            [i in protected or name in self.protected for i, name in enumerate(unit_names)], dtype=bool
        )
        return subject_of_units(row, unit_names, holdings, flags, self.costs, unit="group")


def as_groups(groups: Any, names: tuple[str, ...] | None, n_features: int | None) -> Groups | None:
    """Read the groups that a user gives: a mapping, one label for each column, or a function of names."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        _require_known(groups, names, n_features)
        return lambda column, name: _labels(groups.get(column, groups.get(name)))
    if callable(groups):
        return lambda column, name: _labels(groups(name))
    if isinstance(groups, str | bytes) or not isinstance(groups, Sequence | np.ndarray):
        raise InputError(
            "groups must be a mapping from features to groups, one group for each column, or a function from "
            f"names to groups, got {type(groups).__name__}."
        )
    if n_features is not None and len(groups) != n_features:
        raise InputError(
            f"groups must be a mapping or have a label for each of {n_features:,} columns, got "
            f"{len(groups):,}."
        )
    return lambda column, name: _labels(groups[column])


def labels_of(groups: Any) -> frozenset[str]:
    """Give the names of all groups; none where a function makes them."""
    if isinstance(groups, Mapping):
        groups = list(groups.values())
    return frozenset() if callable(groups) else frozenset(label for each in groups for label in _labels(each))


def _require_known(groups: Collection[Any], names: tuple[str, ...] | None, n_features: int | None) -> None:
    known = set() if names is None else set(names)
    for feature in groups:
        is_column = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
        if (is_column and 0 <= feature < (n_features or feature + 1)) or feature in known:
            continue
        raise InputError(f"groups must map names or columns of features, got {feature!r}.")


def _labels(group: Any) -> tuple[str, ...]:
    """Give the groups of a feature: none, one, or several."""
    if group is None:
        return ()
    if isinstance(group, str):
        return (group,)
    if isinstance(group, Collection):
        return tuple(dict.fromkeys(map(str, group)))
    return (str(group),)
