"""Sources: what the first steps of a model make of cells, as a function of what is removed."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray
from butfor.models.counted import NoFormula
from butfor.models.records.absence import LEFT_OUT, Absence
from butfor.models.records.cells import RecordCell
from butfor.models.records.record_table import Column, RecordTable, is_missing
from butfor.models.scorer import without_name_warnings
from butfor.models.text.contributions import Contributions
from butfor.models.text.leaves import Leaf

MOST_KEPT = 20_000
"""So many cells at most are remembered with what an encoder makes of them."""
N_CHECKS = 16
"""So many sets of items a function of own making is held against."""


class Record(Protocol):
    """A record of which units may be removed."""

    @property
    def table(self) -> RecordTable:
        """The records among which it is."""
        ...

    @property
    def number(self) -> int:
        """Its number among them."""
        ...

    @property
    def n_units(self) -> int:
        """How many units may be removed."""
        ...

    @property
    def cells(self) -> Mapping[Column, RecordCell]:
        """The cells of which something may be removed."""
        ...

    def without(self, removed: BoolArray) -> Any:
        """Return copies of the record for the model, each without the units of a removal set."""
        ...


class Source(Protocol):
    """One of the first steps of a model, which makes numbers of cells."""

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        ...

    def n_columns(self) -> int:
        """Return how many numbers it makes of a record."""
        ...

    def contributions(self, record: Record, window: int) -> tuple[Contributions, bool]:
        """Return the numbers as a function of what is removed, and whether they hold only up to the window.

        Raise `NoFormula` where that is not known.
        """
        ...

    def recounted(self, record: Record, removed: BoolArray) -> Any:
        """Return the numbers for removal sets as CSR, made of changed copies of the record."""
        ...


@dataclass(frozen=True, eq=False)
class TextSource:
    """A vectoriser that reads the text in a column."""

    column: Column
    leaf: Leaf

    @property
    def dtype(self) -> Any:
        """The dtype of the counts."""
        return self.leaf.vectoriser.dtype

    def n_columns(self) -> int:
        """Return how many grams it counts."""
        vocabulary = self.leaf.vocabulary
        return int(self.leaf.vectoriser.n_features) if vocabulary is None else len(vocabulary)

    def contributions(self, record: Record, window: int) -> tuple[Contributions, bool]:
        """Return the counts as a function of what is cut out of the text."""
        cell = record.cells.get(self.column)
        if cell is None or cell.text is None:
            text = record.table.value(record.number, self.column)
            return _of_whole_cell(cell, text, self._counts), False
        own = cell.text.contributions(self.leaf, window)
        if own is None:
            raise NoFormula
        return own.renumbered(cell.units), self.leaf.reaches_over_words and len(cell.units) > window

    def recounted(self, record: Record, removed: BoolArray) -> Any:
        """Return the counts in texts that are cut."""
        cell = record.cells.get(self.column)
        text = record.table.value(record.number, self.column)
        texts = [text if cell is None else cell.without(line) for line in removed]
        return _as_rows(list(map(self._counts, texts)), self)

    def _counts(self, text: Any) -> dict[int, float]:
        if not isinstance(text, str):
            raise NoFormula
        return self.leaf.counts(self.leaf.analyze(text))


@dataclass(frozen=True, eq=False)
class ItemSource:
    """A vectoriser that counts the items of the lists in a column."""

    column: Column
    vectoriser: Any
    analyze: Callable[[Any], Any]

    @property
    def dtype(self) -> Any:
        """The dtype of the counts."""
        return self.vectoriser.dtype

    def n_columns(self) -> int:
        """Return how many items it knows."""
        return len(self.vectoriser.vocabulary_)

    def contributions(self, record: Record, window: int) -> tuple[Contributions, bool]:
        """Return the counts as a function of the items that are removed.

        The vectoriser's function may be of own making: it is held against sums of single items, for the whole
        list and for some lists without items.
        """
        items = record.table.value(record.number, self.column)
        cell = record.cells.get(self.column)
        if cell is None or cell.kind != "items":
            return _of_whole_cell(cell, items, self._counts), False
        contributions = Contributions()
        for unit, kept in cell.split():
            own = self._counts(kept)
            if unit < 0:
                contributions.add_fixed(own)
            else:
                contributions.add_single(unit, own, {})
        rng = np.random.default_rng(0)
        for share in np.linspace(0, 1, N_CHECKS):
            line = rng.random(record.n_units) < share
            expected = self._counts(cell.without(line))
            if contributions.counts(set(np.flatnonzero(line).tolist())) != expected:
                raise NoFormula
        return contributions, False

    def recounted(self, record: Record, removed: BoolArray) -> Any:
        """Return the counts in lists without some items."""
        cell = record.cells.get(self.column)
        items = record.table.value(record.number, self.column)
        lists = [items if cell is None else cell.without(line) for line in removed]
        return _as_rows(list(map(self._counts, lists)), self)

    def _counts(self, items: Any) -> dict[int, float]:
        counts: dict[int, float] = {}
        known = self.vectoriser.vocabulary_
        try:
            for item in self.analyze(items):
                column = known.get(item)
                if column is not None:
                    counts[column] = counts.get(column, 0.0) + 1.0
        except Exception as error:  # the model itself is asked, and reports it
            raise NoFormula from error
        return counts


def _of_whole_cell(
    cell: RecordCell | None, value: Any, counts: Callable[[Any], dict[int, float]]
) -> Contributions:
    """Return the counts in a text or list that stays, or goes as a whole."""
    contributions = Contributions()
    if cell is None:
        contributions.add_fixed(counts(value))
    else:
        contributions.add_single(int(cell.units[0]), counts(value), counts(cell.absent_value))
    return contributions


def _as_rows(counts: Sequence[Mapping[int, float]], source: Source) -> Any:
    """Return counts as rows of CSR."""
    row_of = np.repeat(np.arange(len(counts)), [len(each) for each in counts])
    columns = [column for each in counts for column in each]
    values = np.array([count for each in counts for count in each.values()], dtype=source.dtype)
    return sparse.csr_matrix((values, (row_of, columns)), shape=(len(counts), source.n_columns()))


Encoded = tuple[tuple[int, float, float], ...]
"""For each column that a cell changes: its number, its value with the cell and without it."""


@dataclass(frozen=True, eq=False)
class CellSource:
    """Steps that make numbers of whole cells, such as encoders of categories and scales of numbers."""

    columns: tuple[Column, ...]
    take: Callable[[Any], Any]
    """Takes these columns out of records, in the form in which the first step gets them."""
    steps: tuple[Any, ...]
    """Transformers, one behind the other."""
    width: int
    apart: bool
    """Whether each number is known to depend on one cell only."""
    dtype: Any = np.float64
    ahead: tuple[tuple[Column, Any], ...] = ()
    """Cells that are encoded together with the first one: the categories that the steps know."""
    _known: dict[Hashable, Encoded] = field(default_factory=dict)
    """What single cells change, by column, value and what stands for absence."""
    _nothing: dict[Hashable, Any] = field(default_factory=dict)
    """The numbers of a record of which all cells are absent."""
    _last: dict[str, Any] = field(default_factory=dict)
    """The last table of which nothing could be removed here, and its numbers."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}, "_nothing": {}, "_last": {}}

    def n_columns(self) -> int:
        """Return how many numbers it makes of a record."""
        return self.width

    def numbers(self, records: Any) -> Any:
        """Return the numbers of some records, as the steps return them."""
        X = self.take(records)
        try:
            with without_name_warnings():
                for step in self.steps:
                    X = step.transform(X)
        except Exception as error:  # the model itself is asked, and reports it
            raise NoFormula from error
        X = X.to_numpy() if hasattr(X, "to_numpy") else X
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)
            X.sum_duplicates()  # a DictVectorizer leaves items apart that come twice
        else:
            X = np.asarray(X)
        if X.dtype.kind not in "biuf":
            try:
                X = X.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise NoFormula from error
        return X if X.ndim == 2 else X.reshape(-1, 1)

    def contributions(self, record: Record, window: int) -> tuple[Contributions, bool]:
        """Return the numbers as a function of the cells that are removed."""
        own = self._cells(record)
        units = {unit for cell in own for unit in cell.units.tolist()}
        if any(cell.absence is None for cell in own) or (not self.apart and len(units) > 1):
            if len(units) > 1:
                raise NoFormula
            return self._of_one_unit(record, units), False
        return self._cell_by_cell(record, own), False

    def _cells(self, record: Record) -> list[RecordCell]:
        """Return the cells of its columns of which something may be removed."""
        return [record.cells[column] for column in self.columns if column in record.cells]

    def _columns_of(self, record: Record) -> Sequence[Column]:
        """Return the columns that it reads of a record."""
        return self.columns

    def recounted(self, record: Record, removed: BoolArray) -> Any:
        """Return the numbers of changed copies of the record."""
        return sparse.csr_matrix(self.numbers(record.without(removed)))

    def _of_one_unit(self, record: Record, units: set[int]) -> Contributions:
        """Return numbers that depend on one unit at most: those of the record with and without it."""
        contributions = Contributions()
        removed = np.zeros((2, record.n_units), dtype=bool)
        removed[1, list(units)] = True
        X = self.numbers(record.without(removed if units else removed[:1]))
        if units:
            contributions.add_single(min(units), _entries(X, 0), _entries(X, 1))
        else:
            contributions.add_fixed(_entries(X, 0))
        return contributions

    def _cell_by_cell(self, record: Record, own: Sequence[RecordCell]) -> Contributions:
        """Return numbers each of which depends on one cell; a cell is encoded once."""
        if not own:
            contributions = Contributions()
            contributions.add_fixed(_entries(self._of_table(record.table), record.number))
            return contributions
        keys = [_key(cell) for cell in own]
        context = self._context(record, own)
        nothing = self._nothing.get(context)
        new = [at for at, key in enumerate(keys) if key not in self._known]
        if new or nothing is None:
            nothing = self._encode(record, own, keys, new)
            self._nothing[context] = nothing
        contributions = Contributions()
        moved: set[int] = set()
        for cell, key in zip(own, keys, strict=True):
            encoded = self._known[key]
            moved.update(column for column, _, _ in encoded)
            contributions.add_single(
                int(cell.units[0]),
                {column: kept for column, kept, _ in encoded},
                {column: left for column, _, left in encoded},
            )
        contributions.add_fixed({column: value for column, value in nothing.items() if column not in moved})
        return contributions

    def _of_table(self, table: RecordTable) -> Any:
        """Return the numbers of all records of a table; those of the last one are kept."""
        if self._last.get("table") is not table:
            self._last.update(table=table, numbers=self.numbers(table.copies(np.arange(table.n_rows), {})))
        return self._last["numbers"]

    def _context(self, record: Record, own: Sequence[RecordCell]) -> Hashable:
        """Return what the numbers of a record without its removable cells depend on: the cells that stay."""
        removable = {cell.column: cell for cell in own}
        context = []
        for column in self._columns_of(record):
            cell = removable.get(column)
            value = record.table.value(record.number, column) if cell is None else cell.absent_value
            value = None if is_missing(value) else value
            context.append((column, cell is None, *_hashable(value)))
        return tuple(context)

    def _encode(
        self, record: Record, own: Sequence[RecordCell], keys: Sequence[Hashable], new: Sequence[int]
    ) -> dict[int, float]:
        """Encode records of which all removable cells are absent, but for a new one in each."""
        if len(self._known) + len(self._nothing) > MOST_KEPT:
            self._known.clear()
            self._nothing.clear()
            new = range(len(own))
        told = [(own[at].column, own[at].value, keys[at]) for at in new]
        if not self._known:
            told += self._ahead({cell.column: cell for cell in own})
        copies: list[dict[Column, Any]] = [{}, *({column: value} for column, value, _ in told)]
        changes: dict[Column, dict[int, Any]] = {
            cell.column: {
                place: kept.get(cell.column, cell.absent_value) for place, kept in enumerate(copies)
            }
            for cell in own
        }
        X = self.numbers(record.table.copies(np.full(len(copies), record.number), changes))
        nothing = _entries(X, 0)
        for place, (_, _, key) in enumerate(told, start=1):
            with_it = _entries(X, place)
            self._known[key] = tuple(
                (column, with_it.get(column, 0.0), nothing.get(column, 0.0))
                for column in sorted({*with_it, *nothing})
                if not _same(with_it.get(column, 0.0), nothing.get(column, 0.0))
            )
        return nothing

    def _ahead(self, own: Mapping[Column, RecordCell]) -> list[tuple[Column, Any, Hashable]]:
        """Return the cells that are encoded with the first one, each with its key."""
        cells = [replace(own[column], value=value) for column, value in self.ahead if column in own]
        return [(cell.column, cell.value, _key(cell)) for cell in cells]


