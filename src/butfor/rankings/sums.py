"""Least squares over many sets of features: only a block of the matrix is ever held as numbers.

All of it is numpy's linear algebra: where SciPy's is used in between, the threads of the two stand in each
other's way, and small systems take several times as long.
"""

from collections.abc import Iterator

import numpy as np

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
    """Solve a positive definite system; of a singular one, give very nearly the shortest solution."""
    if not _is_regular(matrix):
        matrix = matrix + ROUNDING * np.trace(matrix) * np.eye(len(matrix))
    return np.asarray(np.linalg.solve(matrix, target), dtype=float)


def _is_regular(matrix: FloatArray) -> bool:
    try:
        pivots = np.linalg.cholesky(matrix).diagonal() ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min(initial=np.inf) > ROUNDING * pivots.max(initial=0.0))


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
    dual = roots * np.linalg.solve(gram, roots * target)
    return np.concatenate([dual @ (sets[:, block] - centres[:, block]) for block in blocks])


def _blocks(n_lines: int, n_cells: int) -> Iterator[slice]:
    n_at_once = max(1, MAX_CELLS // max(1, n_cells))
    for start in range(0, n_lines, n_at_once):
        yield slice(start, start + n_at_once)
