"""Rows of a data matrix: single features, or groups of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from butfor.checks import require_finite
from butfor.errors import InputError
from butfor.explanation import Unit
from butfor.models import Row, Table, as_row, as_table
from butfor.subjects.base import Subject
from butfor.subjects.costs import Costs
from butfor.subjects.groups import Groups
from butfor.subjects.names import Names, require_collection
from butfor.subjects.units import subject_of_units


@dataclass(frozen=True, eq=False)
class Rows:
    """Read rows: numbers in columns, with names."""

    names: Names
    fitted_names: tuple[str, ...] | None = None
    """The names of the columns that a frame must have, in their order."""
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

    @property
    def unit(self) -> Unit:
        """What is removed at a time."""
        return "feature" if self.groups is None else "group"

    def row_of(self, items: Any) -> Any:
        """Make a row of features by name or column, and their values; of a mere list, ones."""
        if isinstance(items, str) or not isinstance(items, Collection):
            raise InputError(
                f"items must be a collection of features, or their values by feature, got {items!r:.80}."
            )
        if self.n_features is None:
            raise InputError(
                "items must not be given, as the model does not say how many columns a row has: give the "
                "names of all features."
            )
        values = items if isinstance(items, Mapping) else dict.fromkeys(items, 1.0)
        at: dict[int, float] = {}
        for feature, value in values.items():
            require_finite("items", value)
            at |= dict.fromkeys(self.names.columns("items", feature), float(value))
        return sparse.csr_matrix(
            (list(at.values()), ([0] * len(at), list(at))), shape=(1, self.n_features), dtype=np.float64
        )

    def protecting(self, features: Collection[Any]) -> "Rows":
        """Read rows so that these features or groups may not be removed either."""
        require_collection("protected", features, "features")
        kept = set(self.protected)
        for feature in features:
            if self.groups is not None and self.groups.is_group(feature):
                kept.add(str(feature))
            else:
                kept.update(self.names.columns("protected", feature))
        return replace(self, protected=frozenset(kept))

    def many(self, rows: Any) -> Any:
        """Return rows as they can be cut into pieces."""
        return rows

    def table(self, rows: Any) -> Table:
        """Read many rows."""
        return as_table(rows, self.n_features, self.fitted_names)

    def names_of(self, in_frame: tuple[str, ...] | None) -> Names:
        """Return the names of columns: those that are known, or else those of the frame that rows came in."""
        return self.names if in_frame is None or self.names.given else Names(in_frame, len(in_frame))

    def read(self, given: Any) -> Subject:
        """Read one row: a SciPy sparse matrix or array, a frame or series, or anything dense of up to 2-D."""
        row = as_row(given, self.n_features, self.fitted_names)
        columns = row.columns.tolist()
        names = self.names_of(row.names).of(row.columns)
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
