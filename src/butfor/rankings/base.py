"""What a ranking is: a function from a local model to one weight for each unit."""

from typing import Protocol

import numpy as np

from butfor.errors import SearchError
from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel


class Ranking(Protocol):
    """A callable that returns a weight for each unit, higher for more evidence for the decision."""

    def __call__(self, local: LocalModel, *, seed: int) -> FloatArray:
        """Weigh the units.

        The same local model and seed must lead to the same weights.

        Parameters
        ----------
        local : LocalModel
            The model seen from the row.
        seed : int
            The seed of all randomness.

        Returns
        -------
        array of float, shape (n_features,)
            One finite weight for each unit.
        """
        ...


def weigh(ranking: Ranking, local: LocalModel, seed: int) -> FloatArray:
    """Call a ranking and check its weights.

    Parameters
    ----------
    ranking : Ranking
        The ranking.
    local : LocalModel
        The model seen from the row.
    seed : int
        The seed of all randomness.

    Returns
    -------
    array of float, shape (n_features,)
        One weight for each unit.

    Raises
    ------
    SearchError
        If the ranking does not return one finite weight for each unit.
    """
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
