"""What a ranking is: from a local model to one weight per active feature."""

from typing import Protocol

import numpy as np

from butfor.errors import SearchError
from butfor.models.base import FloatArray, LocalModel


class Ranking(Protocol):
    """A callable that gives every active feature a weight, higher for more evidence for the decision."""

    def __call__(self, local: LocalModel, *, seed: int) -> FloatArray:
        """Weigh the features; the same local model and seed must give the same weights."""
        ...


def weigh(ranking: Ranking, local: LocalModel, seed: int) -> FloatArray:
    """Call a ranking and check what it gives."""
    given = ranking(local, seed=seed)
    try:
        weights = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        weights = np.full(1, np.nan)
    if weights.shape != (local.n_features,) or not np.isfinite(weights).all():
        raise SearchError(
            f"a ranking must give one finite weight for each of {local.n_features} features, got {given!r}."
        )
    return weights
