"""Many rows of a linear model: found by sorting, confirmed by the model, all together."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from butfor._engine.engine import Engine
from butfor._engine.one_row import is_confirmed
from butfor._engine.report import Report
from butfor._readers import RowReader
from butfor._readers.names import Names
from butfor.errors import ButforError
from butfor.models import BoolArray, Decisions, LinearRows, SortedRows, Table, sort_rows
from butfor.models.row_kind import RowKind
from butfor.results.explanation import Explanation
from butfor.searches import Auto


def is_linear(engine: Engine) -> bool:
    """Return whether sorting finds the answers: single features of a linear model, of equal cost."""
    reader, search = engine.settings.reader, engine.settings.search
    plain = isinstance(reader, RowReader) and reader.groups is None and reader.costs is None
    smallest = isinstance(search, Auto) and engine.model.scorer.target is None
    return plain and smallest and engine.model.linear is not None


def explain_linear(
    engine: Engine, table: Table, *, only_positive: bool = False
) -> dict[int, Explanation | None]:
    """Return the explanations that sorting finds, by the number of the row; None for a negative row.

    Left out are rows so close to the threshold that rounding matters, and rows on which the model contradicts
    its formula.
    """
    began = time.monotonic()
    if not table.n_rows:
        return {}
    X = table.csr
    try:
        kind = engine.model.kind_of(table)
        decisions = engine.model.scorer.handing(kind).decide(X, alone=True)
        wanted = np.ones(X.shape[0], dtype=bool)
        if only_positive:
            wanted = decisions.classes == engine.model.scorer.positive
        some = X if wanted.all() else X[wanted]
        answers = _LinearAnswers.of(engine, some, kind, decisions[wanted], table.names)
    except ButforError:
        return {}  # row by row it is seen on which row the model fails
    explained: dict[int, Explanation | None] = dict.fromkeys(np.flatnonzero(~wanted).tolist())
    if answers is not None:
        confirmed = answers.confirmed()
        seconds = (time.monotonic() - began) / len(confirmed)
        numbers = np.flatnonzero(wanted)[confirmed].tolist()
        explained.update(zip(numbers, answers.explanations(confirmed, seconds), strict=True))
    return explained


@dataclass(frozen=True, eq=False)
class _LinearAnswers:
    """What sorting found for some rows, and what the model says of that."""

    engine: Engine
    X: Any
    found: SortedRows
    decisions: Decisions
    """What the model decides on the rows."""
    decisions_without: Decisions
    """What it decides on them without the features of the answer."""
    names: Names

    @staticmethod
    def of(
        engine: Engine, X: Any, kind: RowKind, decisions: Decisions, names: tuple[str, ...] | None
    ) -> "_LinearAnswers | None":
        """Sort the features of the rows, and have the model decide on the rows without the answers."""
        model, reader = engine.model, cast(RowReader, engine.settings.reader)
        removable = np.ones(X.nnz, dtype=bool)
        if reader.protected:
            removable = ~np.isin(X.indices, list(reader.protected))
        scorer, linear = model.scorer.handing(kind), cast(LinearRows, model.linear)
        found = sort_rows(linear, X, kind, scorer.threshold, engine.settings.budget.max_size, removable)
        if found is None or not X.shape[0]:
            return None
        outputs, classes = decisions.outputs.copy(), decisions.classes.copy()
        answered = found.done & (found.sizes > 0)
        if answered.any():
            of_answers = scorer.decide(_without(X, found)[answered], alone=True)
            outputs[answered], classes[answered] = of_answers.outputs, of_answers.classes
        without = Decisions(outputs, classes)
        return _LinearAnswers(engine, X, found, decisions, without, reader.names_of(names))

    def confirmed(self) -> BoolArray:
        """Return which rows are sure of their answer, confirmed by the model."""
        found, model = self.found, self.engine.model
        confirmed = is_confirmed(
            as_seen=found.positive == (self.decisions.classes == model.scorer.positive),
            agrees=cast(LinearRows, model.linear).agrees(found.scores, self.decisions.outputs, found.errors),
            flipped=self.decisions.classes != self.decisions_without.classes,
            size=found.sizes,
        )
        return np.asarray(confirmed & found.done & (found.n_removable > 0))

    def explanations(self, which: BoolArray, seconds: float) -> Iterator[Explanation]:
        """Yield the explanations of these rows."""
        model, settings, found, X = self.engine.model, self.engine.settings, self.found, self.X
        linear, max_size = cast(LinearRows, model.linear), settings.budget.max_size
        report = Report(model, max_size, settings.search_name, linear.network.kind)
        positive, negative = model.scorer.positive, 1 - model.scorer.positive
        items, bounds = self.names.of(X.indices), X.indptr.tolist()
        # All answers in one array: numbers become Python's own once for the block, not row by row.
        chosen = found.order[found.in_answer]
        removed = X.indices[chosen]
        features, columns = self.names.of(removed), tuple(removed.tolist())
        places = tuple((chosen - np.repeat(X.indptr[:-1], found.sizes)).tolist())
        path = tuple(linear.reported(found.scores_without[found.in_answer]).tolist())
        scores, scores_without = self.decisions.outputs.tolist(), self.decisions_without.outputs.tolist()
        sizes, ends = found.sizes.tolist(), np.cumsum(found.sizes).tolist()
        n_removable, n_ranked = found.n_removable.tolist(), found.n_ranked.tolist()
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
                # As many as the search scores: every feature alone, then the ranking from the top.
                n_scored=n_removable[i] + (0 if size == 1 else n_ranked[i]),
                seconds=seconds,
                reason="",
                cost=size,
                path=(*path[end - size : end - 1], scores_without[i]) if size else (),
                items=items[bounds[i] : bounds[i + 1]],
                places=places[end - size : end],
            )


def _without(X: Any, found: SortedRows) -> Any:
    """Return the rows without the features of their answers."""
    stays = np.ones(X.nnz, dtype=bool)
    stays[found.order[found.in_answer]] = False
    rest = X.copy()
    rest.data, rest.indices = X.data[stays], X.indices[stays]
    rest.indptr = np.concatenate([[0], np.cumsum(stays)])[X.indptr].astype(X.indptr.dtype)
    return rest
