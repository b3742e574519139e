"""The path of a row whose scores vary: means of repeats, and decisions confirmed to a stated confidence."""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from butfor._engine.betting import MeanTest
from butfor._engine.engine import Engine
from butfor._engine.one_row import Candidate, OneRow, Verdict
from butfor._engine.settings import Settings
from butfor._readers import ReadRow
from butfor.budget import FEWEST_SCORINGS
from butfor.errors import ModelError
from butfor.models import BoolArray, Decisions, FloatArray, LocalModel, Scorer, local_model, removal_sets
from butfor.models.local.asking import Asker
from butfor.noise import Noise
from butfor.results.explanation import Explanation
from butfor.searches import Finding

MAX_CANDIDATES = 8
"""How many answers are tried to confirm, one after the other."""
_Advantages = Callable[[FloatArray], tuple[FloatArray, float]]
REFINEMENTS = 3
"""How often the number of scores is doubled for a set near the threshold, while searching."""
NEAR = 2.0
"""How near that is, in standard errors."""
LEAST_VARIANCE = 1e-4
"""The least variance of a score: a few votes may agree by chance."""
FIRST = 8
"""How many scores are drawn at first to confirm a decision; then a half more each time."""


def explain_noisy(
    engine: Engine, read: ReadRow, seconds: float, asker: Asker, *, only_positive: bool = False
) -> Explanation | None:
    """Explain one row that was read, of a model whose scores vary; None where only positive rows count."""
    started = time.monotonic() - seconds
    noise, settings = engine.settings.noise, engine.settings
    assert isinstance(noise, Noise)
    most = settings.budget.max_scorings
    samples = _Samples(engine.model.scorer.handing(read.row.kind), read, noise, asker, most)
    alpha = (1 - noise.confidence) / 2  # one half for the row, one for its answer
    own, is_sure = samples.decide_row(alpha)
    if only_positive and own != samples.scorer.positive:
        return None
    row = samples.as_seen(engine, own, started + settings.budget.max_seconds)
    if is_sure:
        finding, flipped = _confirmed(row, samples, settings, alpha)
    else:
        reason = f"max_repeats={noise.max_repeats} scores of the row leave its decision open"
        finding, flipped = Finding(reason=reason), own
    outputs = [samples.mean(()), *([samples.mean(finding.removed)] if finding.removed else [])]
    margin = row.scorer.margin
    scores = np.array(outputs) if margin is None else margin.of(np.array(outputs))
    verdict = Verdict(tuple(scores.tolist()), (own, flipped))
    spent = time.monotonic() - started - row.local.deadline.waited
    why = row.report(Candidate(finding, settings.search_name), verdict, settings, spent)
    return replace(why, confidence=noise.confidence) if why else why


def _confirmed(row: OneRow, samples: "_Samples", settings: Settings, alpha: float) -> tuple[Finding, int]:
    """Return the first answer that fresh scores confirm, and the class without it; or why there is none."""
    own, reason = row.own_class, ""
    for attempt in range(1, MAX_CANDIDATES + 1):
        finding = row.search(settings).finding
        if not finding.removed:
            reason = reason or finding.reason or "no set flips the mean score"
            break
        # The shares of all attempts add up to alpha.
        flipped = samples.confirm(finding.removed, own, alpha * 6 / (math.pi * attempt) ** 2)
        if flipped is not None:
            return replace(finding, lower_bound=1, cost_bound=0.0, reason=""), flipped
        reason = f"{attempt} sets were not confirmed with a confidence of {samples.noise.confidence:g}"
        row.local.rule_out(finding.removed)
    return Finding(reason=f"{reason}; scores vary, so nothing is ruled out"), own


