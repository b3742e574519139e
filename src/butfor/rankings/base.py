"""What a ranking is: from a local model to one weight per active feature."""

from typing import Any, Protocol

import numpy as np

from butfor.errors import SearchError
from butfor.models.base import FloatArray, LocalModel


class Ranking(Protocol):
    """A callable that gives every active feature a weight, higher for more evidence for the decision."""

    def __call__(self, local: LocalModel, *, seed: int) -> FloatArray:
        """Weigh the features; the same local model and seed must give the same weights."""
        ...


def weigh(ranking: Ranking, local: LocalModel, seed: int, **parameters: Any) -> FloatArray:
    """Call a ranking and check what it gives."""
    given = ranking(local, seed=seed, **parameters)
    weights = np.asarray(given)
    if weights.shape != (local.n_features,) or weights.dtype.kind not in "biuf":
        raise SearchError(
            f"a ranking must give one weight for each of {local.n_features} features, got {given!r}."
        )
    if not np.isfinite(weights).all():
        raise SearchError(f"a ranking must give finite weights, got {given!r}.")
    return weights.astype(float)
