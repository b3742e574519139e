"""How a row is asked about: the model seen from it, the search, the model's verdict, the explanation."""

import math
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.budget import Budget
from butfor.case import Case, Verdict, check_finding
from butfor.errors import InputError, ModelError
from butfor.explanation import Explanation, Status
from butfor.models import (
    Door,
    LinearRows,
    LocalModel,
    Network,
    OutOfTime,
    Row,
    Said,
    Scorer,
    Table,
    TextRow,
    closed,
    local_model,
    recognise,
    row_at,
)
from butfor.models.row_kind import RowKind
from butfor.searches import Finding, Search, cost_of, swaps
from butfor.subjects import Reader, Rows, Subject, one_text

MAX_SWAPS = 64
"""How many equally small sets of words are tried in the text where the first does not survive deletion."""


@dataclass(eq=False)
class Inquiry:
    """Everything that an Explainer was told, and how one row is explained by it."""

    scorer: Scorer
    text_scorer: Scorer | None
    reader: Reader
    class_names: tuple[str, ...]
    search: Search
    search_name: str
    budget: Budget
    seed: int
    door: Door = field(default_factory=Door)
    """In which form the model gets rows; copies share it."""

    def read(self, given: Any) -> Subject:
        """Read one row, or text, in the form in which the model decides on the user's own."""
        return self.admitted(self.reader.read(given))

    def admitted(self, subject: Subject) -> Subject:
        """Return a row or text that was read, in the form in which the model gets it."""
        if isinstance(subject.row, TextRow):
            self._close(None, subject.row.whole)
            return subject
        row, said = self._admitted_row(subject.row)
        if subject.text is not None and said is not None:
            self._require_same_decision(subject.text, said)
        return subject if row is subject.row and said is None else replace(subject, row=row, said=said)

    def kind_of(self, table: Table) -> RowKind:
        """Return the kind of table in which the model gets these rows, by the first of them."""
        return self._admitted_row(row_at(table, 0))[0].kind if table.n_rows else table.kind

    def asked_about(self, rows: Any) -> tuple[Scorer, Any]:
        """Return who scores rows of a matrix, or texts, and what it is handed."""
        if isinstance(self.reader, Rows):
            table = self.reader.table(rows)
            kind = self.kind_of(table)  # at the first row the scorer may change
            return self.scorer.handing(kind), table.csr
        texts = [one_text(text) for text in rows]
        if texts:
            self._close(None, lambda: texts[:1])
        return self.text_scorer or self.scorer, texts

    def _admitted_row(self, row: Row) -> tuple[Row, Said | None]:
        self._close(row.kind, row.whole)
        return self.door.admit(self.scorer, row)

    def _require_same_decision(self, text: str, said: Said) -> None:
        """Raise unless the whole pipeline decides on a text as its later steps do on the text's row."""
        assert self.text_scorer is not None
        whole = self.text_scorer.said([text], by_predict=True)
        if whole.classes[0] != said.classes[0]:
            raise ModelError(
                "the steps of the model, run one by one, contradict its predict: the score of the text is "
                f"{whole.shown()} by the whole model and {said.shown()} by its steps. Pass "
                'removal="delete", for which the model reads the text itself.'
            )

    def _close(self, kind: RowKind | None, first: Callable[[], Any]) -> None:
        """Find out, at the first row, how many classes a function scores."""
        if not self.scorer.is_open:
            return
        self.scorer = closed(self.scorer.handing(kind), first())
        if self.text_scorer is not None:
            self.text_scorer = self.scorer
        self.class_names = self.class_names or tuple(map(str, self.scorer.classes))

    def require_positive_class(self) -> None:
        """Raise where `only_positive` has no meaning."""
        if self.scorer.has_many_classes:
            raise InputError(
                "only_positive must not be set for a model of more than two classes, none of which is "
                "positive."
            )

    def explain(self, subject: Subject, started: float) -> Explanation:
        """Search, and have the model itself confirm what was found on the real row.

        The time since `started` is the row's own.
        """
        case = self.case(subject, started + self.budget.max_seconds)
        finding = self.find(case)
        verdict = case.verdict(finding.removed)
        if not case.confirms(verdict, finding) and case.local.kind != "black box":
            # The model does not act on its own formula: ask it instead.
            case = self.case(subject, case.local.deadline, by_formula=False)
            finding = self.find(case)
            verdict = case.verdict(finding.removed)
        if not case.confirms(verdict, finding):
            finding, verdict = Finding(reason=_NOT_CONFIRMED), verdict.of_row()
        return self.explanation(case, finding, verdict, time.monotonic() - started)

    def is_positive(self, subject: Subject) -> bool:
        """Return whether the model decides for the positive class."""
        said = self.scorer.handing(subject.kind).said(subject.row.whole(), by_predict=self.network is None)
        return bool(said.classes[0] == self.scorer.positive)

    def case(
        self, subject: Subject, deadline: float, *, by_formula: bool = True, said: Said | None = None
    ) -> Case:
        """See the model from this row; `said` is what the model said of it, if it was asked."""
        network = self.network if by_formula else None
        said = subject.said if said is None else said
        if network is None and said is None:
            said = self.scorer.handing(subject.kind).said(subject.row.whole(), by_predict=True)
        if said is not None:
            self.scorer.require_consistency(said)
        scorer, said = self.scorer.at(subject.row, said)
        row_score = None if said is None else float(scorer.turned(said)[0])
        seconds = 0.0 if said is None else said.seconds_a_row
        local = local_model(scorer, network, subject.row, row_score, seconds)
        local.deadline = deadline
        local.costs = subject.costs
        return Case(subject, scorer, local, said, self.text_scorer)

    def trusted(self, subject: Subject, deadline: float) -> Case:
        """See the model from this row, held against what the model itself says of it."""
        case = self.case(subject, deadline)
        if not case.confirms(case.verdict(()), Finding()):
            case = self.case(subject, deadline, by_formula=False)
        return case

    def recognised(self) -> "Inquiry":
        """Give a copy that can be told something else, and need not look into the model again."""
        self.network  # noqa: B018 - it is kept, and copied
        return copy(self)

    @cached_property
    def network(self) -> Network | None:
        """The model's formula, if it was recognised."""
        return None if self.reader.reads_again else recognise(self.scorer)

    @cached_property
    def linear(self) -> LinearRows | None:
        """The model as one sum of terms, if it is one."""
        return LinearRows.of(self.network)

    def find(self, case: Case) -> Finding:
        """Run the search to its end, or to the deadline."""
        local = case.local
        best = Finding(reason="the search ended without a finding")
        if local.n_features == 0 or case.is_at_target:
            return best
        try:
            for finding in self.search(local, self.budget, self.seed):
                check_finding(finding, local)
                best = finding
            best = _surviving(case, best)
        except OutOfTime:
            best = replace(best, reason=f"max_seconds={self.budget.max_seconds:g} reached")
        return best

    def unproven(self, case: Case, removed: tuple[int, ...], *, needed: int = 1) -> Finding:
        """Take a set as it is: all that is known is that so many features are needed."""
        least = 0.0 if case.local.costs is None else float(case.local.costs.min())
        return Finding(removed, lower_bound=needed, cost_bound=least)

    def explanation(self, case: Case, finding: Finding, verdict: Verdict, seconds: float) -> Explanation:
        """Put together what is known of a row."""
        subject, local, removed = case.subject, case.local, finding.removed
        status = "none" if case.is_at_target else self._status(finding, local)
        n_scored = local.n_scored  # the path below is no part of the search
        return Explanation(
            status=status,
            features=tuple(map(subject.name, removed)),
            columns=subject.columns(removed),
            weights=finding.weights,
            score=verdict.scores[0],
            score_without=verdict.scores[-1],
            threshold=self.scorer.threshold,
            lower_bound=_lower_bound(finding, local, self.budget.max_size),
            n_active=len(subject.items),
            n_protected=len(subject.items) - len(subject.removable),
            max_size=self.budget.max_size,
            n_scored=n_scored,
            seconds=seconds,
            search=self.search_name,
            local_model=local.kind,
            reason="" if status == "none" else finding.reason,
            cost=cost_of(local, removed),
            costs=local.costs is not None,
            path=case.path(removed, verdict),
            items=subject.items,
            places=tuple(subject.removable[list(removed)].tolist()),
            decision=self.class_name(verdict.classes[0]),
            decision_without=self.class_name(verdict.classes[-1]),
            target="" if self.scorer.target is None else self.class_name(self.scorer.target),
            n_classes=max(2, len(self.class_names)),
            unit=subject.unit,
            removal=subject.removal,
            text=subject.text,
            spans=tuple(subject.spans[unit] for unit in removed) if subject.spans else (),
            survives_deletion=case.survives(removed),
        )

    def class_name(self, index: int) -> str:
        """Give the name of a class; nothing where none is known."""
        return self.class_names[index] if self.class_names else ""

    def _status(self, finding: Finding, local: LocalModel) -> Status:
        if finding.removed:
            return "found"
        # A status is not claimed but follows from what is proven.
        if local.costs is not None:
            return "none" if finding.cost_bound == math.inf else "budget"
        return "none" if finding.lower_bound > self.budget.largest(local.n_features) else "budget"


def _surviving(case: Case, best: Finding) -> Finding:
    """Where a text without the words does not flip, look for an equally small set with which it does."""
    if case.survives(best.removed) is not False:
        return best
    others = swaps(case.local, best.removed, at_most=MAX_SWAPS)
    for removed, survived in zip(others, case.survived(others), strict=True):
        if survived:
            return replace(best, removed=removed, weights=())
    return best


_NOT_CONFIRMED = "the model did not confirm the set on the single row: it scores the same row differently"


def _lower_bound(finding: Finding, local: LocalModel, max_size: int) -> float:
    """Give what an answer costs at least, of whatever size: sets beyond the limit may be cheaper."""
    if local.costs is None:
        return finding.lower_bound
    if local.n_features <= max_size:
        return min(finding.cost_bound, float(local.costs.sum()))
    return min(finding.cost_bound, float(np.sort(local.costs)[: max_size + 1].sum()))
