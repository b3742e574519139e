"""Many rows together: the model is called for all of them at once, and a failing row costs only itself."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from butfor._engine.engine import Engine
from butfor._engine.linear_records import are_linear, explain_linear_records
from butfor._engine.model import ROWS_TO_CHECK, EngineModel
from butfor._engine.noisy_row import explain_noisy
from butfor._engine.one_row import Candidate, OneRow, explain_row, localise
from butfor._engine.side_by_side import Result, side_by_side
from butfor._engine.slices import chosen_rows, each_row, in_pieces, is_one_by_one
from butfor._engine.solved_rows import explain_solved, solver_of
from butfor._engine.steadiness import ROWS_AGAIN, errors_of_varying, proven_together
from butfor._readers import ReadRow, RecordAt, RecordReader, RowReader, stacked_rows
from butfor.errors import ButforError, InputError, ModelError, row_error
from butfor.models import Decisions, LinearRows, row_at
from butfor.models.local.asking import DIRECT, Asker
from butfor.models.row_kind import RowKind
from butfor.models.rows import n_rows_in
from butfor.noise import Noise
from butfor.results.outcomes import Outcome, Outcomes

Progress = Callable[[int], None]
"""Is called with the number of rows that were done since its last call."""

ROWS_AT_ONCE = 64
"""Rows of one call of the model."""
LINEAR_ROWS_AT_ONCE = 5_000
NETWORK_ROWS_AT_ONCE = 500
"""Rows of networks: some tenths of a second."""
RECORDS_AT_ONCE = 1_000
"""Records of a linear model: enough of them that a call of the model costs little for each."""


def explain_block(engine: Engine, rows: Any, only_positive: bool, progress: Progress) -> Outcomes:
    """Explain rows of a matrix, or texts; return an outcome for each, in their order."""
    block = _BlockExplainer(engine, only_positive, progress)
    pieces = in_pieces(engine.settings.reader.many(rows), rows_at_once(engine))
    return Outcomes.joined(map(block.explain, pieces))


def rows_at_once(engine: Engine) -> int:
    """Return how many rows are best explained together."""
    if engine.settings.reader.takes_records:
        return RECORDS_AT_ONCE if engine.model.linear_records is not None else ROWS_AT_ONCE
    solver = solver_of(engine)
    if solver is None:
        return ROWS_AT_ONCE
    return LINEAR_ROWS_AT_ONCE if isinstance(solver, LinearRows) else NETWORK_ROWS_AT_ONCE


@dataclass(eq=False)
class _RowOfBlock:
    """A row that could be read."""

    number: int
    read: ReadRow
    seconds: float
    """The time that was spent on this row so far."""
    localised_at: float = 0.0
    """When the model was seen from this row; the time until its search begins is not its own."""
    is_counted: bool = False
    """Whether it was reported as done."""


@dataclass(frozen=True, eq=False)
class _BlockExplainer:
    """Explains rows together; outcomes go by the number of the row."""

    engine: Engine
    only_positive: bool
    progress: Progress

    def explain(self, rows: Any) -> Outcomes:
        """Return the outcome of every row; none is proven where the model gives one of them two scores."""
        return proven_together(self._explained(rows))

    def _explained(self, rows: Any) -> Outcomes:
        reader = self.engine.settings.reader.fitting(rows)
        if isinstance(reader, RecordReader) and not is_one_by_one(rows):
            return Outcomes.of(self._records(rows, reader))
        if not isinstance(reader, RowReader) or not hasattr(rows, "shape"):
            return Outcomes.of(self._together(list(enumerate(rows))))
        try:
            table = reader.table(rows)
        except InputError:
            return self._but_for_bad_ones(rows, reader)
        solved = explain_solved(self.engine, table, only_positive=self.only_positive)
        rest = solved.open(table.n_rows)
        if len(rest) < table.n_rows:
            self.progress(table.n_rows - len(rest))
        others = self._together([(number, row_at(table, number)) for number in rest])
        return Outcomes(table.n_rows, solved.others | others, [(solved.numbers, solved.columns)])

    def _records(self, rows: Any, reader: RecordReader) -> dict[int, Outcome]:
        """Explain records of one table."""
        done: dict[int, Outcome] = {}
        try:
            table = reader.table(rows)
        except InputError as error:
            self.progress(n_rows_in(rows))
            return dict.fromkeys(range(n_rows_in(rows)), error)
        first = 0
        while first < min(table.n_rows, ROWS_TO_CHECK) and not self.engine.model.is_checked:
            done |= self._together([(first, RecordAt(table, first))])  # holds the formula against the model
            first += 1
        if are_linear(self.engine, reader):
            answers = explain_linear_records(self.engine, reader, table, only_positive=self.only_positive)
            answers = {number: outcome for number, outcome in answers.items() if number not in done}
            self.progress(len(answers))
            done |= answers
        rest = [number for number in range(table.n_rows) if number not in done]
        return done | self._together([(number, RecordAt(table, number)) for number in rest])

    def _but_for_bad_ones(self, rows: Any, reader: RowReader) -> Outcomes:
        """Find out which rows cannot be read, and explain the others."""
        numbered = list(enumerate(each_row(rows)))
        bad: dict[int, Outcome] = {}
        for number, row in numbered:
            try:
                reader.table(row)
            except InputError as error:
                bad[number] = error
                self.progress(1)
        good = [number for number, _ in numbered if number not in bad]
        if not bad or not good:
            return Outcomes.of(bad or self._together(numbered))
        return self.explain(chosen_rows(rows, good)).at(np.array(good), bad)

    def _together(self, numbered: Sequence[tuple[int, Any]]) -> dict[int, Outcome]:
        """Explain rows, as many at a time as one call of the model should carry."""
        outcomes: dict[int, Outcome] = {}
        for some in in_pieces(numbered, ROWS_AT_ONCE):
            rows = []
            for number, row in some:
                began = time.monotonic()
                try:
                    read = self.engine.read(row)
                    rows.append(_RowOfBlock(number, read, time.monotonic() - began))
                except Exception as error:
                    outcomes[number] = row_error(error)
                    self.progress(1)
            self.engine.model.get_ready()
            if isinstance(self.engine.settings.noise, Noise):
                outcomes |= self._noisy(rows)
                continue
            for alike in _by_kind(rows):
                try:
                    outcomes |= self._in_two_calls(alike)
                except ModelError:  # the model fails on one of the rows; alone it is seen on which
                    outcomes |= {row.number: self._alone(row) for row in alike}
        return outcomes

    def _noisy(self, rows: Sequence[_RowOfBlock]) -> dict[int, Outcome]:
        """Explain rows whose scores vary, side by side."""
        explain = partial(explain_noisy, self.engine, only_positive=self.only_positive)
        works = [partial(explain, row.read, row.seconds) for row in rows]
        found = self._side_by_side(works, rows)
        return {
            row.number: row_error(each) if isinstance(each, Exception) else each
            for row, each in zip(rows, found, strict=True)
        }

    def _in_two_calls(self, rows: Sequence[_RowOfBlock]) -> dict[int, Outcome]:
        """Search row by row, after one call of the model for all rows, and before one for all answers."""
        outcomes: dict[int, Outcome] = {}
        searched: list[tuple[_RowOfBlock, OneRow, Candidate]] = []
        localised: list[tuple[_RowOfBlock, OneRow]] = []
        for row, decisions in zip(rows, self._decide(rows, [[()]] * len(rows)), strict=True):
            if self.only_positive and decisions.classes[0] != self.engine.model.scorer.positive:
                outcomes[row.number] = None
                self._count(row)
                continue
            try:
                localised.append((row, self._localise(row, decisions)))
            except Exception as error:
                outcomes[row.number] = row_error(error)
                self._count(row)
        for (row, seen), found in zip(localised, self._search(localised), strict=True):
            if isinstance(found, Candidate):
                searched.append((row, seen, found))
            else:
                outcomes[row.number] = row_error(found)
        first = [i for i, (_, seen, _) in enumerate(searched) if not seen.is_black_box][:ROWS_AGAIN]
        sets = [seen.sets_in_question(answer.finding.removed) for _, seen, answer in searched]
        once_more = [[(), *some] if i in first else some for i, some in enumerate(sets)]
        decided = self._decide([row for row, _, _ in searched], once_more)
        for i, (row, seen, answer) in enumerate(searched):
            again, rest = decided[i][:1], decided[i][len(once_more[i]) - len(sets[i]) :]
            outcome = self._confirm(row, seen, answer, rest)
            outcomes[row.number] = _varying(seen, again) or outcome if i in first else outcome
        return outcomes

    def _decide(self, rows: Sequence[_RowOfBlock], sets: Sequence[list[tuple[int, ...]]]) -> list[Decisions]:
        """Have the model decide on each row without each of its removal sets, all in one call."""
        ends = np.cumsum([len(some) for some in sets]).tolist()
        if not ends or not ends[-1]:
            return [Decisions(np.zeros(0), np.zeros(0, dtype=np.intp))] * len(rows)
        began = time.monotonic()
        model, reads = self.engine.model, [row.read for row in rows]
        decisions = model.scorer.handing(reads[0].row.kind).decide(
            stacked_rows(list(zip(reads, sets, strict=True))), by_predict=model.network is None, alone=True
        )
        share = (time.monotonic() - began) / ends[-1]
        for row, some in zip(rows, sets, strict=True):
            row.seconds += share * len(some)
        return [decisions[end - len(some) : end] for end, some in zip(ends, sets, strict=True)]

    def _localise(self, row: _RowOfBlock, decisions: Decisions) -> OneRow:
        began = time.monotonic()
        deadline = began - row.seconds + self.engine.settings.budget.max_seconds
        seen = localise(self.engine, row.read, deadline, decisions=decisions)
        row.localised_at = time.monotonic()
        row.seconds += row.localised_at - began
        return seen

    def _search(self, rows: Sequence[tuple[_RowOfBlock, OneRow]]) -> list[Candidate | Exception]:
        """Search row by row; black boxes side by side, so that they share the calls of the model."""
        searches = [partial(self._search_one, row, seen) for row, seen in rows]
        black_boxes = [i for i, (_, seen) in enumerate(rows) if seen.is_black_box]
        of_black_boxes = self._side_by_side(
            [searches[i] for i in black_boxes], [rows[i][0] for i in black_boxes]
        )
        found = dict(zip(black_boxes, of_black_boxes, strict=True))
        for i, search in enumerate(searches):
            if i not in found:
                try:
                    found[i] = search(DIRECT)
                except Exception as error:
                    found[i] = error
                self._count(rows[i][0])
        return [found[i] for i in range(len(rows))]

    def _side_by_side(
        self, searches: Sequence[Callable[[Asker], Result]], rows: Sequence[_RowOfBlock]
    ) -> list[Result | Exception]:
        """Run searches of rows side by side; each call of the model is a sign of life."""

        def after_call(ended: list[int]) -> None:
            self.progress(0)
            for i in ended:
                self._count(rows[i])

        found = side_by_side(searches, after_call=after_call)
        for row in rows:  # also those that asked nothing
            self._count(row)
        return found

    def _search_one(self, row: _RowOfBlock, seen: OneRow, asker: Asker) -> Candidate:
        """Search one row; the time for which it waits for others is not its own."""
        deadline = seen.local.deadline
        deadline.put_off(time.monotonic() - row.localised_at)
        seen.local.ask_by(asker)
        try:
            return seen.search(self.engine.settings)
        finally:
            seen.local.ask_by(DIRECT)
            row.seconds += time.monotonic() - row.localised_at - deadline.waited

    def _confirm(self, row: _RowOfBlock, seen: OneRow, answer: Candidate, decisions: Decisions) -> Outcome:
        try:
            verdict = seen.verdict_by(answer.finding.removed, decisions)
            if not seen.confirms(verdict, answer.finding.removed):
                if not seen.is_black_box:
                    return self._alone(row)
                answer, verdict = seen.unconfirmed(answer), verdict.of_row
            return seen.report(answer, verdict, self.engine.settings, row.seconds)
        except Exception as error:
            return row_error(error)

    def _alone(self, row: _RowOfBlock) -> Outcome:
        """Explain a row by itself."""
        try:
            if self.only_positive and not _is_positive(self.engine.model, row.read):
                return None
            return explain_row(self.engine, row.read, row.seconds)
        except Exception as error:
            return row_error(error)
        finally:
            self._count(row)

    def _count(self, row: _RowOfBlock) -> None:
        """Report a row as done, once; every report is also a sign of life."""
        self.progress(0 if row.is_counted else 1)
        row.is_counted = True


def _is_positive(model: EngineModel, read: ReadRow) -> bool:
    """Return whether the model decides for the positive class."""
    scorer = model.scorer.handing(read.row.kind)
    decisions = scorer.decide(read.row.whole(), by_predict=model.network is None)
    return bool(decisions.classes[0] == scorer.positive)


def _varying(seen: OneRow, again: Decisions) -> ButforError | None:
    """Return the error of a row to which the model gave two scores, if it did."""
    assert seen.decisions is not None
    return errors_of_varying(seen.scorer, seen.decisions, again).get(0)


def _by_kind(rows: Sequence[_RowOfBlock]) -> list[list[_RowOfBlock]]:
    """Return the rows apart by the kind of table in which the model gets them."""
    kinds: dict[RowKind | None, list[_RowOfBlock]] = {}
    for row in rows:
        kinds.setdefault(row.read.row.kind, []).append(row)
    return list(kinds.values())
