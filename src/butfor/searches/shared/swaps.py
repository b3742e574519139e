"""Equally small sets near an answer."""

import numpy as np

from butfor.models.local.base import LocalModel


def swaps(local: LocalModel, removed: tuple[int, ...], at_most: int) -> list[tuple[int, ...]]:
    """Swap single units of a flipping set for others that cost no more.

    Parameters
    ----------
    local : LocalModel
        The model seen from the row.
    removed : tuple of int
        A set that flips.
    at_most : int
        How many sets are returned at most.

    Returns
    -------
    list of tuples of int
        Sets that flip, the strongest first.
    """
    others = np.setdiff1d(np.arange(local.n_features), removed)
    sets: list[tuple[int, ...]] = []
    scores: list[float] = []
    for i, unit in enumerate(removed):
        rest = removed[:i] + removed[i + 1 :]
        candidates = others if local.costs is None else others[local.costs[others] <= local.costs[unit]]
        if len(candidates):
            scored = local.scores_with_each(rest, candidates)
            flipping = np.flatnonzero(local.flips(scored))
            sets += [(*rest, int(candidates[j])) for j in flipping]
            scores += scored[flipping].tolist()
    return [sets[i] for i in np.argsort(scores, kind="stable")[:at_most]]
