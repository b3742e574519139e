"""LIME's weights (Ribeiro, Singh and Guestrin 2016), as its explainer of texts computes them."""

import numpy as np

from butfor._checks import require_count
from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.local.base import LocalModel
from butfor.rankings.sampling import random_sets
from butfor.rankings.sums import ridge_of_few, weighted_gram, weighted_sums

KERNEL_WIDTH = 25.0
ALPHA = 1.0


def lime_weights(local: LocalModel, n_samples: int = 5000, seed: int = 0) -> FloatArray:
    """Weigh each unit by a linear model of the scores around the row.

    The row itself and `n_samples` − 1 random removal sets are scored. The number of removed units is uniform
    in 1 … m. The weights are those of a ridge regression of the scores on which units are present, in which
    sets near the row count more.

    Parameters
    ----------
    local : LocalModel
        The model seen from the row.
    n_samples : int, default=5000
        How many sets are scored, the row included.
    seed : int, default=0
        The seed of the random sets.

    Returns
    -------
    array of float, shape (n_features,)
        One weight for each unit.

    Raises
    ------
    OutOfTime
        If the deadline of the local model passes.

    Examples
    --------
    >>> from butfor import Explainer
    >>> local = Explainer(lambda X: X @ np.array([3, 2, -1]), threshold=2).local_model([1, 1, 1])
    >>> lime_weights(local).round(1)
    array([ 3.,  2., -1.])
    """
    require_count("n_samples", n_samples, at_least=2)
    m = local.n_features
    if m == 0:
        return np.zeros(0)
    rng = np.random.default_rng(seed)
    removed = np.zeros((n_samples, m), dtype=bool)
    removed[1:] = random_sets(rng.integers(1, m + 1, size=n_samples - 1), m, rng)
    scores = np.concatenate([[local.evidence_of_row()], local.evidence(removed[1:])])
    local.check_deadline()  # nothing below checks it
    return surrogate(~removed, scores)


def surrogate(present: BoolArray, scores: FloatArray) -> FloatArray:
    """Fit LIME's weighted ridge regression to the scores of sets, given by the units present in each."""
    n, m = present.shape
    distances = 100 * (1 - np.sqrt(present.sum(axis=1) / m))  # cosine distances to the row, on LIME's scale
    w = np.exp(-((distances / KERNEL_WIDTH) ** 2) / 2)
    y = scores - np.average(scores, weights=w)
    held, held_y = weighted_sums(present, w, w * y)
    if n < m:
        return ridge_of_few(present, w, (held / w.sum())[np.newaxis], y, ALPHA)
    gram = weighted_gram(present, w)
    gram -= np.outer(held, held / w.sum())  # which centres the columns
    gram.flat[:: m + 1] += ALPHA
    return np.asarray(np.linalg.solve(gram, held_y), dtype=float)
