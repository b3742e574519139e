"""Many rows of a linear model, a network or a kernel machine: answered and confirmed all together."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

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
    KernelRows,
    LinearRows,
    NetworkRows,
    Table,
)
from butfor.models.row_kind import RowKind
from butfor.results.explanation import Explanation
from butfor.searches import Auto

Solver = LinearRows | NetworkRows | KernelRows
"""What answers many rows at once."""


def solver_of(engine: Engine) -> Solver | None:
    """Return what answers many rows at once, if there is such a way: for single features of equal cost."""
    reader, search = engine.settings.reader, engine.settings.search
    plain = isinstance(reader, RowReader) and reader.groups is None and reader.costs is None
    smallest = isinstance(search, Auto) and engine.model.scorer.target is None
    return engine.model.of_blocks if plain and smallest else None


def explain_solved(
    engine: Engine, table: Table, *, only_positive: bool = False
) -> dict[int, Explanation | ButforError | None]:
    """Return the explanations that are found at once, by the number of the row; None for a negative row.

    The first rows are scored once more: where the model gives them other scores, that is their error. Left
    out are rows so close to the threshold that rounding matters, rows that need more than one look, and rows
    on which the model contradicts its formula.
    """
    began = time.monotonic()
    if not table.n_rows:
        return {}
    X = table.csr
    try:
        kind = engine.model.kind_of(table)
        if not engine.model.is_trusted(kind):
            return {}  # the first rows hold its formula against the model, one by one
        decisions = engine.model.scorer.handing(kind).decide(X, alone=True)
        wanted = np.ones(X.shape[0], dtype=bool)
        if only_positive:
            wanted = decisions.classes == engine.model.scorer.positive
        some = X if wanted.all() else X[wanted]
        answers = _BlockAnswers.of(engine, some, kind, decisions[wanted], table.names)
    except ButforError:
        return {}  # row by row it is seen on which row the model fails
    explained: dict[int, Explanation | ButforError | None]
    explained = dict.fromkeys(np.flatnonzero(~wanted).tolist())
    if answers is not None:
        confirmed = answers.confirmed()
        seconds = (time.monotonic() - began) / len(confirmed)
        numbers = np.flatnonzero(wanted)[confirmed].tolist()
        explained.update(zip(numbers, answers.explanations(confirmed, seconds), strict=True))
        which = np.flatnonzero(wanted).tolist()
        explained.update({which[position]: error for position, error in answers.varying().items()})
    return explained


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
        engine: Engine, X: Any, kind: RowKind, decisions: Decisions, names: tuple[str, ...] | None
    ) -> "_BlockAnswers | None":
        """Find the answers of the rows, and have the model decide on the rows without them."""
        model, reader = engine.model, cast(RowReader, engine.settings.reader)
        removable = np.ones(X.nnz, dtype=bool)
        if reader.protected:
            removable = ~np.isin(X.indices, list(reader.protected))
        scorer, solver = model.scorer.handing(kind), solver_of(engine)
        if solver is None or not X.shape[0]:
            return None
        found = solver.answers(X, kind, scorer.threshold, engine.settings.budget.max_size, removable)
        if found is None:
            return None
        outputs, classes = decisions.outputs.copy(), decisions.classes.copy()
        answered = found.done & (found.sizes > 0)
        first = X[:ROWS_AGAIN]
        asked = scorer.decide(sparse.vstack([first, _without(X, found)[answered]], format="csr"), alone=True)
        again, of_answers = asked[: first.shape[0]], asked[first.shape[0] :]
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

    def explanations(self, which: BoolArray, seconds: float) -> Iterator[Explanation]:
        """Yield the explanations of these rows."""
        model, settings, found, X = self.engine.model, self.engine.settings, self.found, self.X
        network, max_size = self.solver.network, settings.budget.max_size
        report = Report(model, max_size, settings.search_name, network.kind)
        positive, negative = model.scorer.positive, 1 - model.scorer.positive
        items, bounds = self.names.of(X.indices), X.indptr.tolist()
        # All answers in one array: numbers become Python's own once for the block, not row by row.
        chosen = found.order[found.in_answer]
        removed = X.indices[chosen]
        features, columns = self.names.of(removed), tuple(removed.tolist())
        places = tuple((chosen - np.repeat(X.indptr[:-1], found.sizes)).tolist())
        path = tuple(network.link.value(found.scores_without[found.in_answer]).tolist())
        scores, scores_without = self.decisions.outputs.tolist(), self.decisions_without.outputs.tolist()
        sizes, ends = found.sizes.tolist(), np.cumsum(found.sizes).tolist()
        n_removable, n_scored = found.n_removable.tolist(), found.n_scored.tolist()
        for i in np.flatnonzero(which).tolist():
            size, end, n_active = sizes[i], ends[i], bounds[i + 1] - bounds[i]
            own, other = (positive, negative) if found.positive[i] else (negative, positive)
            yield report.explanation(
                classes=(own, other if size else own),
                status="found" if size else "none",
                features=features[end - size : end],
                columns=columns[end - size : end],
                weights=(),
                score=scores[i],
                score_without=scores_without[i],
                lower_bound=size or min(max_size, n_removable[i]) + 1,
                n_active=n_active,
                n_protected=n_active - n_removable[i],
                n_scored=n_scored[i],
                seconds=seconds,
                reason="",
                cost=size,
                path=(*path[end - size : end - 1], scores_without[i]) if size else (),
                items=items[bounds[i] : bounds[i + 1]],
                places=places[end - size : end],
            )


def _without(X: Any, found: AnsweredRows) -> Any:
    """Return the rows without the features of their answers."""
    stays = np.ones(X.nnz, dtype=bool)
    stays[found.order[found.in_answer]] = False
    rest = X.copy()
    rest.data, rest.indices = X.data[stays], X.indices[stays]
    rest.indptr = np.concatenate([[0], np.cumsum(stays)])[X.indptr].astype(X.indptr.dtype)
    return rest
