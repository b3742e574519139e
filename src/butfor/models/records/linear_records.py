"""Many records of a linear model at once: what each part adds to the score, column by column."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.counted import Counted, NoFormula
from butfor.models.formula.activations import Identity
from butfor.models.formula.affine import precision_of_sums
from butfor.models.formula.mixed_map import MixedMap
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.records.absence import Absence, is_same
from butfor.models.records.cells import Kind
from butfor.models.records.record_model import RecordModel
from butfor.models.records.record_table import Column, RecordTable, is_missing
from butfor.models.records.sources import CellSource, DictSource, ItemSource, Source, TextSource
from butfor.models.text.contributions import Contributions, counted
from butfor.models.text.cutting import counts_runs
from butfor.models.text.leaves import Leaf

AbsenceOf = Callable[[Column, Any], Absence | None]
"""What stands for absence of a value in a column; None: it stays."""


@dataclass(frozen=True, eq=False)
class ColumnTerms:
    """What the parts in one column add to the scores of some records."""

    column: Column
    kind: Kind
    rows: IntArray
    """The record of each part, ascending."""
    parts: list[Any]
    """The words, the items, or the values."""
    terms: FloatArray
    """What each part adds to the score, beyond what stands in its place once it is removed."""
    sizes: FloatArray
    """The absolute terms that the model adds up for it."""
    absence: Absence | None = None
    """What stands in the place of a value that goes as a whole."""


@dataclass(frozen=True, eq=False)
class RecordTerms:
    """The scores of some records as sums of terms."""

    columns: list[ColumnTerms]
    fixed: FloatArray
    """Records: what no removal changes, with the bias."""
    sizes: FloatArray
    """Records: the absolute terms in it."""
    is_known: BoolArray
    """Records: whether all this is known."""


@dataclass(frozen=True, eq=False)
class LinearRecords:
    """A model of two classes whose wide score is a sum of one term for each part of a record."""

    network: Network
    members: tuple["_Member", ...]
    bias: float
    dtype: np.dtype[Any]

    @staticmethod
    def of(network: Network | None, model: RecordModel | None) -> "LinearRecords | None":
        """Return a network over records as one such sum, or None if it is not one."""
        if network is None or model is None or len(network.affine_maps) != 1 or network.softmax:
            return None
        (mixed,) = network.affine_maps
        is_bent = any(layer.activation != Identity() for layer in network.layers)
        if is_bent or not isinstance(mixed, MixedMap) or any(norm is not None for norm in mixed.norms):
            return None
        weights, bias = [_dense(each.weights) for each in mixed.members], mixed.bias
        strengths = [_dense(each.strength) for each in mixed.members]
        for layer in network.layers:
            weights, bias = [each @ layer.weights for each in weights], bias @ layer.weights + layer.bias
            strengths = [each @ np.abs(layer.weights) for each in strengths]
        finite = all(np.isfinite(each).all() for each in weights) and np.isfinite(bias).all()
        if len(bias) != 1 or not finite:
            return None
        members = [
            _member(each.steps, own[:, 0], strength[:, 0], model.sources[each.steps.source])
            for each, own, strength in zip(mixed.members, weights, strengths, strict=True)
        ]
        known = [member for member in members if member is not None]
        columns = [column for member in known for column in member.columns]
        if len(known) < len(members) or len(columns) > len(set(columns)):
            return None
        dtype = min((member.dtype for member in mixed.members), key=lambda each: each.itemsize)
        return LinearRecords(network, tuple(known), float(bias[0]), dtype)

    def terms(self, table: RecordTable, absence_of: AbsenceOf) -> RecordTerms:
        """Return the scores of records as sums of terms."""
        n_rows = table.n_rows
        fixed, sizes = np.full(n_rows, self.bias), np.full(n_rows, abs(self.bias))
        terms = RecordTerms([], fixed, sizes, np.ones(n_rows, dtype=bool))
        for member in self.members:
            try:
                member.add_to(terms, table, absence_of)
            except Exception:  # what is no sum for some record is seen one by one
                terms.is_known[:] = False
        return terms

    @property
    def leaves(self) -> dict[Column, Leaf]:
        """The vectorisers of columns of texts."""
        return {
            member.source.column: member.source.leaf for member in self.members if isinstance(member, _Words)
        }

    def precision(self, n_terms: int) -> float:
        """Return the relative error of sums of so many terms."""
        return max(4 * precision_of_sums(n_terms, np.dtype(np.float64), self.dtype), self.network.precision)

    def reported(self, scores: FloatArray) -> FloatArray:
        """Return scores on the user's scale."""
        return self.network.link.value(scores)


