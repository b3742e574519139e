"""The simplest ranking: what the removal of each unit does alone."""

import numpy as np

from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel


def removal_weights(local: LocalModel, seed: int = 0) -> FloatArray:
    """Weigh each unit by how much closer to the flip its removal alone brings the row.

    For a linear model these are the contributions (coefficient times value) themselves.

    Parameters
    ----------
    local : LocalModel
        The model seen from the row.
    seed : int, default=0
        Ignored: nothing is random. Every ranking has a seed.

    Returns
    -------
    array of float, shape (n_features,)
        One weight for each unit.

    Examples
    --------
    >>> from butfor import Explainer
    >>> local = Explainer(lambda X: X @ np.array([3, 2, -1]), threshold=2).local_model([1, 1, 1])
    >>> removal_weights(local)
    array([ 3.,  2., -1.])
    """
    every_unit = np.arange(local.n_features)
    return local.score - local.scores_with_each((), every_unit)
