"""The shortest prefix of a ranking that flips."""

import numpy as np

from butfor.budget import Budget
from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding


def shortest_prefix(local: LocalModel, budget: Budget, weights: FloatArray) -> Finding:
    """Return the shortest prefix of a ranking that flips: only positive weights, at most `max_size` units."""
    ranking = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights > 0)][: budget.max_size]
    if not len(ranking):
        return Finding(reason="no feature has a positive weight")
    prefixes = np.zeros((len(ranking), local.n_features), dtype=bool)
    prefixes[:, ranking] = np.tri(len(ranking), dtype=bool)
    flipping = np.flatnonzero(local.flips(local.scores(prefixes)))
    if not flipping.size:
        return Finding(reason=f"removing the {len(ranking)} top-ranked features does not flip the decision")
    removed = ranking[: flipping[0] + 1]
    return Finding(tuple(map(int, removed)), weights=tuple(map(float, weights[removed])))