@dataclass(frozen=True, eq=False)
class _Member:
    """One source, with the weights of its numbers."""

    weights: FloatArray
    strength: FloatArray
    """The absolute values that the model adds up."""
    steps: Preprocessing

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that it reads."""
        raise NotImplementedError

    def add_to(self, terms: RecordTerms, table: RecordTable, absence_of: AbsenceOf) -> None:
        """Add the terms of its parts, and what no removal changes."""
        raise NotImplementedError

    def _values(self, source: Source, columns: IntArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return counts behind the steps, times their weights, and the absolute terms."""
        if self.steps.transformers:
            entries = self.steps.values_of(_like(source), columns, counts)
            columns, counts = np.asarray(entries.columns), entries.values
        return counts * self.weights[columns], np.abs(counts) * self.strength[columns]


@dataclass(frozen=True, eq=False)
class _Words(_Member):
    """A vectoriser of single words."""

    source: TextSource

    @property
    def columns(self) -> tuple[Column, ...]:
        return (self.source.column,)

    def add_to(self, terms: RecordTerms, table: RecordTable, absence_of: AbsenceOf) -> None:
        leaf = self.source.leaf
        known, analyze = leaf.vocabulary, leaf.analyze
        assert known is not None
        words, counts, n_words = list[str](), list[int](), list[int]()
        for number, text in enumerate(table.values(self.source.column)):
            if not isinstance(text, str) or (not text.isascii() and len(text.lower()) != len(text)):
                terms.is_known[number] = False
                n_words.append(0)
                continue
            found = Counter(analyze(text))
            own = [word for word in found if word in known]
            words += own
            counts += [found[word] for word in own]
            n_words.append(len(own))
        columns = np.array([known[word] for word in words], dtype=np.intp)
        own_terms = self._values(self.source, columns, np.array(counts, dtype=np.float64))
        rows = np.repeat(np.arange(len(n_words)), n_words)
        terms.columns.append(ColumnTerms(self.source.column, "text", rows, words, *own_terms))


@dataclass(frozen=True, eq=False)
class _Items(_Member):
    """A vectoriser of items."""

    source: ItemSource

    @property
    def columns(self) -> tuple[Column, ...]:
        return (self.source.column,)

    def add_to(self, terms: RecordTerms, table: RecordTable, absence_of: AbsenceOf) -> None:
        known, analyze = self.source.vectoriser.vocabulary_, self.source.analyze
        rows, items, places, counts = list[int](), list[Any](), list[int](), list[int]()
        for number, own in enumerate(table.values(self.source.column)):
            if not isinstance(own, list | tuple) or list(analyze(own)) != list(own):
                terms.is_known[number] = False
                continue
            for item, count in Counter(own).items():
                rows.append(number)
                items.append(item)
                places.append(known.get(item, -1))
                counts.append(count)
        columns, numbers = np.array(places, dtype=np.intp), np.array(counts, dtype=np.float64)
        own_terms, is_there = np.zeros((2, len(columns))), columns >= 0
        own_terms[:, is_there] = self._values(self.source, columns[is_there], numbers[is_there])
        rows_ = np.array(rows, dtype=np.intp)
        terms.columns.append(ColumnTerms(self.source.column, "items", rows_, items, *own_terms))


