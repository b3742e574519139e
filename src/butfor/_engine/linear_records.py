"""Many records of a linear model: found by sorting, confirmed by the model, all together."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._engine.engine import Engine
from butfor._engine.one_row import is_confirmed
from butfor._engine.report import Report
from butfor._engine.steadiness import ROWS_AGAIN, errors_of_varying, is_same
from butfor._readers import RecordReader
from butfor.errors import ButforError
from butfor.models import AnsweredRows, BoolArray, Decisions, FloatArray, IntArray, sort_terms
from butfor.models.records import Absence, Column, RecordTable, without_items
from butfor.models.records.linear_records import LinearRecords, RecordTerms
from butfor.models.text import Leaf, Span, places_of_runs, without
from butfor.results.columns import objects
from butfor.results.explanation import Explanation
from butfor.searches import Auto


def are_linear(engine: Engine, reader: RecordReader) -> bool:
    """Return whether sorting finds the answers: parts of a linear model, of equal cost and in no groups."""
    settings, kinds = engine.settings, reader.model.kinds
    if any(kinds.get(column) in ("text", "items") for column in (*reader.absent, *reader.kinds)):
        return False  # texts or lists that go as a whole
    plain = (
        reader.costs is None
        and reader.groups is None
        and reader.removal == "delete"
        and reader.words == "word"
    )
    smallest = isinstance(settings.search, Auto) and engine.model.scorer.target is None
    return plain and smallest and engine.model.is_checked and engine.model.linear_records is not None


def explain_linear_records(
    engine: Engine, reader: RecordReader, table: RecordTable, *, only_positive: bool = False
) -> dict[int, Explanation | ButforError | None]:
    """Return the explanations that sorting finds, by the number of the record; None for a negative one.

    The first records are scored once more: where the model gives them other scores, that is their error. Left
    out are records of which the terms are not known, those so close to the threshold that rounding
    matters, and those on which the model contradicts its formula.
    """
    began, model = time.monotonic(), engine.model
    linear = model.linear_records
    if not table.n_rows or linear is None:
        return {}
    try:
        everything = np.arange(table.n_rows)
        own = model.record_scorer or model.scorer  # the user's own encoders may raise at a category
        decisions = own.decide(table.copies(everything, {}), alone=True)
        answers = _RecordAnswers.of(engine, reader, table, linear, decisions)
        again = own.decide(table.copies(everything[:ROWS_AGAIN], {}), alone=True)
    except ButforError:
        return {}  # one by one it is seen on which record the model fails
    is_wanted = (
        decisions.classes == model.scorer.positive if only_positive else np.ones(table.n_rows, dtype=bool)
    )
    explained: dict[int, Explanation | ButforError | None]
    explained = dict.fromkeys(np.flatnonzero(~is_wanted).tolist())
    confirmed = answers.confirmed() & is_wanted
    seconds = (time.monotonic() - began) / table.n_rows
    numbers = np.flatnonzero(confirmed).tolist()
    explained.update(zip(numbers, answers.explanations(confirmed, seconds), strict=True))
    explained.update(errors_of_varying(own, decisions[: len(again)], again))
    return explained


@dataclass(frozen=True, eq=False)
class _RecordAnswers:
    """What sorting found for some records, and what the model says of that."""

    engine: Engine
    reader: RecordReader
    table: RecordTable
    linear: LinearRecords
    terms: RecordTerms
    parts: "_BlockParts"
    found: AnsweredRows
    decisions: Decisions
    """What the model decides on the records."""
    decisions_without: Decisions
    """What it decides on them without the parts of the answer."""

    @staticmethod
    def of(
        engine: Engine, reader: RecordReader, table: RecordTable, linear: LinearRecords, decisions: Decisions
    ) -> "_RecordAnswers":
        """Sort the parts of the records, and have the model decide on the records without the answers."""
        terms = linear.terms(table, partial(_absence, reader, table))
        parts = _BlockParts.of(reader, table, terms, linear.leaves)
        precision = linear.precision(
            int(np.diff(parts.indptr).max(initial=0)) + len(reader.model.columns or ())
        )
        sizes = terms.sizes + np.bincount(parts.rows, parts.sizes, minlength=table.n_rows)
        found = sort_terms(
            parts.terms,
            parts.indptr,
            terms.fixed,
            precision * sizes,
            linear.network.link.zone(engine.model.scorer.threshold, precision),
            engine.settings.budget.max_size,
            parts.removable,
        )
        answered = np.flatnonzero(found.done & terms.is_known & (found.sizes > 0))
        outputs, classes = decisions.outputs.copy(), decisions.classes.copy()
        if len(answered):
            changes = parts.changes(table, found, answered)
            of_answers = engine.model.scorer.decide(table.copies(answered, changes), alone=True)
            outputs[answered], classes[answered] = of_answers.outputs, of_answers.classes
        without_answers = Decisions(outputs, classes)
        return _RecordAnswers(engine, reader, table, linear, terms, parts, found, decisions, without_answers)

    def confirmed(self) -> BoolArray:
        """Return which records are sure of their answer, confirmed by the model."""
        found, model = self.found, self.engine.model
        confirmed = is_confirmed(
            as_seen=found.positive == (self.decisions.classes == model.scorer.positive),
            agrees=self.linear.network.agrees(found.scores, self.decisions.outputs, found.errors)
            & (is_same(self._by_formula(), self.decisions_without.outputs) | (found.sizes == 0)),
            flipped=self.decisions.classes != self.decisions_without.classes,
            size=found.sizes,
        )
        return np.asarray(confirmed & found.done & self.terms.is_known & (found.n_removable > 0))

    def _by_formula(self) -> FloatArray:
        """Return the scores of the records without their answers, as the formula has them."""
        found = self.found
        last = np.take_along_axis(found.scores_without, np.maximum(found.sizes - 1, 0)[:, np.newaxis], axis=1)
        return self.linear.reported(last)[:, 0]

    def explanations(self, which: BoolArray, seconds: float) -> Iterator[Explanation]:
        """Yield the explanations of these records."""
        model, settings, found, parts = self.engine.model, self.engine.settings, self.found, self.parts
        max_size = settings.budget.max_size
        report = Report(model, max_size, settings.search_name, self.linear.network.kind)
        positive, negative = model.scorer.positive, 1 - model.scorer.positive
        scores, scores_without = self.decisions.outputs.tolist(), self.decisions_without.outputs.tolist()
        shown = self._shown()
        path = self.linear.reported(found.scores_without)
        for i in np.flatnonzero(which).tolist():
            size, start, end = int(found.sizes[i]), int(parts.indptr[i]), int(parts.indptr[i + 1])
            own, other = (positive, negative) if found.positive[i] else (negative, positive)
            removed = found.order[i, :size].tolist()
            n_removable = int(found.n_removable[i])
            yield report.explanation(
                classes=(own, other if size else own),
                status="found" if size else "none",
                features=tuple(parts.names[entry] for entry in removed),
                columns=tuple(dict.fromkeys(parts.column_of[removed].tolist())),
                weights=(),
                score=scores[i],
                score_without=scores_without[i],
                lower_bound=size or min(max_size, n_removable) + 1,
                n_active=end - start,
                n_protected=end - start - n_removable,
                n_scored=int(found.n_scored[i]),
                seconds=seconds,
                reason="",
                cost=size,
                path=(*path[i, : size - 1].tolist(), scores_without[i]) if size else (),
                items=tuple(parts.names[start:end].tolist()),
                places=tuple(entry - start for entry in removed),
                unit=self.reader.unit,
                removal=self.reader.removal,
                table=tuple([(name, cells[i]) for name, cells in shown]),
                marks=tuple(parts.marks(self.reader, self.table, i, entry) for entry in removed),
                instead=tuple(parts.instead(entry) for entry in removed),
            )

    def _shown(self) -> list[tuple[str, list[str]]]:
        """Return the columns by name, with all cells as they are shown."""
        return [
            (self.reader.label(column), self.reader.shown(self.table, column))
            for column in self.parts.columns
        ]


def _absence(reader: RecordReader, table: RecordTable, column: Column, value: Any) -> Any:
    return reader.absence(table, column, reader.kind(table, column, value))


@dataclass(frozen=True, eq=False)
class _BlockParts:
    """The parts of some records, one record after the other, each in the order of its columns."""

    columns: Sequence[Column]
    """The columns that are read, in the order of the table."""
    indptr: IntArray
    rows: IntArray
    """The record of each part."""
    column_of: IntArray
    """The position of its column among the columns."""
    keys: npt.NDArray[Any]
    """The words, items and values."""
    names: npt.NDArray[Any]
    terms: FloatArray
    sizes: FloatArray
    removable: BoolArray
    absences: dict[Column, Absence]
    """What stands for absence in columns whose values go as a whole."""
    leaves: dict[Column, Leaf]
    """The vectorisers of columns of texts."""
    places: dict[tuple[int, Column], dict[str, list[Span]]] = field(default_factory=dict)
    """For records and columns of texts: the places of the words of the answer."""

    @staticmethod
    def of(
        reader: RecordReader, table: RecordTable, terms: RecordTerms, leaves: dict[Column, Leaf]
    ) -> "_BlockParts":
        """Put the parts of all columns in the order of the records."""
        columns = reader.columns(table, 0)
        place = {column: at for at, column in enumerate(columns)}
        known = sorted(terms.columns, key=lambda each: place[each.column])
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *(each.rows for each in known)])
        column_of = np.repeat([place[each.column] for each in known], [len(each.rows) for each in known])
        order = np.argsort(rows, kind="stable")
        keys = objects([key for each in known for key in each.parts])
        names = objects(
            [name for each in known for name in reader.part_names(each.column, each.parts, each.kind)]
        )
        removable = np.ones(len(rows), dtype=bool)
        if reader.protected:
            labels = [reader.label(column) for column in columns]
            flags = [
                reader.is_protected(labels[at], name)
                for at, name in zip(column_of.tolist(), names, strict=True)
            ]
            removable = ~np.array(flags, dtype=bool)
        return _BlockParts(
            columns,
            np.searchsorted(rows[order], np.arange(table.n_rows + 1)),
            rows[order],
            column_of[order].astype(np.intp),
            keys[order],
            names[order],
            np.concatenate([np.zeros(0), *(each.terms for each in known)])[order],
            np.concatenate([np.zeros(0), *(each.sizes for each in known)])[order],
            removable[order],
            {each.column: each.absence for each in known if each.absence is not None},
            leaves,
        )

    def changes(
        self, table: RecordTable, found: AnsweredRows, answered: IntArray
    ) -> dict[Column, dict[int, Any]]:
        """Return what changes in copies of records once the parts of their answers are removed."""
        changes: dict[Column, dict[int, Any]] = {}
        for place, row in enumerate(answered.tolist()):
            own: dict[Column, list[Any]] = {}
            for entry in found.order[row, : found.sizes[row]].tolist():
                own.setdefault(self.columns[self.column_of[entry]], []).append(self.keys[entry])
            for column, removed in own.items():
                changes.setdefault(column, {})[place] = self._cell_without(table, row, column, removed)
        return changes

    def _cell_without(self, table: RecordTable, row: int, column: Column, removed: list[Any]) -> Any:
        value, absence = table.value(row, column), self.absences.get(column)
        if column in self.leaves:
            places = places_of_runs(self.leaves[column].preprocess(value), removed)
            self.places[row, column] = places
            return without(value, [span for spans in places.values() for span in spans])
        if absence is None:
            return without_items(value, set(removed))
        return absence.value

    def marks(
        self, reader: RecordReader, table: RecordTable, row: int, entry: int
    ) -> tuple[tuple[int, int, int], ...]:
        """Return the places of a part in the table as it is shown."""
        at, key = int(self.column_of[entry]), self.keys[entry]
        column = self.columns[at]
        value = table.value(row, column)
        if column in self.leaves:
            return tuple((at, *span) for span in self.places[row, column][key])
        name = self.names[entry]
        parts = reader.parts(
            column, reader.kind(table, column, value), value, self.absences.get(column)
        ).parts
        return tuple((at, *span) for part in parts if part.name == name for span in part.marks)

    def instead(self, entry: int) -> str:
        """Return what stands in the place of a part; empty where nothing does."""
        absence = self.absences.get(self.columns[int(self.column_of[entry])])
        return "" if absence is None else absence.in_words
