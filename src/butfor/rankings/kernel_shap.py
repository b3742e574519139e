"""Kernel SHAP's weights (Lundberg and Lee 2017): Shapley values, exact where all subsets can be scored."""

import warnings
from itertools import combinations
from math import comb

import numpy as np

from butfor._checks import require_count
from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.local.base import LocalModel
from butfor.rankings.sampling import random_sets
from butfor.rankings.sums import ROUNDING, ridge_of_few, solve_positive, weighted_gram, weighted_sums

WELL_COVERED = 0.2
"""If at least this share of all subsets is scored, no units are selected."""
FEW = 2
"""With fewer subsets than so many times the units, the selection of a lasso is arbitrary."""
MAX_STEPS = 500
"""How many steps of the lasso's path are computed."""
DRAWS_PER_SAMPLE = 4
"""How many random sets are drawn at most for each one that is needed, since sets may repeat."""


def kernel_shap_weights(
    local: LocalModel, n_samples: int = 5000, seed: int = 0, *, any_scale: bool = False
) -> FloatArray:
    """Estimate the Shapley value of each unit: the weights sum to the row's score minus the empty row's.

    Subsets are scored from the outside in: those of one unit and all but one, of two and all but two, …, as
    far as `n_samples` go, and the rest at random. If all subsets are scored, the values are exact. If less
    than a fifth are, units are first selected by a lasso, stopped by Akaike's criterion.

    The lasso treats covariances below 1e-7 as zero. So very small scores, as those of a rare class often are,
    leave no unit, and **all weights are zero**: the published method fails on unbalanced data.

    Parameters
    ----------
    local : LocalModel
        The model seen from the row.
    n_samples : int, default=5000
        How many subsets are scored, besides the row and the empty row.
    seed : int, default=0
        The seed of the random subsets.
    any_scale : bool, default=False
        If all weights are zero, select once more, on scores of unit size.

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
    >>> kernel_shap_weights(local).round(6)
    array([ 3.,  2., -1.])
    """
    require_count("n_samples", n_samples, at_least=2)
    m = local.n_features
    if m == 0:
        return np.zeros(0)
    row = local.evidence_of_row()
    if m == 1:
        return row - local.evidence(np.ones((1, 1), dtype=bool))
    present, kernel = design(m, n_samples, np.random.default_rng(seed))
    scores = local.evidence(np.vstack([~present, np.ones((1, m), dtype=bool)]))
    local.check_deadline()  # nothing below checks it
    y, whole = scores[:-1] - scores[-1], row - scores[-1]
    select = len(present) / n_subsets(m) < WELL_COVERED
    weights = solve(present, kernel, y, whole, select=select)
    unit = max(np.abs(y).max(), abs(whole))
    if any_scale and unit > 0 and not weights.any():
        weights = unit * solve(present, kernel, y / unit, whole / unit, select=select)
    return weights


def n_subsets(n_features: int) -> int:
    """Return the number of subsets apart from the empty one and the whole."""
    return int(2**n_features) - 2