@dataclass(frozen=True, eq=False)
class _Cells(_Member):
    """Steps that make numbers of whole cells."""

    source: CellSource
    known: dict[Column, dict[Any, tuple[float, float]]] = field(default_factory=dict)
    """For each column: what its values add to the score, and the absolute terms."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known": {}}

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.source.columns

    def add_to(self, terms: RecordTerms, table: RecordTable, absence_of: AbsenceOf) -> None:
        absent: dict[Column, Any] = {}
        for column in self.columns:
            absence = next(
                (absence_of(column, value) for value in table.values(column) if not is_missing(value)), None
            )
            if absence is not None:
                absent[column] = absence.value
        everything = np.arange(table.n_rows)
        if len(absent) == len(self.columns):
            X = self._numbers(table, everything[:1], absent)
        else:
            X = self._numbers(table, everything, absent)
        terms.fixed[:] += X @ self.weights
        terms.sizes[:] += abs(X) @ self.strength
        for column in absent:
            self._add_column(terms, table, column, absent, absence_of)

    def _numbers(self, table: RecordTable, which: IntArray, values: Mapping[Column, Any]) -> Any:
        changes = {column: dict.fromkeys(range(len(which)), value) for column, value in values.items()}
        return self.source.numbers(table.copies(which, changes))

    def _add_column(
        self,
        terms: RecordTerms,
        table: RecordTable,
        column: Column,
        absent: Mapping[Column, Any],
        absence_of: AbsenceOf,
    ) -> None:
        values = table.values(column)
        known = self.known.setdefault(column, {})
        try:
            distinct = {value: number for number, value in enumerate(dict.fromkeys(values))}
        except TypeError as error:  # a list
            raise NoFormula from error
        keys = [None if is_missing(value) else value for value in distinct]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            self._learn(table, column, absent, new, known)
        absences = [None if key is None else absence_of(column, key) for key in keys]
        if any(each is not None and each.value is not absent[column] for each in absences):
            raise NoFormula  # values of several kinds
        parts = [
            absence is not None and not is_same(key, absence.value)
            for key, absence in zip(keys, absences, strict=True)
        ]
        which = np.array([distinct[value] for value in values], dtype=np.intp)
        added, strength = np.array([known[key] for key in keys])[which].T
        is_part = np.array(parts, dtype=bool)[which]
        terms.fixed[:] += np.where(is_part, 0.0, added)
        terms.sizes[:] += strength
        rows = np.flatnonzero(is_part)
        absence = next((each for each in absences if each is not None), None)
        own = [values[row] for row in rows.tolist()]
        terms.columns.append(
            ColumnTerms(column, "category", rows, own, added[rows], np.zeros(len(rows)), absence)
        )

    def _learn(
        self,
        table: RecordTable,
        column: Column,
        absent: Mapping[Column, Any],
        new: Sequence[Any],
        known: dict[Any, tuple[float, float]],
    ) -> None:
        """Encode records that are absent but for new values in one column."""
        which = np.zeros(len(new) + 1, dtype=np.intp)
        changes: dict[Column, dict[int, Any]] = {
            each: dict.fromkeys(range(len(which)), value) for each, value in absent.items()
        }
        changes[column].update(enumerate(new, start=1))
        X = self.source.numbers(table.copies(which, changes))
        change = X[1:] - X[[0] * len(new)]
        terms, strength = change @ self.weights, abs(change) @ self.strength
        known.update(zip(new, zip(np.ravel(terms), np.ravel(strength), strict=True), strict=True))


def _member(
    steps: Preprocessing, weights: FloatArray, strength: FloatArray, source: Source
) -> _Member | None:
    """Return a source whose parts add up, if it is known to be one."""
    if isinstance(source, TextSource):
        is_plain = counts_runs(source.leaf) and source.leaf.vocabulary is not None
        return _Words(weights, strength, steps, source) if is_plain else None
    if isinstance(source, ItemSource):
        return _Items(weights, strength, steps, source)
    if isinstance(source, DictSource) or not isinstance(source, CellSource):
        return None
    return _Cells(weights, strength, steps, source) if source.apart and not steps.transformers else None


def _like(source: Source) -> Counted:
    """Return counts of nothing, which tell how many columns there are and of which dtype."""
    return counted(Contributions(), 0, source.n_columns(), source.dtype)


def _dense(weights: Any) -> FloatArray:
    return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, dtype=np.float64)
