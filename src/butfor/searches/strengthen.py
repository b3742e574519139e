"""Among equally small sets, a stronger flip."""

import numpy as np

from butfor.models.base import LocalModel

MAX_SWAPS = 30


def strengthen(local: LocalModel, removed: tuple[int, ...]) -> tuple[int, ...]:
    """Swap single features of a flipping set for others that cost no more, as long as the score falls."""
    score = float(local.scores_with_each(removed[:-1], np.array(removed[-1:]))[0])
    for _ in range(MAX_SWAPS):
        best, lowest = removed, score
        for i, feature in enumerate(removed):
            others = removed[:i] + removed[i + 1 :]
            candidates = np.setdiff1d(np.arange(local.n_features), removed)
            if local.costs is not None:
                candidates = candidates[local.costs[candidates] <= local.costs[feature]]
            if not len(candidates):
                continue
            scores = local.scores_with_each(others, candidates)
            if scores.min() < lowest:
                best, lowest = (*others, int(candidates[np.argmin(scores)])), float(scores.min())
        if best == removed:
            break
        removed, score = best, lowest
    return removed
