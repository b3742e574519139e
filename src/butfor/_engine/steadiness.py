"""Whether a model gives the same row the same score: one rule, and what follows where it does not."""

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.errors import VaryingScoresError
from butfor.models import Decisions, Scorer
from butfor.results.explanation import Explanation, Status
from butfor.results.outcomes import Outcomes

SAME_SCORE = 1e-3
"""How far two scores of the same row may differ, in relation to their size if that is above one."""
ROUNDING = 1e-5
"""How far they may differ, in the same way, before nothing is called proven of the row."""
ROWS_AGAIN = 8
"""How many rows of a block are scored once more, of a model whose formula is known."""
HINT = (
    "If its scores vary, say so: Explainer(…, noise=0.05) where they stay within 0.05, or noise=Noise(). If "
    "they depend on the rows of the same call, pass calls=Calls(batch_size=1)."
)
VARIES = "scores vary, so that no smaller set is ruled out"


def is_same(first: Any, again: Any, *, within: float = SAME_SCORE) -> Any:
    """Return whether two scores are those of the same row: of one row, or of many in arrays.

    >>> is_same(0.5, 0.5004), is_same(np.array([5000.0, 0.1]), np.array([5001.0, 0.2])).tolist()
    (np.True_, [True, False])
    """
    return abs(first - again) <= within * np.maximum(1.0, abs(first))


def require_same_score(name: str, first: float, again: float, tolerance: float = 0.0) -> None:
    """Raise where a model gave the same row two scores."""
    if not (abs(first - again) <= tolerance if tolerance else is_same(first, again)):
        raise VaryingScoresError(
            f"{name} must give the same row the same score, got {first:.4g} and then {again:.4g}. {HINT}"
        )


def require_same_decision(scorer: Scorer, first: Decisions, again: int) -> None:
    """Raise where the model decided otherwise on the same row, unless its score leaves that in doubt."""
    own = int(first.classes[0])
    if own != again and not scorer.in_doubt(first.outputs[:1]).size:
        was, then = (scorer.classes[each] if scorer.classes else each for each in (own, again))
        raise VaryingScoresError(
            f"{type(scorer.model).__name__} must decide the same on the same row, got {was!r} and then "
            f"{then!r}. {HINT}"
        )


def errors_of_varying(scorer: Scorer, first: Decisions, again: Decisions) -> dict[int, VaryingScoresError]:
    """Return an error for each of the rows to which the model gave two scores, by their positions."""
    same = is_same(first.outputs, again.outputs).reshape(len(first), -1).all(axis=1)
    errors: dict[int, VaryingScoresError] = {}
    for i in np.flatnonzero(~same).tolist():
        was, then = first[[i]].shown(), again[[i]].shown()
        errors[i] = VaryingScoresError(
            f"{scorer.name} must give the same row the same score, got {was} and then {then}. {HINT}"
        )
    return errors


def without_proof(why: Explanation) -> Explanation:
    """Return an explanation that rules nothing out, as scores of the model vary."""
    if why.confidence is not None or why.n_active == why.n_protected:
        return why
    status: Status = "found" if why else "budget"
    return replace(why, status=status, lower_bound=0, reason=why.reason or VARIES)


def proven_together(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes of a block, without proofs where the model gave one of its rows two scores.

    That the two scores of another row agree may then be an accident.
    """
    if not any(isinstance(each, VaryingScoresError) for each in outcomes.others.values()):
        return outcomes
    weakened = [without_proof(each) if isinstance(each, Explanation) else each for each in outcomes]
    return Outcomes.of(dict(enumerate(weakened)))
