"""Equally small sets near an answer."""

import numpy as np

from butfor.models.base import LocalModel


def swaps(local: LocalModel, removed: tuple[int, ...], at_most: int) -> list[tuple[int, ...]]:
    """Swap single features of a flipping set for others that cost no more; of what flips, the strongest."""
    others = np.setdiff1d(np.arange(local.n_features), removed)
    sets: list[tuple[int, ...]] = []
    scores: list[float] = []
    for i, feature in enumerate(removed):
        rest = removed[:i] + removed[i + 1 :]
        candidates = others if local.costs is None else others[local.costs[others] <= local.costs[feature]]
        if len(candidates):
            scored = local.scores_with_each(rest, candidates)
            flipping = np.flatnonzero(local.flips(scored))
            sets += [(*rest, int(candidates[j])) for j in flipping]
            scores += scored[flipping].tolist()
    return [sets[i] for i in np.argsort(scores, kind="stable")[:at_most]]
