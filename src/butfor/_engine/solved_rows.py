"""Many rows of a linear model, a network or a kernel machine: answered and confirmed all together."""

import time
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from butfor._engine.engine import Engine
from butfor._engine.one_row import is_confirmed
from butfor._engine.report import Report
from butfor._engine.steadiness import ROWS_AGAIN, errors_of_varying, is_same
from butfor._readers import RowReader
from butfor._readers.names import Names
from butfor.errors import ButforError, VaryingScoresError
from butfor.models import (
    AnsweredRows,
    BoolArray,
    Decisions,
    FloatArray,
    IntArray,
    KernelRows,
    LinearRows,
    NetworkRows,
    Table,
)
from butfor.models.row_kind import RowKind
from butfor.results.columns import Coded, Columns, Listed, Lists
from butfor.results.outcomes import Outcome
from butfor.searches import Auto

Solver = LinearRows | NetworkRows | KernelRows
"""What answers many rows at once."""
FOUND_OR_NONE = Listed(("found", "none"))


def solver_of(engine: Engine) -> Solver | None:
    """Return what answers many rows at once, if there is such a way: for single features of equal cost."""
    reader, search = engine.settings.reader, engine.settings.search
    plain = isinstance(reader, RowReader) and reader.groups is None and reader.costs is None
    smallest = isinstance(search, Auto) and engine.model.scorer.target is None
    return engine.model.of_blocks if plain and smallest else None


@dataclass(frozen=True, eq=False)
class SolvedRows:
    """What came of the rows that were answered at once; other rows have yet to be explained."""

    numbers: IntArray
    """The rows that are explained, in ascending order."""
    columns: Columns
    """Their explanations."""
    others: dict[int, Outcome] = field(default_factory=dict)
    """Errors of rows by their numbers, and None for rows that are left out."""

    def open(self, n_rows: int) -> list[int]:
        """Return the numbers of the rows that have yet to be explained."""
        is_open = np.ones(n_rows, dtype=bool)
        is_open[self.numbers] = False
        is_open[list(self.others)] = False
        return np.flatnonzero(is_open).tolist()


NOTHING_SOLVED = SolvedRows(np.zeros(0, dtype=np.intp), Columns.of([]))


def explain_solved(engine: Engine, table: Table, *, only_positive: bool = False) -> SolvedRows:
    """Return the explanations that are found at once.

    The first rows are scored once more: where the model gives them other scores, that is their error. Left
    open are rows so close to the threshold that rounding matters, rows that need more than one look, and rows
    on which the model contradicts its formula.
    """
    began, solver = time.monotonic(), solver_of(engine)
    if not table.n_rows or solver is None:
        return NOTHING_SOLVED
    X = table.csr
    try:
        kind = engine.model.kind_of(table)
        if not engine.model.is_trusted(kind):
            return NOTHING_SOLVED  # the first rows hold its formula against the model, one by one
        decisions = engine.model.scorer.handing(kind).decide(X, alone=True)
        wanted = np.ones(X.shape[0], dtype=bool)
        if only_positive:
            wanted = decisions.classes == engine.model.scorer.positive
        some = X if wanted.all() else X[wanted]
        answers = _BlockAnswers.of(engine, solver, some, kind, decisions[wanted], table.names)
    except ButforError:
        return NOTHING_SOLVED  # row by row it is seen on which row the model fails
    others: dict[int, Outcome] = dict.fromkeys(np.flatnonzero(~wanted).tolist())
    if answers is None:
        return replace(NOTHING_SOLVED, others=others)
    numbers, confirmed, varying = np.flatnonzero(wanted), answers.confirmed(), answers.varying()
    confirmed[list(varying)] = False
    others |= {int(numbers[position]): error for position, error in varying.items()}
    seconds = (time.monotonic() - began) / len(numbers)
    return SolvedRows(numbers[confirmed], answers.columns(confirmed, seconds), others)


