"""Random sets of units, for rankings that sample."""

import numpy as np

from butfor.models.arrays import BoolArray, IntArray


def random_sets(sizes: IntArray, n_features: int, rng: np.random.Generator) -> BoolArray:
    """Draw one set of each size, all sets of a size equally likely, as a boolean matrix (sets × m).

    Each unit in turn is taken with probability: units still to take, divided by units that are left.
    """
    sets = np.empty((n_features, len(sizes)), dtype=bool)
    missing = sizes.astype(float)
    for unit, taken in enumerate(sets):
        np.less(rng.random(len(sizes)) * (n_features - unit), missing, out=taken)
        missing -= taken
    return np.ascontiguousarray(sets.T)
