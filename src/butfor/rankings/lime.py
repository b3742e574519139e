"""LIME's weights (Ribeiro, Singh and Guestrin 2016), as its explainer of texts computes them."""

import numpy as np

from butfor.checks import require_count
from butfor.models.base import BoolArray, FloatArray, LocalModel
from butfor.rankings.sampling import random_sets
from butfor.rankings.sums import ridge_of_few, weighted_gram, weighted_sums

KERNEL_WIDTH = 25.0
ALPHA = 1.0


def lime_weights(local: LocalModel, n_samples: int = 5000, seed: int = 0) -> FloatArray:
    """Weigh every feature by a linear model of the scores around the row.

    The row itself and `n_samples` − 1 random removal sets are scored; the number of removed features is
    uniform in 1 … m. A ridge regression of the scores on what is present, near sets counting more, gives the
    weights.
    """
    require_count("n_samples", n_samples, at_least=2)
    m = local.n_features
    if m == 0:
        return np.zeros(0)
    rng = np.random.default_rng(seed)
    removed = np.zeros((n_samples, m), dtype=bool)
    removed[1:] = random_sets(rng.integers(1, m + 1, size=n_samples - 1), m, rng)
    scores = np.concatenate([[local.evidence_of_row()], local.evidence(removed[1:])])
    local.check_deadline()  # what follows asks for nothing more
    return surrogate(~removed, scores)


def surrogate(present: BoolArray, scores: FloatArray) -> FloatArray:
    """Fit LIME's weighted ridge regression to the scores of sets, given by what is present in each."""
    n, m = present.shape
    distances = 100 * (1 - np.sqrt(present.sum(axis=1) / m))  # cosine distances to the row, in LIME's unit
    w = np.exp(-((distances / KERNEL_WIDTH) ** 2) / 2)
    y = scores - np.average(scores, weights=w)
    held, held_y = weighted_sums(present, w, w * y)
    if n < m:
        return ridge_of_few(present, w, (held / w.sum())[np.newaxis], y, ALPHA)
    gram = weighted_gram(present, w)
    gram -= np.outer(held, held / w.sum())  # as if the columns were centred
    gram.flat[:: m + 1] += ALPHA
    return np.asarray(np.linalg.solve(gram, held_y), dtype=float)
