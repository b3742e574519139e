"""What the sampled rankings share: random sets of features, and what they score."""

import numpy as np

from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel


def random_sets(sizes: IntArray, n_features: int, rng: np.random.Generator) -> BoolArray:
    """Draw one set of each size, all sets of a size equally likely, as a boolean matrix (sets × m).

    Feature by feature: it is taken with the probability of what is still to take among what is left.
    """
    sets = np.empty((n_features, len(sizes)), dtype=bool)
    missing = sizes.astype(float)
    for feature, taken in enumerate(sets):
        np.less(rng.random(len(sizes)) * (n_features - feature), missing, out=taken)
        missing -= taken
    return np.ascontiguousarray(sets.T)


def evidence(local: LocalModel, removed: BoolArray) -> FloatArray:
    """Score removal sets on the scale that the user knows, turned: lower is closer to the flip."""
    return _on_users_scale(local, local.scores(removed))


def evidence_of_row(local: LocalModel) -> float:
    """Score the row itself in the same way."""
    return float(_on_users_scale(local, np.array([local.score]))[0])


def _on_users_scale(local: LocalModel, scores: FloatArray) -> FloatArray:
    reported = local.reported(scores)
    return reported if local.positive else -reported
