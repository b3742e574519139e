"""The simplest ranking: what each feature does when it goes alone."""

import numpy as np

from butfor.models.base import FloatArray, LocalModel


def removal_weights(local: LocalModel, seed: int = 0) -> FloatArray:
    """Weigh every active feature by how much closer to the flip its removal alone brings the row.

    For a linear model these are the contributions (coefficient times value) themselves. Nothing is random:
    `seed` is there because every ranking has one.
    """
    every_feature = np.arange(local.n_features)
    return local.score - local.scores_with_each((), every_feature)