@dataclass(frozen=True, eq=False)
class _BlockAnswers:
    """What was found for some rows, and what the model says of that."""

    engine: Engine
    X: Any
    solver: Solver
    found: AnsweredRows
    decisions: Decisions
    """What the model decides on the rows."""
    decisions_without: Decisions
    """What it decides on them without the features of the answer."""
    decisions_again: Decisions
    """What it decides on the first rows, asked once more."""
    names: Names

    @staticmethod
    def of(
        engine: Engine,
        solver: Solver,
        X: Any,
        kind: RowKind,
        decisions: Decisions,
        names: tuple[str, ...] | None,
    ) -> "_BlockAnswers | None":
        """Find the answers of the rows, and have the model decide on the rows without them."""
        if not X.shape[0]:
            return None
        model, reader = engine.model, cast(RowReader, engine.settings.reader)
        removable = np.ones(X.nnz, dtype=bool)
        if reader.protected:
            removable = ~np.isin(X.indices, list(reader.protected))
        scorer = model.scorer.handing(kind)
        found = solver.answers(X, kind, scorer.threshold, engine.settings.budget.max_size, removable)
        if found is None:
            return None
        outputs, classes = decisions.outputs.copy(), decisions.classes.copy()
        answered = found.done & (found.sizes > 0)
        n_first = min(ROWS_AGAIN, X.shape[0])
        asked = scorer.decide(_first_and_answered(X, found, answered, n_first), alone=True)
        again, of_answers = asked[:n_first], asked[n_first:]
        outputs[answered], classes[answered] = of_answers.outputs, of_answers.classes
        without = Decisions(outputs, classes)
        return _BlockAnswers(engine, X, solver, found, decisions, without, again, reader.names_of(names))

    def varying(self) -> dict[int, VaryingScoresError]:
        """Return an error for each of the first rows to which the model gave two scores."""
        again = self.decisions_again
        return errors_of_varying(self.engine.model.scorer, self.decisions[: len(again)], again)

    def confirmed(self) -> BoolArray:
        """Return which rows are sure of their answer, confirmed by the model."""
        found, model = self.found, self.engine.model
        confirmed = is_confirmed(
            as_seen=found.positive == (self.decisions.classes == model.scorer.positive),
            agrees=self.solver.network.agrees(found.scores, self.decisions.outputs, found.errors)
            & (is_same(self._by_formula(), self.decisions_without.outputs) | (found.sizes == 0)),
            flipped=self.decisions.classes != self.decisions_without.classes,
            size=found.sizes,
        )
        return np.asarray(confirmed & found.done & (found.n_removable > 0))

    def _by_formula(self) -> FloatArray:
        """Return the scores of the rows without their answers, as the formula has them."""
        found = self.found
        last = np.take_along_axis(found.scores_without, np.maximum(found.sizes - 1, 0)[:, np.newaxis], axis=1)
        return self.solver.network.link.value(last[:, 0])

    def columns(self, which: BoolArray, seconds: float) -> Columns:
        """Return the explanations of these rows."""
        model, settings, X, names = self.engine.model, self.engine.settings, self.X, self.names
        network, max_size = self.solver.network, settings.budget.max_size
        found, decided, decided_without = (
            self.found[which],
            self.decisions[which],
            self.decisions_without[which],
        )
        sizes, starts, n_active = found.sizes, X.indptr[:-1][which], np.diff(X.indptr)[which]
        has_answer, ends = sizes > 0, np.cumsum(sizes)
        chosen, path = found.order[found.in_answer], network.link.value(found.scores_without[found.in_answer])
        path[ends[has_answer] - 1] = decided_without.outputs[has_answer]
        removed = X.indices[chosen]

        def of_answers(values: Coded | npt.NDArray[Any]) -> Lists:
            return Lists(values, ends - sizes, ends)

        return Report(model, max_size, settings.search_name, network.kind).columns(
            classes=(decided.classes, decided_without.classes),
            same={"weights": (), "seconds": seconds, "reason": ""},
            status=Coded(1 - has_answer, FOUND_OR_NONE),
            features=of_answers(Coded(removed, names)),
            columns=of_answers(removed),
            score=decided.outputs,
            score_without=decided_without.outputs,
            lower_bound=np.where(has_answer, sizes, np.minimum(found.n_removable, min(max_size, X.nnz)) + 1),
            n_active=n_active,
            n_protected=n_active - found.n_removable,
            n_scored=found.n_scored,
            cost=sizes,
            path=of_answers(path),
            items=Lists(Coded(X.indices, names), starts, starts + n_active),
            places=of_answers(chosen - np.repeat(starts, sizes)),
        )


def _first_and_answered(X: Any, found: AnsweredRows, answered: BoolArray, n_first: int) -> Any:
    """Return the first rows as they are, and below them the answered rows without their answers."""
    lengths = np.diff(X.indptr)
    stays = np.repeat(answered, lengths)
    stays[found.order[found.in_answer]] = False
    entries = np.concatenate([np.arange(X.indptr[n_first]), np.flatnonzero(stays)])
    lengths = np.concatenate([lengths[:n_first], (lengths - found.sizes)[answered]])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(X.indptr.dtype)
    return type(X)((X.data[entries], X.indices[entries], indptr), shape=(len(lengths), X.shape[1]))
