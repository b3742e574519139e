"""Rows of a data matrix; units are single features, or groups of them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from butfor._checks import require_finite
from butfor._readers.base import ReadRow
from butfor._readers.costs import Costs
from butfor._readers.groups import Groups
from butfor._readers.names import Names, require_collection
from butfor._readers.records import RecordAt, RecordReader
from butfor._readers.unit_rows import row_of_units
from butfor.errors import InputError
from butfor.models import Row, Table, as_row, as_table
from butfor.models.records import is_record
from butfor.results.explanation import Unit


@dataclass(frozen=True, eq=False)
class RowReader:
    """Reads rows of numbers in columns."""

    names: Names
    fitted_names: tuple[str, ...] | None = None
    """The names of the columns that a frame must have, in the model's order."""
    protected: frozenset[Any] = frozenset()
    """Columns, and names of groups."""
    groups: Groups | None = None
    costs: Costs | None = None
    takes_missing: bool = False
    """Whether the model takes NaN for a missing value."""
    records: RecordReader | None = None
    """Reads rows that a matrix of numbers cannot hold, such as frames with categories."""
    as_matrix: Callable[[Any], Any] | None = None
    """Makes a matrix of rows in a form of the model's own library, such as tensors."""
    takes_texts = False
    takes_records = False
    record_form = None
    record_columns = None
    reads_again = False

    def choices(self, column: str) -> tuple[Any, ...]:
        """Return nothing: there are no records."""
        return ()

    def fitting(self, rows: Any) -> "RowReader | RecordReader":
        """Return the reader of such rows: of records, where they are no rows of numbers."""
        is_theirs = isinstance(rows, RecordAt) or is_record(self.many(rows))
        return self.records if self.records is not None and is_theirs else self

    @property
    def n_features(self) -> int | None:
        """The number of columns that a row must have, if known."""
        return self.names.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, where they have some."""
        return self.names.known

    @property
    def unit(self) -> Unit:
        """What is removed at a time."""
        return "feature" if self.groups is None else "group"

    def row_of(self, items: Any) -> Any:
        """Return a row of features by name or column, with their values; of a mere list, ones."""
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

    def protecting(self, features: Collection[Any]) -> "RowReader":
        """Return a reader for which these features or groups are protected, too."""
        require_collection("protected", features, "features")
        protected = set(self.protected)
        for feature in features:
            if self.groups is not None and self.groups.is_group(feature):
                protected.add(str(feature))
            else:
                protected.update(self.names.columns("protected", feature))
        return replace(self, protected=frozenset(protected))

    def as_dict(self) -> dict[str, Any]:
        """Return what it was told by the names of Explainer's parameters; None where one does not apply."""
        return {
            "protected": sorted(self.protected, key=repr),
            "groups": None if self.groups is None else self.groups.source,
            "costs": None if self.costs is None else self.costs.as_pair(),
            "feature_names": self.names.known,
            "removal": "zero",
            "unit": self.unit,
            "mask_token": None,
        }

    def many(self, rows: Any) -> Any:
        """Return rows in a form that can be sliced."""
        return rows if self.as_matrix is None else self.as_matrix(rows)

    def table(self, rows: Any) -> Table:
        """Read many rows."""
        rows = self.many(rows)
        return as_table(rows, self.n_features, self.fitted_names, takes_missing=self.takes_missing)

    def names_of(self, in_frame: tuple[str, ...] | None) -> Names:
        """Return the names of columns: the known ones, or else those of the frame that rows came in."""
        return self.names if in_frame is None or self.names.known else Names(in_frame, len(in_frame))

    def read(self, row: Any) -> ReadRow:
        """Read one row: a SciPy sparse matrix or array, a frame or series, or anything dense of up to 2-D."""
        row = self.many(row)
        parsed = as_row(row, self.names.n_features, self.fitted_names, takes_missing=self.takes_missing)
        known = self.names if parsed.names is None else self.names_of(parsed.names)
        names = known.of(parsed.columns)
        if self.groups is not None:
            return self._grouped(parsed, names, self.groups)
        if self.protected:
            parsed = parsed.protecting(np.array(list(self.protected)))
        costs = None
        if self.costs is not None:
            costs = self.costs.of_columns(parsed.columns[parsed.removable].tolist())
        return ReadRow(row=parsed, items=names, removable=parsed.removable, costs=costs)

    def _grouped(self, row: Row, names: tuple[str, ...], groups: Groups) -> ReadRow:
        columns = row.columns.tolist()
        units: dict[tuple[str, int | None], int] = {}
        protected: set[int] = set()
        missing = set(columns) - set(row.columns[row.removable].tolist())
        clauses = []
        for column, name in zip(columns, names, strict=True):
            keys: list[tuple[str, int | None]] = [(group, None) for group in groups.of(column, name)]
            keys = keys or [(name, column)]
            owners = tuple(units.setdefault(key, len(units)) for key in keys)
            clauses.append([owners] if column not in missing else [])
            if column in self.protected:
                protected.update(owners)
        unit_names = [name for name, _ in units]
        flags = [i in protected or name in self.protected for i, name in enumerate(unit_names)]
        return row_of_units(row, unit_names, clauses, np.array(flags, dtype=bool), self.costs, unit="group")