def design(n_features: int, n_samples: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Return the subsets to score, as which units are present, and their weights in the regression."""
    m = n_features
    n_samples = min(n_samples, n_subsets(m))
    sizes = np.arange(1, m // 2 + 1)  # each stands also for the sets of all but so many units
    paired = sizes < m - sizes
    shares = 1 / (sizes * (m - sizes))
    shares[paired] *= 2
    shares /= shares.sum()

    sets: list[BoolArray] = []
    weights: list[FloatArray] = []
    n_left = n_samples
    rest = 1.0  # the weight of all sizes that are not enumerated yet
    n_full = 0
    for size, share in zip(sizes, shares, strict=True):
        n_of_size = comb(m, int(size))
        n_needed = n_of_size * (1 + paired[n_full])
        if n_left * share / rest < n_needed * (1 - 1e-8):
            break
        of_size = _all_sets(m, int(size))
        sets += [of_size, ~of_size] if paired[n_full] else [of_size]
        weights.append(np.full(n_needed, share / n_needed))
        n_left -= n_needed
        rest -= share
        n_full += 1
    if n_full < len(sizes):
        odds = np.where(paired, shares / 2, shares)[n_full:]  # a set and its complement are drawn as one
        drawn, counts = _draw(m, n_left, sizes[n_full:], odds / odds.sum(), rng)
        sets.append(drawn)
        weights.append(counts * shares[n_full:].sum() / counts.sum())
    return np.vstack(sets), np.concatenate(weights)


def _all_sets(n_features: int, size: int) -> BoolArray:
    members = np.array(list(combinations(range(n_features), size)))
    sets = np.zeros((len(members), n_features), dtype=bool)
    np.put_along_axis(sets, members, True, axis=1)
    return sets


def _draw(
    n_features: int, n_sets: int, sizes: IntArray, odds: FloatArray, rng: np.random.Generator
) -> tuple[BoolArray, FloatArray]:
    """Draw different sets at random, each with its complement, and count how often each was drawn."""
    drawn = np.zeros((0, n_features), dtype=bool)
    n_draws = DRAWS_PER_SAMPLE * n_sets
    while True:
        n_more = min(max(n_sets // 2, 1), n_draws - len(drawn))
        more = random_sets(rng.choice(sizes, size=n_more, p=odds), n_features, rng)
        drawn = np.vstack([drawn, more])
        keys = np.packbits(drawn, axis=1)
        _, first, which = np.unique(keys.view(f"V{keys.shape[1]}"), return_index=True, return_inverse=True)
        new = np.zeros(len(drawn), dtype=int)
        new[first] = np.where(2 * drawn[first].sum(axis=1) < n_features, 2, 1)  # with the complement
        n_so_far = new.cumsum()
        if n_so_far[-1] >= n_sets or len(drawn) == n_draws:
            break
    n_used = np.searchsorted(n_so_far, n_sets) + 1
    counts = np.bincount(which.ravel()[:n_used], minlength=len(first))[which.ravel()]
    once = np.flatnonzero(new[:n_used])
    twice = once[new[once] == 2]
    sets = np.vstack([drawn[once], ~drawn[twice]])[:n_sets]
    return sets, np.concatenate([counts[once], counts[twice]])[:n_sets].astype(float)


def solve(
    present: BoolArray, kernel: FloatArray, scores: FloatArray, whole: float, *, select: bool
) -> FloatArray:
    """Fit weights that sum to `whole` to the scores of subsets, both relative to the empty row's.

    With `select`, units that the fit does not need get no weight. That requires many more subsets than units.
    With few subsets the weights are drawn towards equal ones instead, as strongly as LIME's towards zero.
    """
    n, m = present.shape
    if select and n < FEW * m:
        size = present.sum(axis=1)
        share = (size / m)[:, np.newaxis]
        unequal = ridge_of_few(present, kernel, share, scores - whole * size / m, alpha=1 / n)
        even: FloatArray = whole / m + unequal - unequal.mean()
        return even
    gram = weighted_gram(present, kernel)
    (held_y,) = weighted_sums(present, kernel * scores)
    chosen = _select(present, kernel, scores, whole, gram) if select else np.arange(m)
    weights = np.zeros(m)
    if len(chosen):
        # The last weight is the rest of the sum; the others are a least squares fit.
        others, last = chosen[:-1], chosen[-1]
        with_last = gram[others, last]
        matrix = gram[np.ix_(others, others)] - with_last[:, np.newaxis] - with_last + gram[last, last]
        target = held_y[others] - held_y[last] - whole * (with_last - gram[last, last])
        weights[others] = solve_positive(matrix, target)
        weights[last] = whole - weights.sum()
        weights[np.abs(weights) < ROUNDING * np.abs(scores).max()] = 0
    return weights


def _select(
    present: BoolArray, kernel: FloatArray, scores: FloatArray, whole: float, gram: FloatArray
) -> IntArray:
    """Select units by a lasso, stopped by Akaike's criterion.

    It is fitted to every subset twice, so that the weights are drawn towards their sum: to the units that are
    present, and to those that are absent (as minus one) against the difference from the whole. These rows are
    never built, since the sums over them follow from sums over the subsets.
    """
    n, m = present.shape
    n_rows = 2 * n
    size = present.sum(axis=1)
    missing = scores - whole
    w, w_absent = kernel * (m - size), kernel * size
    root, root_absent = np.sqrt(w), np.sqrt(w_absent)
    held_absent, held_roots, held_y = weighted_sums(
        present, w_absent, root + root_absent, w * scores + w_absent * missing
    )
    mean = (held_roots - root_absent.sum()) / n_rows
    y_mean = (root @ scores + root_absent @ missing) / n_rows
    gram = m * gram - held_absent[:, np.newaxis] - held_absent + w_absent.sum()
    gram -= n_rows * np.outer(mean, mean)
    target = held_y - w_absent @ missing - n_rows * mean * y_mean
    variance = w @ scores**2 + w_absent @ missing**2 - n_rows * y_mean**2
    if variance <= 0:  # all scores are the same
        return np.arange(0)
    scale = np.sqrt(gram.diagonal() / n_rows)
    gram /= np.outer(scale, scale)
    target /= scale

    path = _lasso_path(gram, target, n_rows)
    left = variance - 2 * target @ path + np.einsum("ik,ik->k", path, gram @ path)
    left_by_all = max(variance - target @ solve_positive(gram, target), ROUNDING * variance)
    noise = left_by_all / (n_rows - m - 1)
    n_selected = (np.abs(path) > np.finfo(float).eps).sum(axis=0)
    return np.flatnonzero(path[:, np.argmin(left / noise + 2 * n_selected)])


def _lasso_path(gram: FloatArray, target: FloatArray, n_rows: int) -> FloatArray:
    """Return the coefficients of the lasso at every step of its path, one step in each column."""
    from sklearn.exceptions import ConvergenceWarning  # slow to import, and not always needed
    from sklearn.linear_model import lars_path_gram

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it stops at rounding errors
            path: FloatArray = lars_path_gram(
                target, gram, n_samples=n_rows, max_iter=MAX_STEPS, alpha_min=0.0, method="lasso"
            )[2]
    except ValueError:  # it may fail where the matrix is nearly singular
        path = solve_positive(gram, target)[:, np.newaxis]
    return path
