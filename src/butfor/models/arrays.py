"""Types of arrays, and removal sets as a boolean matrix."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]


def removal_sets(sets: Iterable[tuple[int, ...]], n_features: int) -> BoolArray:
    """Return removal sets as the boolean matrix that local models score.

    Parameters
    ----------
    sets : iterable of tuples of int
        Removal sets, each given by the numbers of its units.
    n_features : int
        The number of units of the local model.

    Returns
    -------
    array of bool, shape (n_sets, n_features)
        True where a set removes a unit.

    Examples
    --------
    >>> removal_sets([(0, 2), ()], 3)
    array([[ True, False,  True],
           [False, False, False]])
    """
    sets = list(sets)
    removed = np.zeros((len(sets), n_features), dtype=bool)
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    removed[rows, [unit for each in sets for unit in each]] = True
    return removed
