"""The path of one row: localise → search → confirm → report."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor._engine.engine import Engine
from butfor._engine.model import EngineModel
from butfor._engine.report import Report, lower_bound_of, status_of
from butfor._engine.settings import Settings
from butfor._engine.steadiness import (
    ROUNDING,
    VARIES,
    is_same,
    require_same_decision,
    require_same_score,
    without_proof,
)
from butfor._readers import ReadRow
from butfor.models import Decisions, LocalModel, OutOfBudget, Scorer, local_model, removal_sets
from butfor.results.explanation import Explanation
from butfor.searches import Finding, check_finding, cost_of, swaps

MAX_SWAPS = 64
"""How many equally small sets of words are tried in the text where the first does not survive deletion."""
WITHIN_NOISE = "the score of the row is no further from the threshold than scores of the same row differ"
NOT_CONFIRMED = "the model did not confirm the set on the single row: it scores the same row differently"


@dataclass(frozen=True, eq=False)
class Candidate:
    """What a search, or a person, found for a row; the model has yet to confirm it."""

    finding: Finding
    search: str
    """The name of the search."""
    survives: bool | None = None
    """Whether the text without the words flips, too; None where that has no meaning."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the model itself says of the row, and of the row without some units."""

    scores: tuple[float, ...]
    """The score of the row, then without the first units, then without all of them.

    Those on the way are known of a black box that scored them, and by the formula of a set that flips.
    """
    classes: tuple[int, ...]
    by_formula: float | None = None
    """The score without all units by the formula, if there is one and the decision flips."""
    is_steady: bool = True
    """Whether what it scored twice had the same score, but for rounding."""

    @property
    def of_row(self) -> "Verdict":
        """What it says of the row alone."""
        return Verdict(self.scores[:1], self.classes[:1], is_steady=self.is_steady)


def explain_row(engine: Engine, read: ReadRow, seconds: float) -> Explanation:
    """Explain one row that was read, on which some seconds were spent so far."""
    settings = engine.settings
    engine.model.get_ready()
    started = time.monotonic() - seconds
    deadline = started + settings.budget.max_seconds
    row = localise(engine, read, deadline)
    answer = row.search(settings)
    verdict = row.verdict(answer.finding.removed)
    confirmed = row.confirms(verdict, answer.finding.removed)
    if not (confirmed or row.is_black_box):
        # The model does not act on its own formula: ask it instead.
        row = localise(engine, read, deadline, by_formula=False)
        answer = row.search(settings)
        verdict = row.verdict(answer.finding.removed)
        confirmed = row.confirms(verdict, answer.finding.removed)
    if not confirmed:
        answer, verdict = row.unconfirmed(answer), verdict.of_row
    return row.report(answer, verdict, settings, time.monotonic() - started)


def trusted(engine: Engine, read: ReadRow, deadline: float) -> "OneRow":
    """Return the model as it is seen from a row; by its formula only if the model confirms its score."""
    row = localise(engine, read, deadline)
    if row.is_black_box or row.confirmed(()) is not None:
        return row
    return localise(engine, read, deadline, by_formula=False)


def localise(
    engine: Engine,
    read: ReadRow,
    deadline: float,
    *,
    by_formula: bool = True,
    decisions: Decisions | None = None,
) -> "OneRow":
    """Return the model as it is seen from a row; `decisions` is what it decided on the row, if known."""
    model = engine.model
    network = model.formula_at(read.row) if by_formula else None
    decisions = read.decisions if decisions is None else decisions
    scorer = model.scorer.handing(read.row.kind)
    if decisions is None and (network is None or scorer.has_many_classes):
        decisions = scorer.decide(read.row.whole(), by_predict=network is None)
    if decisions is not None:
        scorer.require_consistency(decisions)
        scorer = scorer.at(decisions)
    local = local_model(
        scorer,
        network,
        read.row,
        row_score=None if decisions is None else float(scorer.turned(decisions)[0]),
        seconds=0.0 if decisions is None else decisions.seconds_a_row,
        deadline=deadline,
        costs=read.costs,
        max_scorings=engine.settings.budget.max_scorings,
    )
    local.tolerance = engine.settings.tolerance
    if scorer.margin is not None:
        own_class = scorer.margin.own
    else:
        own_class = scorer.positive if local.positive else 1 - scorer.positive
    return OneRow(read, model, scorer, local, own_class, decisions)


