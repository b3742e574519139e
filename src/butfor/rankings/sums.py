"""Least squares over many sets of features: only a block of the matrix is ever held as numbers."""

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from butfor.models.base import BoolArray, FloatArray

MAX_CELLS = 1_000_000
"""How many cells of a matrix (sets × m) are held as numbers at once."""
ROUNDING = 1e-10
"""What is smaller than this, relative to what it is part of, is taken for rounding."""


def weighted_sums(sets: BoolArray, *weights: FloatArray) -> list[FloatArray]:
    """For every vector of weights and every feature, sum the weights of the sets that hold it."""
    sums = np.zeros((sets.shape[1], len(weights)))
    stacked = np.column_stack(weights)
    for block in _blocks(*sets.shape):
        sums += sets[block].T.astype(float) @ stacked[block]
    return list(sums.T)


def weighted_gram(sets: BoolArray, weights: FloatArray) -> FloatArray:
    """For every two features, sum the weights of the sets that hold both."""
    gram = np.zeros((sets.shape[1],) * 2)
    roots = np.sqrt(weights)[:, np.newaxis]
    for block in _blocks(*sets.shape):
        z = sets[block] * roots[block]
        gram += z.T @ z
    return gram


def solve_positive(matrix: FloatArray, target: FloatArray) -> FloatArray:
    """Solve a positive definite system; of a singular one, give all but the shortest solution."""
    try:
        factor = linalg.cho_factor(matrix)
        pivots = factor[0].diagonal() ** 2
    except linalg.LinAlgError:
        pivots = np.zeros(1)
    if len(pivots) and pivots.min() <= ROUNDING * pivots.max():
        ridge = ROUNDING * np.trace(matrix)
        factor = linalg.cho_factor(matrix + ridge * np.eye(len(matrix)))
    solution: FloatArray = linalg.cho_solve(factor, target)
    return solution


def ridge_of_few(
    sets: BoolArray, weights: FloatArray, centre: FloatArray, target: FloatArray, alpha: float
) -> FloatArray:
    """Fit a ridge regression to fewer sets than features: the unknowns are one a set, not one a feature.

    `centre` is taken off what a set holds: one row, a value for every feature, or one column, for every set.
    """
    gram = alpha * np.eye(len(sets))
    roots = np.sqrt(weights)
    centres = np.broadcast_to(centre, sets.shape)
    blocks = list(_blocks(*sets.shape[::-1]))  # of columns
    for block in blocks:
        z = roots[:, np.newaxis] * (sets[:, block] - centres[:, block])
        gram += z @ z.T
    dual = roots * linalg.solve(gram, roots * target, assume_a="pos")
    return np.concatenate([dual @ (sets[:, block] - centres[:, block]) for block in blocks])


def _blocks(n_lines: int, n_cells: int) -> Iterator[slice]:
    n_at_once = max(1, MAX_CELLS // max(1, n_cells))
    for start in range(0, n_lines, n_at_once):
        yield slice(start, start + n_at_once)
