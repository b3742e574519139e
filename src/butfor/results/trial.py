"""What the model says of a row without some units that somebody chose."""

from dataclasses import dataclass

from butfor.results.explanation import Explanation


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What the model says of a row without some units that somebody chose; see `WhatIf.without`.

    Attributes
    ----------
    score, score_without : float
        The model's score of the row, and of the row without the units.
    threshold : float
        The score from which on a decision is positive.
    decision, decision_without : str
        The class that the model decides for, and the one without the units; empty where unknown.
    flipped : bool
        Whether the decision flips.
    explanation : Explanation or None
        The removal set as an explanation, where the decision flips. Nothing says that it is the smallest.
    """

    score: float
    score_without: float
    threshold: float
    decision: str
    decision_without: str
    flipped: bool
    explanation: Explanation | None
