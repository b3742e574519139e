"""Rows of a data matrix: single features, or groups of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.models import Row, as_row
from butfor.subjects.base import Subject
from butfor.subjects.costs import Costs
from butfor.subjects.groups import Groups
from butfor.subjects.names import Names
from butfor.subjects.units import subject_of_units


@dataclass(frozen=True, eq=False)
class Rows:
    """Read rows: numbers in columns, with names."""

    names: Names
    protected: frozenset[Any] = frozenset()
    """Columns, and names of groups."""
    groups: Groups | None = None
    costs: Costs | None = None
    takes_texts = False
    reads_again = False

    @property
    def n_features(self) -> int | None:
        """How many columns a row must have, if that is known."""
        return self.names.n_features

    def read(self, given: Any) -> Subject:
        """Read one row: any SciPy sparse matrix or array, or anything dense with one or two dimensions."""
        row = as_row(given, self.n_features)
        columns = row.columns.tolist()
        names = self.names.of(row.columns)
        if self.groups is not None:
            return self._grouped(row, columns, names, self.groups)
        if self.protected:
            row = row.protecting(np.array(list(self.protected)))
        costs = None if self.costs is None else self.costs.of_columns([columns[i] for i in row.removable])
        return Subject(row=row, items=names, removable=row.removable, costs=costs)

    def _grouped(self, row: Row, columns: list[int], names: tuple[str, ...], groups: Groups) -> Subject:
        units: dict[tuple[str, int | None], int] = {}
        protected: set[int] = set()
        holdings = []
        for column, name in zip(columns, names, strict=True):
            keys: list[tuple[str, int | None]] = [(group, None) for group in groups.of(column, name)]
            keys = keys or [(name, column)]
            held = tuple(units.setdefault(key, len(units)) for key in keys)
            holdings.append([held])
            if column in self.protected:
                protected.update(held)
        unit_names = [name for name, _ in units]
        flags = [i in protected or name in self.protected for i, name in enumerate(unit_names)]
        return subject_of_units(
            row, unit_names, holdings, np.array(flags, dtype=bool), self.costs, unit="group"
        )
