"""One row at a time: the model seen from it, what a search found, and what the model itself says of that."""

import math
from dataclasses import dataclass, field

from butfor.errors import SearchError
from butfor.models import LocalModel, Said, Scorer, removal_sets
from butfor.searches import Finding, cost_of
from butfor.subjects import Subject


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the model itself says: of the row, and of the row without some features."""

    scores: tuple[float, ...]
    classes: tuple[int, ...]

    def of_row(self) -> "Verdict":
        """Keep what it says of the row."""
        return Verdict(self.scores[:1], self.classes[:1])


@dataclass(frozen=True, eq=False)
class Case:
    """A row, the model's scores as they are asked of it, and the model seen from it."""

    subject: Subject
    scorer: Scorer
    local: LocalModel
    row_said: Said | None = None
    """What the model said of the row, if it was asked."""
    text_scorer: Scorer | None = None
    """The model as it scores texts, if it reads them."""
    _survived: dict[tuple[int, ...], bool | None] = field(default_factory=dict)

    @property
    def own_class(self) -> int:
        """The index of the class that the model decides for."""
        if self.scorer.lead is not None:
            return self.scorer.lead.own
        return self.scorer.positive if self.local.positive else 1 - self.scorer.positive

    @property
    def is_at_target(self) -> bool:
        """Whether the model decides already for the class that is asked for."""
        return self.scorer.target is not None and self.scorer.target == self.own_class

    def has_flipped(self, decided: int) -> bool:
        """Tell whether a decision for this class is a flip."""
        lead = self.scorer.lead
        return decided != self.own_class if lead is None or lead.target is None else decided == lead.target

    def verdict(self, removed: tuple[int, ...]) -> Verdict:
        """Have the model itself score the real row, unless it did, and the row without these features.

        A black box also scores the row without the first feature, the first two, …
        """
        sets = self.in_question(removed)
        if not sets:
            return self.verdict_by(None)
        rows = self.subject.without(sets)
        return self.verdict_by(self.scorer.said(rows, by_predict=self.is_asked, alone=True))

    def in_question(self, removed: tuple[int, ...]) -> list[tuple[int, ...]]:
        """List the sets of which the model's word is needed."""
        first = 1 if self.is_asked else len(removed)  # a black box is asked for the whole path at once
        whole = [()] if self.row_said is None else []
        return [*whole, *(removed[:size] for size in range(first, len(removed) + 1) if size)]

    def verdict_by(self, said: Said | None) -> Verdict:
        """Read what the model said of these sets."""
        parts = [part for part in (self.row_said, said) if part is not None and len(part)]
        scores = [float(score) for part in parts for score in self.scorer.reported(part)]
        return Verdict(tuple(scores), tuple(int(index) for part in parts for index in part.classes))

    def survives(self, removed: tuple[int, ...]) -> bool | None:
        """Tell whether the text without these words flips too; None unless only their columns became zero."""
        if removed not in self._survived:
            self._survived[removed] = self.survived([removed])[0]
        return self._survived[removed]

    def survived(self, sets: list[tuple[int, ...]]) -> list[bool | None]:
        """Do the same for many sets at once."""
        texts = [self.subject.deleted(removed) for removed in sets]
        known = [text for text in texts if text is not None]
        if self.text_scorer is None or not known:
            return [None] * len(sets)
        decided = self.text_scorer.said(known, alone=True).classes
        flipped = iter([self.has_flipped(int(index)) for index in decided])
        return [None if text is None else next(flipped) for text in texts]

    def path(self, removed: tuple[int, ...], verdict: Verdict) -> tuple[float, ...]:
        """Give the score without the first feature, the first two, …, all of them."""
        if self.is_asked or len(removed) < 2:
            return verdict.scores[1:]
        prefixes = removal_sets([removed[:size] for size in range(1, len(removed))], self.local.n_features)
        self.local.deadline = math.inf  # a few sums, which the answer is worth
        scores = self.local.evidence(prefixes)
        return (*map(float, scores if self.local.positive else -scores), verdict.scores[-1])

    @property
    def is_asked(self) -> bool:
        """Whether nothing is known of the model but what it says: then its own `predict` is asked, too."""
        return self.local.kind == "black box"

    def confirms(self, verdict: Verdict, finding: Finding) -> bool:
        """Hold what was found against what the model itself said: a flip is two decisions that differ."""
        if verdict.classes[0] != self.own_class or not self.local.agrees(verdict.scores[0]):
            return False
        return not finding.removed or self.has_flipped(verdict.classes[-1])


def check_finding(finding: object, local: LocalModel) -> None:
    """Raise unless a search keeps its contract."""
    if not isinstance(finding, Finding):
        raise SearchError(f"a search must yield Finding objects, got {finding!r}.")
    removed = finding.removed
    if len(set(removed)) < len(removed) or not all(0 <= feature < local.n_features for feature in removed):
        raise SearchError(
            f"a finding must remove distinct features from 0 to {local.n_features - 1}, got {removed}."
        )
    if finding.weights and len(finding.weights) != len(removed):
        raise SearchError(
            f"a finding must have a weight for each feature it removes, {removed}, or none, "
            f"got {finding.weights}."
        )
    if removed and (
        finding.lower_bound > len(removed) or finding.cost_bound > (1 + 1e-9) * cost_of(local, removed)
    ):
        bound = finding.lower_bound if local.costs is None else f"a cost of {finding.cost_bound}"
        raise SearchError(f"a finding cannot prove that {bound} features are needed and flip with {removed}.")
