"""Types of arrays, stretches of them, and removal sets as a boolean matrix."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]


def stretches(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return start, start + 1, … of each stretch, one stretch after the other.

    >>> stretches(np.array([5, 2]), np.array([2, 3]))
    array([5, 6, 2, 3, 4])
    """
    shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return np.asarray(np.arange(len(shift)) + shift)


def firsts(numbers: IntArray, n: int) -> IntArray:
    """Return where each of the numbers 0 … n stands first, or would stand, among ascending numbers.

    >>> firsts(np.array([0, 0, 2]), 3)
    array([0, 2, 2, 3])
    """
    return np.searchsorted(numbers, np.arange(n + 1))


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
    rows = [number for number, each in enumerate(sets) for _ in each]
    removed[rows, [unit for each in sets for unit in each]] = True
    return removed


def prefixes(units: Sequence[int] | IntArray, n_features: int) -> BoolArray:
    """Return the removal sets of the first of some units, the first two, …, all of them.

    >>> prefixes((2, 0), 3)
    array([[False, False,  True],
           [ True, False,  True]])
    """
    order = np.arange(len(units))
    places = np.full(n_features, len(units))
    places[np.asarray(units)] = order
    return places <= order[:, np.newaxis]
