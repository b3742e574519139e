"""A row on the bench: units are taken away and put back by hand, and the model says what it decides then."""

import math
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from butfor.case import Case
from butfor.errors import InputError
from butfor.explanation import Explanation, Unit
from butfor.inquiry import Inquiry
from butfor.subjects import Subject

BY_HAND = "by hand"
"""The name of the search where the set is the user's own."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What the model says of a row without some units, which somebody chose."""

    score: float
    score_without: float
    threshold: float
    decision: str
    """The class that the model decides for, and the one without the units; empty where unknown."""
    decision_without: str
    flipped: bool
    explanation: Explanation | None
    """Where it flipped: the set as an explanation, of which nobody says that it is the smallest."""


class Bench:
    """One row, read once and asked many times; see `Explainer.bench`."""

    def __init__(self, inquiry: Inquiry, subject: Subject) -> None:
        self._inquiry = copy(inquiry)
        self._inquiry.search_name = BY_HAND
        self._case: Case = inquiry.trusted(subject, deadline=math.inf)
        self._unit_at = {int(place): unit for unit, place in enumerate(subject.removable)}

    @property
    def items(self) -> tuple[str, ...]:
        """Names of all active units, in the row's order; a unit's place is its number here."""
        return self._case.subject.items

    @property
    def removable(self) -> tuple[bool, ...]:
        """Whether each of them may be removed."""
        return tuple(place in self._unit_at for place in range(len(self.items)))

    @property
    def spans(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Where each of them stands in the text; nothing where that is not known, or for protected ones."""
        known, at = self._case.subject.spans, self._unit_at
        return tuple(known[at[place]] if known and place in at else () for place in range(len(self.items)))

    @property
    def text(self) -> str | None:
        """The text, if it is one."""
        return self._case.subject.text

    @property
    def unit(self) -> Unit:
        """What is removed at a time."""
        return self._case.subject.unit

    @property
    def n_classes(self) -> int:
        """How many classes there are; with more than two the score is the lead of the predicted one."""
        return max(2, len(self._inquiry.class_names))

    def without(self, removed: Sequence[int | str] = ()) -> Trial:
        """Have the model itself decide on the row without these units: places among `items`, or names.

        A name stands for all units that have it.
        """
        began = time.monotonic()
        case, inquiry = self._case, self._inquiry
        units = tuple(dict.fromkeys(unit for each in removed for unit in self._units(each)))
        verdict = case.verdict(units)
        flipped = bool(units) and not case.is_at_target and case.has_flipped(verdict.classes[-1])
        why = None
        if flipped:
            finding = inquiry.unproven(case, units)
            why = inquiry.explanation(case, finding, verdict, time.monotonic() - began)
        return Trial(
            score=verdict.scores[0],
            score_without=verdict.scores[-1],
            threshold=inquiry.scorer.threshold,
            decision=inquiry.class_name(verdict.classes[0]),
            decision_without=inquiry.class_name(verdict.classes[-1]),
            flipped=flipped,
            explanation=why,
        )

    def _units(self, removed: int | str) -> list[int]:
        """Give the numbers of the units that are meant, as a search counts them."""
        if isinstance(removed, str):
            places = [place for place, name in enumerate(self.items) if name == removed]
            if not places:
                raise InputError(f"removed must name items of the row, got {removed!r}, which it has not.")
        elif isinstance(removed, bool) or not isinstance(removed, int | np.integer):
            raise InputError(f"removed must hold places or names of items, got {removed!r}.")
        elif not 0 <= removed < len(self.items):
            raise InputError(
                f"removed must hold places of the row's {len(self.items):,} items, from 0, got {removed}."
            )
        else:
            places = [int(removed)]
        kept = [place for place in places if place not in self._unit_at]
        if kept:
            raise InputError(
                f"removed must not hold protected items, got {self.items[kept[0]]!r}: release it first."
            )
        return [self._unit_at[place] for place in places]
