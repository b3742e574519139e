"""A record, of which words, items and values can be removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.counted import Counted, NoFormula, longest_runs, runs_with_each
from butfor.models.records.cells import RecordCell
from butfor.models.records.record_model import RecordModel
from butfor.models.records.record_table import Column, RecordTable
from butfor.models.row import Row, stacked
from butfor.models.text.contributions import counted
from butfor.models.text_row import FIRST_WINDOW, TextRow


@dataclass(frozen=True, eq=False)
class RecordRow:
    """A record among others, with the cells of which something may be removed."""

    table: RecordTable
    number: int
    cells: Mapping[Column, RecordCell]
    n_units: int
    model: RecordModel
    most_in_a_row: int = FIRST_WINDOW
    """For how many removed words in a row n-grams are looked for across the cut."""
    kind = None
    """A record comes in no kind of matrix."""
    is_text = False

    @property
    def is_sparse(self) -> bool:
        """Whether the estimator behind the first steps gets sparse rows."""
        return self.model.is_sparse

    @property
    def holds_unknown(self) -> bool:
        """Whether a cell holds a category that the encoders of the model do not know."""
        known = self.model.categories
        return any(
            not self.model.knows(column, self.table.value(self.number, column))
            for column in self.table.columns(self.number)
            if column in known
        )

    def without(self, removed: BoolArray) -> Any:
        """Return copies of the record, each without the units of a removal set, in the user's own form."""
        return stacked_records([(self, removed)])

    def whole(self) -> Any:
        """Return the record itself, as the only one."""
        return self.without(np.zeros((1, self.n_units), dtype=bool))

    @property
    def parts(self) -> tuple[IntArray, ...]:
        """Nothing is known of which units belong together."""
        return ()

    @cached_property
    def n_values(self) -> int:
        """How much one copy of the record carries: characters, items and cells."""
        texts = [len(cell.value) for cell in self.cells.values() if cell.kind in ("text", "items")]
        return sum(texts) + 10 * len(self.table.columns(self.number))

    def columns_without(self, units: tuple[int, ...]) -> list[int]:
        """Return the positions of the columns in which something is removed."""
        removed = np.zeros(self.n_units, dtype=bool)
        removed[list(units)] = True
        columns = self.table.columns(self.number)
        return [
            at
            for at, name in enumerate(columns)
            if name in self.cells and removed[self.cells[name].units].any()
        ]

    def counted(self, source: int) -> Counted:
        """Return the numbers that a source makes; raise `NoFormula` if they are not known for all sets."""
        return self._read(source)[0]

    def _read(self, source: int) -> tuple[Counted, bool]:
        if source not in self._known:
            if not 0 <= source < len(self.model.sources):
                raise NoFormula
            own = self.model.sources[source]
            contributions, has_window = own.contributions(self, self.most_in_a_row)
            n_columns = own.n_columns()
            self._known[source] = counted(contributions, self.n_units, n_columns, own.dtype), has_window
        return self._known[source]

    @cached_property
    def _known(self) -> dict[int, tuple[Counted, bool]]:
        return {}

    @property
    def window(self) -> int | None:
        """Up to how many removed units the counts hold in any case; None: there is no limit."""
        has_window = any(self._read(source)[1] for source in range(len(self.model.sources)))
        return self.most_in_a_row if has_window else None

    def wider(self, window: int) -> "RecordRow":
        """Return the same record, whose counts hold for more removed units."""
        return replace(self, most_in_a_row=window)

    def beyond(self, removed: BoolArray) -> BoolArray:
        """Return which sets remove so many words of a text in a row that the counts do not hold for them."""
        beyond = np.zeros(len(removed), dtype=bool)
        if self.window is None:
            return beyond
        many = np.flatnonzero(removed.sum(axis=1) > self.window)
        for cell in self._texts:
            assert cell.text is not None
            beyond[many] |= longest_runs(cell.text.in_order, removed[np.ix_(many, cell.units)]) > self.window
        return beyond

    def beyond_with_each(self, removed: BoolArray) -> BoolArray:
        """Return the same for one removal set together with each further unit."""
        beyond = np.zeros(self.n_units, dtype=bool)
        if self.window is None or removed.sum() < self.window:
            return beyond
        for cell in self._texts:
            assert cell.text is not None
            beyond[cell.units] |= runs_with_each(cell.text.in_order, removed[cell.units]) > self.window
            if longest_runs(cell.text.in_order, removed[np.newaxis, cell.units])[0] > self.window:
                beyond[:] = True
        return beyond

    @property
    def _texts(self) -> list[RecordCell]:
        return [cell for cell in self.cells.values() if cell.text is not None]

    def recounted(self, source: int, removed: BoolArray) -> Any:
        """Return the numbers that a source makes of copies without some units, as CSR."""
        return self.model.sources[source].recounted(self, removed)

    def as_row(self, source: int) -> Row:
        """Raise `NoFormula`: cells are no columns that go with single units."""
        raise NoFormula


AnyRow = Row | TextRow | RecordRow
"""What a model decides on."""


def stacked_records(copies: "list[tuple[RecordRow, BoolArray]]") -> Any:
    """Return copies of many records of one table, each without the units of each of its removal sets."""
    table = copies[0][0].table
    if any(row.table is not table for row, _ in copies):
        return _joined([stacked_records([each]) for each in copies])
    which: list[int] = []
    changes: dict[Column, dict[int, Any]] = {}
    for row, removed in copies:
        first = len(which)
        which += [row.number] * len(removed)
        for cell in row.cells.values():
            for line in np.flatnonzero(removed[:, cell.units].any(axis=1)).tolist():
                changes.setdefault(cell.column, {})[first + line] = cell.without(removed[line])
    return table.copies(np.array(which, dtype=np.intp), changes)


def stacked_copies(copies: "Sequence[tuple[AnyRow, BoolArray]]") -> Any:
    """Return what a model gets of many rows of one kind, each without each of its removal sets."""
    first = copies[0][0]
    if isinstance(first, TextRow):
        return [text for row, removed in copies for text in row.without(removed)]
    alike = cast(Any, list(copies))
    return stacked_records(alike) if isinstance(first, RecordRow) else stacked(alike)


def _joined(tables: list[Any]) -> Any:
    """Return the rows of several tables of one form as one."""
    first = tables[0]
    if isinstance(first, list):
        return [row for table in tables for row in table]
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    module = __import__(type(first).__module__.split(".")[0])
    return (
        module.concat(tables, ignore_index=True)
        if hasattr(first, "iloc")
        else module.concat(tables, how="vertical_relaxed")
    )
