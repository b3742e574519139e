"""Many rows at a time: what can be done for all together is done so, and what goes wrong is one row's."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arguments import each_row
from butfor.case import Case
from butfor.errors import ButforError, InputError, ModelError, abridged
from butfor.explanation import Explanation
from butfor.inquiry import Inquiry
from butfor.linear_rows import explain_linear, is_linear
from butfor.models import Said, row_at
from butfor.models.row_kind import RowKind
from butfor.searches import Finding
from butfor.subjects import Rows, Subject, together

Outcome = Explanation | ButforError | None
"""An explanation, or what is wrong with the row; None: only positive rows were asked for, and it is not."""
Progress = Callable[[int], None]
"""Is told how many more rows are done."""

ROWS_AT_ONCE = 64
"""Rows that the model is asked about in one call."""
LINEAR_ROWS_AT_ONCE = 5_000


def explain_block(inquiry: Inquiry, rows: Any, only_positive: bool, progress: Progress) -> list[Outcome]:
    """Explain rows of a matrix, or texts; give an outcome for each, in their order."""
    piece = _Piece(inquiry, only_positive, progress)
    outcomes: list[Outcome] = []
    for some in in_pieces(inquiry.reader.many(rows), rows_at_once(inquiry)):
        explained = piece.explained(some)
        outcomes += [explained[number] for number in range(len(explained))]
    return outcomes


def rows_at_once(inquiry: Inquiry) -> int:
    """Tell how many rows make a good piece."""
    return LINEAR_ROWS_AT_ONCE if is_linear(inquiry) else ROWS_AT_ONCE


def in_pieces(rows: Any, n_rows: int) -> Iterator[Any]:
    """Cut a matrix, a data frame or a list into pieces of so many rows.

    >>> list(in_pieces(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
    places = rows.iloc if hasattr(rows, "iloc") else rows
    total = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    yield from (places[start : start + n_rows] for start in range(0, total, n_rows))


@dataclass(eq=False)
class _Asked:
    """A row that can be read."""

    number: int
    subject: Subject
    seconds: float
    """Its own time so far."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """Rows that are explained together; outcomes go by the number of the row."""

    inquiry: Inquiry
    only_positive: bool
    progress: Progress

    def explained(self, rows: Any) -> dict[int, Outcome]:
        """Explain them all."""
        reader = self.inquiry.reader
        if not isinstance(reader, Rows) or not hasattr(rows, "shape"):
            return self._together(list(enumerate(rows)))
        try:
            table = reader.table(rows)
        except InputError:
            return self._but_for_bad_ones(rows, reader)
        settled: dict[int, Outcome] = {}
        if is_linear(self.inquiry):
            settled |= explain_linear(self.inquiry, table, only_positive=self.only_positive)
            self.progress(len(settled))
        rest = [(number, row_at(table, number)) for number in range(table.n_rows) if number not in settled]
        return settled | self._together(rest)

    def _but_for_bad_ones(self, rows: Any, reader: Rows) -> dict[int, Outcome]:
        """Find out which rows cannot be read, and explain the others."""
        given = list(enumerate(each_row(rows)))
        bad: dict[int, Outcome] = {}
        for number, row in given:
            try:
                reader.table(row)
            except InputError as error:
                bad[number] = error
                self.progress(1)
        good = [number for number, _ in given if number not in bad]
        if not bad or not good:
            return bad or self._together(given)
        explained = self.explained((rows.iloc if hasattr(rows, "iloc") else rows)[good])
        return bad | {good[i]: outcome for i, outcome in explained.items()}

    def _together(self, given: Sequence[tuple[int, Any]]) -> dict[int, Outcome]:
        """Explain rows that the model is asked about together, as many as one call should carry."""
        outcomes: dict[int, Outcome] = {}
        for some in in_pieces(given, ROWS_AT_ONCE):
            asked = []
            for number, row in some:
                began = time.monotonic()
                try:
                    subject = self.inquiry.read(row)
                    asked.append(_Asked(number, subject, time.monotonic() - began))
                except Exception as error:
                    outcomes[number] = _failure(error)
                    self.progress(1)
            for alike in _by_kind(asked):
                try:
                    outcomes |= self._in_two_calls(alike)
                except ModelError:  # on one of the rows; alone it is seen on which
                    outcomes |= {each.number: self._alone(each) for each in alike}
        return outcomes

    def _in_two_calls(self, asked: Sequence[_Asked]) -> dict[int, Outcome]:
        """Search row by row, after one call of the model for all rows, and before one for all answers."""
        outcomes: dict[int, Outcome] = {}
        searched: list[tuple[_Asked, Case, Finding]] = []
        for each, said in zip(asked, self._said(asked, [[()]] * len(asked)), strict=True):
            self.progress(1)
            if self.only_positive and said.classes[0] != self.inquiry.scorer.positive:
                outcomes[each.number] = None
                continue
            try:
                searched.append((each, *self._searched(each, said)))
            except Exception as error:
                outcomes[each.number] = _failure(error)
        sets = [case.in_question(finding.removed) for _, case, finding in searched]
        said_of = self._said([each for each, _, _ in searched], sets)
        for (each, case, finding), said in zip(searched, said_of, strict=True):
            outcomes[each.number] = self._confirmed(each, case, finding, said)
        return outcomes

    def _said(self, asked: Sequence[_Asked], sets: Sequence[list[tuple[int, ...]]]) -> list[Said]:
        """Have the model score each row without each of its sets, all in one call."""
        ends = np.cumsum([len(some) for some in sets]).tolist()
        if not ends or not ends[-1]:
            return [Said(np.zeros(0), np.zeros(0, dtype=np.intp))] * len(asked)
        began = time.monotonic()
        subjects = [each.subject for each in asked]
        scorer = self.inquiry.scorer.handing(subjects[0].kind)
        rows = together(list(zip(subjects, sets, strict=True)))
        said = scorer.said(rows, by_predict=self.inquiry.network is None, alone=True)
        share = (time.monotonic() - began) / ends[-1]
        for each, some in zip(asked, sets, strict=True):
            each.seconds += share * len(some)
        return [said[end - len(some) : end] for end, some in zip(ends, sets, strict=True)]

    def _searched(self, asked: _Asked, said: Said) -> tuple[Case, Finding]:
        began = time.monotonic()
        deadline = began - asked.seconds + self.inquiry.budget.max_seconds
        case = self.inquiry.case(asked.subject, deadline, said=said)
        finding = self.inquiry.find(case)
        asked.seconds += time.monotonic() - began
        return case, finding

    def _confirmed(self, asked: _Asked, case: Case, finding: Finding, said: Said) -> Outcome:
        verdict = case.verdict_by(said)
        if not case.confirms(verdict, finding):
            return self._alone(asked)
        try:
            return self.inquiry.explanation(case, finding, verdict, asked.seconds)
        except Exception as error:
            return _failure(error)

    def _alone(self, asked: _Asked) -> Outcome:
        """Explain a row by itself."""
        try:
            if self.only_positive and not self.inquiry.is_positive(asked.subject):
                return None
            return self.inquiry.explain(asked.subject, time.monotonic())
        except Exception as error:
            return _failure(error)
        finally:
            self.progress(0)


def _by_kind(asked: Sequence[_Asked]) -> list[list[_Asked]]:
    """Return the rows apart by the kind of table in which the model gets them."""
    kinds: dict[RowKind | None, list[_Asked]] = {}
    for each in asked:
        kinds.setdefault(each.subject.kind, []).append(each)
    return list(kinds.values())


def _failure(error: Exception) -> ButforError:
    """Give what is said of a row that could not be explained, whatever was raised."""
    if isinstance(error, ButforError):
        return error
    return ModelError(f"explaining the row raised {type(error).__name__}: {abridged(str(error))}")
