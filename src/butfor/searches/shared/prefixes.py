"""The shortest prefix of a ranking that flips."""

import numpy as np

from butfor.budget import Budget
from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding


def shortest_prefix(
    local: LocalModel, budget: Budget, weights: FloatArray, *, lower_bound: int = 1
) -> Finding:
    """Return the shortest prefix of a ranking that flips: only positive weights, at most `max_size` units.

    The finding has `lower_bound`, which is known already.
    """
    ranking = (-weights).argsort(kind="stable")[: np.count_nonzero(weights > 0)][: budget.max_size]
    if not len(ranking):
        return Finding((), lower_bound, "no feature has a positive weight")
    flipping = local.flips(local.scores_of_prefixes(ranking)).nonzero()[0]
    if not flipping.size:
        reason = f"removing the {len(ranking)} top-ranked features does not flip the decision"
        return Finding((), lower_bound, reason)
    removed = ranking[: flipping[0] + 1]
    return Finding(tuple(removed.tolist()), lower_bound, weights=tuple(weights[removed].tolist()))
