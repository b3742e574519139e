"""What the sampled rankings share: random sets of features."""

import numpy as np

from butfor.models.base import BoolArray, IntArray


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