@dataclass(eq=False)
class _Samples:
    """Scores of the row, and of the row without removal sets, drawn as often as they are needed."""

    scorer: Scorer
    read: ReadRow
    noise: Noise
    asker: Asker
    max_scorings: int | None
    local: LocalModel | None = None
    """What counts scores and time, once the decision on the row is known."""
    n_asked: int = 0
    _drawn: dict[tuple[int, ...], list[FloatArray]] = field(default_factory=dict)

    def mean(self, removed: tuple[int, ...]) -> FloatArray:
        """Return the mean of all outputs that were drawn for a set."""
        return np.asarray(np.concatenate(self._drawn[removed]).mean(axis=0))

    def decide_row(self, alpha: float) -> tuple[int, bool]:
        """Return the class that the mean scores of the row decide for, and whether that is sure."""
        first = self._draw((), FIRST)
        own = int(self.scorer.by_score(first.mean(axis=0)[np.newaxis]).classes[0])
        return own, self._is_shown((), lambda outputs: self._advantages(outputs, own), alpha)

    def confirm(self, removed: tuple[int, ...], own: int, alpha: float) -> int | None:
        """Return the class to which the decision flips without a set, if fresh scores show that it does."""
        flipped, only = self.scorer.target, None
        if flipped is None and not self.scorer.has_many_classes:
            flipped = 1 - own
        elif flipped is None:  # to the best of the others, by scores that the test does not see
            mean = self._draw(removed, FIRST).mean(axis=0)
            others = [index for index in range(len(mean)) if index != own]
            flipped, only = max(others, key=lambda index: float(mean[index])), own
        is_shown = self._is_shown(removed, lambda outputs: self._advantages(outputs, flipped, only), alpha)
        return flipped if is_shown else None

    def _advantages(
        self, outputs: FloatArray, ahead: int, only: int | None = None
    ) -> tuple[FloatArray, float]:
        """Return numbers between 0 and 1 whose means must all be above a value, if a class is ahead."""
        low, width = self.noise.low, self.noise.high - self.noise.low
        if not self.scorer.has_many_classes:
            shares, value = (outputs - low) / width, (self.scorer.threshold - low) / width
            is_positive = ahead == self.scorer.positive
            return (shares if is_positive else 1 - shares)[:, np.newaxis], value if is_positive else 1 - value
        others = [index for index in range(outputs.shape[1]) if index != ahead] if only is None else [only]
        return ((outputs[:, [ahead]] - outputs[:, others]) / width + 1) / 2, 0.5

    def _is_shown(self, removed: tuple[int, ...], advantages: "_Advantages", alpha: float) -> bool:
        """Draw scores until it is shown, or refuted, or given up, that all advantages are real."""
        if self._n_left < FIRST:
            return False
        numbers, value = advantages(self._draw(removed, FIRST))
        tests = [(MeanTest(value), MeanTest(1 - value)) for _ in range(numbers.shape[1])]
        n_drawn = 0
        while True:
            for line in numbers:
                for number, (ahead, behind) in zip(line.tolist(), tests, strict=True):
                    ahead.take(number)
                    behind.take(1 - number)
            n_drawn += len(numbers)
            if all(ahead.is_shown(alpha / len(tests)) for ahead, _ in tests):
                return True
            is_refuted = any(behind.is_shown(alpha) for _, behind in tests)
            more = min(max(FIRST, n_drawn // 2), self.noise.max_repeats - n_drawn, self._n_left)
            if is_refuted or more < 1:
                return False
            numbers, _ = advantages(self._draw(removed, more))

    @property
    def _n_left(self) -> int:
        """How many scores may still be drawn: none once the time is over."""
        if self.local is not None and self.local.deadline.seconds_left <= 0:
            return 0
        asked = self.n_asked if self.local is None else self.local.n_asked
        return sys.maxsize if self.max_scorings is None else self.max_scorings - asked

    def _draw(self, removed: tuple[int, ...], n_scores: int) -> FloatArray:
        """Have the model score the row without a set several times."""
        sets = removal_sets([removed] * n_scores, self.read.row.n_units)
        began = time.monotonic()
        outputs, seconds = self.asker.together(self.scorer, self.read.row, sets)
        self.n_asked += n_scores
        if self.local is not None:
            self.local.note_asked(n_scores)
            self.local.deadline.put_off(time.monotonic() - began - seconds)
        low, high = float(outputs.min()), float(outputs.max())
        if low < self.noise.low or high > self.noise.high:
            outside = low if low < self.noise.low else high
            raise ModelError(
                f"{self.scorer.name} must return scores from {self.noise.low:g} to {self.noise.high:g}, as "
                f"noise says, got {outside:g}. Give Noise(low=…, high=…) the range of its scores."
            )
        self._drawn.setdefault(removed, []).append(outputs)
        return outputs

    def as_seen(self, engine: Engine, own: int, deadline: float) -> OneRow:
        """Return the row as a search sees it: each set has the mean of several scores."""
        outputs, most = self.mean(())[np.newaxis], self.max_scorings
        decisions = Decisions(outputs, np.array([own]))
        scorer = self.scorer.at(decisions)
        local = local_model(
            scorer,
            None,
            self.read.row,
            row_score=float(scorer.turned(decisions)[0]),
            deadline=deadline,
            costs=self.read.costs,
            max_scorings=None if most is None else max(FEWEST_SCORINGS, most - self.noise.max_repeats),
        )
        local.ask_by(_Repeated(self.asker, self.noise.repeats, local))
        local.note_asked(self.n_asked - local.n_asked)
        self.local = local
        return OneRow(self.read, engine.model, scorer, local, own, decisions)


@dataclass(frozen=True, eq=False)
class _Repeated:
    """Asks for each set several times, and returns the mean."""

    asker: Asker
    rows_a_set: int
    local: LocalModel

    def together(self, scorer: Scorer, row: object, removed: BoolArray) -> tuple[FloatArray, float]:
        """Return the mean outputs for sets; those near the threshold are scored more often."""
        outputs, seconds = self._drawn(scorer, row, removed, self.rows_a_set)
        means, near = outputs.mean(axis=1), np.arange(len(removed))
        for _ in range(REFINEMENTS):
            is_near = _are_near(scorer, outputs)
            near, outputs = near[is_near], outputs[is_near]
            n_more = len(near) * outputs.shape[1]
            if not 0 < n_more <= self.local.scorings_left * self.rows_a_set:
                break
            more, took = self._drawn(scorer, row, removed[near], outputs.shape[1])
            self.local.note_asked(n_more)
            seconds += took
            outputs = np.concatenate([outputs, more], axis=1)
            means[near] = outputs.mean(axis=1)
        return means, seconds

    def _drawn(
        self, scorer: Scorer, row: object, removed: BoolArray, n_scores: int
    ) -> tuple[FloatArray, float]:
        """Return several outputs for each set (sets × scores × classes), and the seconds they took."""
        outputs, seconds = self.asker.together(scorer, row, np.repeat(removed, n_scores, axis=0))
        return outputs.reshape(len(removed), n_scores, *outputs.shape[1:]), seconds

    def alone(self, scorer: Scorer, row: object, removed: BoolArray) -> tuple[float, float]:
        """Return the mean score of one set, and the seconds it took."""
        outputs, seconds = self.together(scorer, row, removed)
        return float(scorer.turned(scorer.by_score(outputs))[0]), seconds


def _are_near(scorer: Scorer, outputs: FloatArray) -> BoolArray:
    """Return for which sets the mean of a few scores leaves open whether they flip."""
    if scorer.margin is not None:
        n_sets, n_scores, n_classes = outputs.shape
        flat = scorer.margin.of(outputs.reshape(-1, n_classes)).reshape(n_sets, n_scores)
    else:
        flat = outputs - scorer.threshold
    error = np.sqrt((flat.var(axis=1) + LEAST_VARIANCE) / flat.shape[1])
    return np.asarray(np.abs(flat.mean(axis=1)) <= NEAR * error)