class DictSource(CellSource):
    """A DictVectorizer. Keys are its columns, which differ from record to record; items of lists add up."""

    def _columns_of(self, record: Record) -> Sequence[Column]:
        return record.table.columns(record.number)

    def _cells(self, record: Record) -> list[RecordCell]:
        """Return the cells, and for each list one for each of its units."""
        cells = []
        for cell in record.cells.values():
            if cell.kind != "items":
                cells.append(cell)
                continue
            (_, stays), *pieces = cell.split()
            absence = Absence(list(stays), "") if len(stays) else LEFT_OUT
            for unit, own in pieces:
                value = [*stays, *own]
                cells.append(replace(cell, value=value, units=np.array([unit]), absence=absence))
        return cells


class FrameSource(CellSource):
    """Steps that make a number of each cell of a frame, whatever its columns are called."""

    def _columns_of(self, record: Record) -> Sequence[Column]:
        return record.table.columns(record.number)

    def _cells(self, record: Record) -> list[RecordCell]:
        return list(record.cells.values())


def _key(cell: RecordCell) -> Hashable:
    """Return the key of a cell: its column, its value and what stands for absence."""
    value, absent = cell.value, None if is_missing(cell.absent_value) else cell.absent_value
    return cell.column, *_hashable(value), *_hashable(absent)


def _hashable(value: Any) -> tuple[type, Hashable]:
    return type(value), value if isinstance(value, Hashable) else repr(value)


def _entries(X: Any, number: int) -> dict[int, float]:
    """Return the entries of a row that are not zero."""
    if sparse.issparse(X):
        start, end = X.indptr[number], X.indptr[number + 1]
        entries = zip(X.indices[start:end].tolist(), X.data[start:end].tolist(), strict=True)
        return {column: float(value) for column, value in entries if value}
    return {column: float(value) for column, value in enumerate(X[number].tolist()) if value}


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)
