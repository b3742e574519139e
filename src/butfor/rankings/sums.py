"""Least squares over many sets of units, of which only a block is ever held as numbers.

All of it uses numpy's linear algebra. With SciPy's in between, the threads of the two compete, and small
systems take several times as long.
"""

from collections.abc import Iterator

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray

MAX_CELLS = 1_000_000
"""How many cells of a matrix (sets × m) are held as numbers at once."""
ROUNDING = 1e-10
"""Numbers smaller than this, relative to what they are added to, count as rounding errors."""


def weighted_sums(sets: BoolArray, *weights: FloatArray) -> list[FloatArray]:
    """Return, for each vector of weights, the sum for each unit over the sets that contain it."""
    sums = np.zeros((sets.shape[1], len(weights)))
    stacked = np.column_stack(weights)
    for block in _blocks(*sets.shape):
        sums += sets[block].T.astype(float) @ stacked[block]
    return list(sums.T)


def weighted_gram(sets: BoolArray, weights: FloatArray) -> FloatArray:
    """Return, for each pair of units, the sum of the weights of the sets that contain both."""
    gram = np.zeros((sets.shape[1],) * 2)
    roots = np.sqrt(weights)[:, np.newaxis]
    for block in _blocks(*sets.shape):
        z = sets[block] * roots[block]
        gram += z.T @ z
    return gram


def solve_positive(matrix: FloatArray, target: FloatArray) -> FloatArray:
    """Solve a positive definite system; for a singular one, return very nearly the shortest solution."""
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
    """Fit a ridge regression to fewer sets than units, with one unknown for each set instead of each unit.

    `centre` is subtracted from the sets: a matrix row with a value for each unit, or a column with one for
    each set.
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


def _blocks(n_rows: int, n_cells: int) -> Iterator[slice]:
    n_at_once = max(1, MAX_CELLS // max(1, n_cells))
    for start in range(0, n_rows, n_at_once):
        yield slice(start, start + n_at_once)
