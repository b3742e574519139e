"""How a row is asked about: the model seen from it, the search, the model's verdict, the explanation."""

import math
import time
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.budget import Budget
from butfor.case import Case, Verdict, check_finding
from butfor.errors import InputError
from butfor.explanation import Explanation, Status
from butfor.models import (
    FloatArray,
    LinearRows,
    LocalModel,
    Network,
    OutOfTime,
    Scorer,
    local_model,
    recognise,
)
from butfor.searches import Finding, Search, cost_of, swaps
from butfor.subjects import Reader, Subject

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

    def case(
        self,
        subject: Subject,
        deadline: float,
        *,
        by_formula: bool = True,
        outputs: FloatArray | None = None,
    ) -> Case:
        """See the model from this row; `outputs` is what the model said of it, if it was asked."""
        scorer, row_score = self.scorer.at(subject.row, outputs)
        local = local_model(scorer, self.network if by_formula else None, subject.row, row_score)
        local.deadline = deadline
        local.costs = subject.costs
        return Case(subject, scorer, local, self.text_scorer)

    def trusted(self, subject: Subject, deadline: float) -> Case:
        """See the model from this row, held against what the model itself says of it."""
        case = self.case(subject, deadline)
        (score,) = case.verdict(()).scores
        if not case.local.agrees(score):
            case = self.case(subject, deadline, by_formula=False)
        case.local.row_score = score
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