@dataclass(frozen=True, eq=False)
class OneRow:
    """A row that was read, and the model as it is seen from it."""

    read: ReadRow
    model: EngineModel
    scorer: Scorer
    """Scores this row: in its form, and with many classes for its own class."""
    local: LocalModel
    own_class: int
    """The index of the class that the model decides for."""
    decisions: Decisions | None = None
    """What the model decided on the row, if it was asked."""

    @property
    def is_black_box(self) -> bool:
        """Whether nothing is known of the model but what it says: then its own `predict` is asked, too."""
        return self.local.kind == "black box"

    @property
    def is_at_target(self) -> bool:
        """Whether the model decides already for the class that is asked for."""
        return self.scorer.target is not None and self.scorer.target == self.own_class

    def search(self, settings: Settings) -> Candidate:
        """Run the search to its end, or to the deadline."""
        best, survives = Finding(reason="the search ended without a finding"), None
        if self.local.n_features == 0 or self.is_at_target:
            return Candidate(best, settings.search_name)
        if self.local.tolerance and self.local.score - self.local.threshold <= self.local.tolerance:
            return Candidate(Finding(reason=WITHIN_NOISE), settings.search_name)
        try:
            for finding in settings.search(self.local, settings.budget, settings.seed):
                check_finding(finding, self.local)
                best = finding
            survives = self.survives(best.removed)
            if survives is False:
                best, survives = self._surviving(best)
        except OutOfBudget as over:
            best = replace(best, reason=settings.budget.reached(over.limit))
            survives = self.survives(best.removed) if survives is None else survives
        if self.local.tolerance:
            best = replace(best, lower_bound=1, cost_bound=0.0, reason=best.reason or VARIES)
        return Candidate(best, settings.search_name, survives)

    def unproven(self, removed: tuple[int, ...], search: str, *, needed: int = 1) -> Candidate:
        """Return a removal set as an answer of which is known only that at least `needed` units must go."""
        least = 0.0 if self.local.costs is None else float(self.local.costs.min())
        finding = Finding(removed, lower_bound=needed, cost_bound=least)
        return Candidate(finding, search, self.survives(removed))

    def unconfirmed(self, answer: Candidate) -> Candidate:
        """Return that nothing was found, in place of an answer that the model did not confirm."""
        return Candidate(Finding(reason=NOT_CONFIRMED), answer.search)

    def confirmed(self, removed: tuple[int, ...]) -> Verdict | None:
        """Return the model's own verdict on a removal set; None where that does not confirm it."""
        verdict = self.verdict(removed)
        return verdict if self.confirms(verdict, removed) else None

    def verdict(self, removed: tuple[int, ...]) -> Verdict:
        """Have the model itself score the real row, unless it did, and the row without these units."""
        sets, by_predict = self.sets_in_question(removed), self.is_black_box
        if not sets:
            return self.verdict_by(removed, None)
        rows = self.read.row.without(removal_sets(sets, self.local.n_features))
        return self.verdict_by(removed, self.scorer.decide(rows, by_predict=by_predict, alone=True))

    def sets_in_question(self, removed: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the removal sets that the model must be asked about.

        A black box is asked about the row once more, and about the sets on the way to the answer that it has
        not scored, if the budget allows that.
        """
        whole = [()] if self.decisions is None or self.is_black_box else []
        return [*whole, *self._new_on_the_way(removed), *([removed] if removed else [])]

    def _new_on_the_way(self, removed: tuple[int, ...]) -> list[tuple[int, ...]]:
        new = [units for units, score in self._on_the_way(removed) if score is None]
        return new if len(new) <= self.local.scorings_left else []

    def _on_the_way(self, removed: tuple[int, ...]) -> list[tuple[tuple[int, ...], float | None]]:
        """Return the sets on the way to an answer of a black box, with their scores if they are known."""
        if not self.is_black_box or len(removed) < 2:
            return []
        sets = [removed[:size] for size in range(1, len(removed))]
        known = self.local.remembered(removal_sets(sets, self.local.n_features))
        return list(zip(sets, known, strict=True))

    def verdict_by(self, removed: tuple[int, ...], decisions: Decisions | None) -> Verdict:
        """Return what the model decided on the row and, in `decisions`, on the sets in question."""
        scores: list[float] = []
        classes: list[int] = []
        for some in (self.decisions, decisions):
            if some is not None and some.classes.size:
                margin = self.scorer.margin
                scores += (some.outputs if margin is None else margin.of(some.outputs)).tolist()
                classes += some.classes.tolist()
        if self.is_black_box:
            return self._verdict_of_black_box(removed, scores, classes)
        if not (removed and self.has_flipped(classes[-1])):
            return Verdict(tuple(scores), tuple(classes))
        *way, by_formula = self.local.path(removed).tolist()
        return Verdict((scores[0], *way, scores[-1]), tuple(classes), by_formula)

    def _verdict_of_black_box(
        self, removed: tuple[int, ...], scores: list[float], classes: list[int]
    ) -> Verdict:
        """Return the verdict; `scores` are of the row, of the row once more, and of sets in question."""
        on_the_way = self._on_the_way(removed)
        new = self._new_on_the_way(removed)
        if self.decisions is None:  # the local model scored the row
            scores = [float(self.local.reported(np.array([self.local.score]))[0]), *scores]
        own, again, *rest = scores
        self.local.note_asked((len(rest) + 1) * (1 if self.scorer.predict is None else 2))
        pairs = [(own, again), *self._answer_twice(removed, rest)]
        for first, second in pairs:
            require_same_score(self.scorer.name, first, second, self.local.tolerance)
        if self.decisions is not None and not self.local.tolerance:
            require_same_decision(self.scorer, self.decisions, classes[1])
        path = [rest.pop(0) if score is None and new else score for _, score in on_the_way]
        known = [score for score in path if score is not None]
        known = known if len(known) == len(path) else []
        is_steady = all(is_same(first, second, within=ROUNDING) for first, second in pairs)
        decided = (classes[0], classes[-1] if removed else classes[0])
        return Verdict((own, *known, *rest), decided, is_steady=is_steady)

    def _answer_twice(self, removed: tuple[int, ...], scores: list[float]) -> list[tuple[float, float]]:
        """Return the score without the answer as the search saw it, and as it is now; none if unknown."""
        if not removed:
            return []
        (seen,) = self.local.remembered(removal_sets([removed], self.local.n_features))
        return [] if seen is None else [(seen, scores[-1])]

    def confirms(self, verdict: Verdict, removed: tuple[int, ...]) -> bool:
        """Return whether the model's own verdict confirms a removal set."""
        agrees = self.local.agrees(verdict.scores[0]) and (
            verdict.by_formula is None or is_same(verdict.by_formula, verdict.scores[-1])
        )
        as_seen, flipped = verdict.classes[0] == self.own_class, self.has_flipped(verdict.classes[-1])
        return bool(is_confirmed(as_seen=as_seen, agrees=agrees, flipped=flipped, size=len(removed)))

    def has_flipped(self, decided: int) -> bool:
        """Return whether a decision for this class is a flip."""
        target = self.scorer.target
        return decided != self.own_class if target is None else decided == target

    def survives(self, removed: tuple[int, ...]) -> bool | None:
        """Return whether the text without these words flips; None unless only their columns became zero."""
        return None if self.read.text is None else self._survive([removed])[0]

    def _survive(self, sets: list[tuple[int, ...]]) -> list[bool | None]:
        """Return the same for many removal sets, in one call of the model."""
        texts = [self.read.deleted(removed) for removed in sets]
        known = [text for text in texts if text is not None]
        if self.model.text_scorer is None or not known:
            return [None] * len(sets)
        decided = self.model.text_scorer.decide(known, alone=True).classes
        self.local.note_asked(len(known))
        flipped = iter([self.has_flipped(int(index)) for index in decided])
        return [None if text is None else next(flipped) for text in texts]

    def _surviving(self, best: Finding) -> tuple[Finding, bool]:
        """Look for an equally small set with which the text itself flips, too."""
        others = swaps(self.local, best.removed, at_most=MAX_SWAPS)
        for removed, survives in zip(others, self._survive(others), strict=True):
            if survives:
                return replace(best, removed=removed, weights=()), True
        return best, False

    def report(self, answer: Candidate, verdict: Verdict, settings: Settings, seconds: float) -> Explanation:
        """Make the explanation of this row."""
        read, local, finding = self.read, self.local, answer.finding
        removed, max_size = finding.removed, settings.budget.max_size
        is_at_target = self.is_at_target
        places = read.removable[list(removed)].tolist()
        status = "none" if is_at_target else status_of(finding, local, settings.budget)
        why = Report(self.model, max_size, answer.search, local.kind).explanation(
            classes=(verdict.classes[0], verdict.classes[-1]),
            status=status,
            features=tuple([read.items[place] for place in places]),
            columns=read.columns(removed),
            weights=finding.weights,
            score=verdict.scores[0],
            score_without=verdict.scores[-1],
            lower_bound=lower_bound_of(finding, local, max_size),
            n_active=len(read.items),
            n_protected=len(read.items) - len(read.removable),
            n_scored=local.n_scored,
            n_asked=local.n_asked,
            spent=None if settings.budget.price is None else local.n_asked * settings.budget.price,
            seconds=seconds,
            reason="" if status == "none" else finding.reason,
            cost=len(removed) if local.costs is None else cost_of(local, removed),
            costs=local.costs is not None,
            path=verdict.scores[1:],
            items=read.items,
            places=tuple(places),
            unit=read.unit,
            removal=read.removal,
            text=read.text,
            spans=tuple(read.spans[unit] for unit in removed) if read.spans else (),
            survives_deletion=answer.survives,
            table=read.table,
            marks=tuple(read.marks[unit] for unit in removed) if read.marks else (),
            instead=tuple(read.instead[unit] for unit in removed) if read.instead else (),
            confidence=1.0 if local.tolerance and removed else None,
            n_unread=read.n_unread,
        )
        return why if verdict.is_steady or is_at_target else without_proof(why)


def is_confirmed(*, as_seen: Any, agrees: Any, flipped: Any, size: Any) -> Any:
    """Return whether the model's own decisions confirm an answer: of one row, or of many in arrays.

    The one rule of confirmation. The model decides on the row as it is seen from it (`as_seen`), its scores
    are those of its formula (`agrees`), and without the removal set, if there is one, the decision flips.
    """
    return as_seen & agrees & (flipped | (size == 0))
