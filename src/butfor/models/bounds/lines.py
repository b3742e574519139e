"""Lines below weight · φ on a range, and bounds on sums of a few terms: what all bounds are made of."""

from collections.abc import Callable

import numpy as np

from butfor.models.arrays import FloatArray
from butfor.models.compiled import network_kernels
from butfor.models.formula.activations import Activation

MULTIPLIERS = 6
"""How many Lagrange multipliers are tried for the range of an affine function at most."""
CLOSE = 0.01
"""No more are tried once the bound is higher than the best one by less than this share."""
ROUNDED = 1e-12
"""By how much sums of costs may be off by rounding, relative to their size: multipliers can be very large."""


def chord_slopes(activation: Activation, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the slopes of φ from end to end of each range."""
    width = high - low
    wide = width > 1e-12
    rise = activation.value(high) - activation.value(low)
    return np.where(wide, rise / np.where(wide, width, 1.0), activation.slope(low))


def highest_lines(
    activation: Activation, weights: FloatArray, slopes: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return, for each slope, the offset of the highest line below weight · φ, and where it touches.

    The slope may be any. The offset is the least value of weight · φ(z) − slope · z over the range, which
    lies at an end or at a critical point.
    """
    points = _where_lines_touch(activation, weights, slopes, low, high)
    return _lowest(weights * activation.value(points) - slopes * points, points)


def lines_below(
    activation: Activation, weights: FloatArray, low: FloatArray, high: FloatArray
) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
    """Return `highest_lines` as a function of the slopes alone, for many calls."""
    if not activation.only_kinks:
        return lambda slopes: highest_lines(activation, weights, slopes, low, high)
    points = _where_lines_touch(activation, weights, weights, low, high)
    values = weights * activation.value(points)
    return lambda slopes: _lowest(values - slopes * points, points)


def _where_lines_touch(
    activation: Activation, weights: FloatArray, slopes: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the points at which the highest line can touch (points × neurons)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        critical = np.clip(activation.critical(slopes / weights), low, high)
    critical = np.where(np.isnan(critical), low, critical)
    return np.concatenate([low[np.newaxis], high[np.newaxis], critical])


def _lowest(gaps: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    lowest, neurons = gaps.argmin(axis=0), np.arange(gaps.shape[1])
    return gaps[lowest, neurons], points[lowest, neurons]


def slope_limits(
    activation: Activation, weights: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest slopes worth a try: where weight · φ is concave, only its chord's."""
    chord = weights * chord_slopes(activation, low, high)
    offsets, _ = highest_lines(activation, weights, chord, low, high)
    at_end = weights * activation.value(low) - chord * low
    concave = offsets >= at_end - 1e-12 * (1 + np.abs(at_end))
    points = np.stack([low, np.clip(0.0, low, high), high])  # 0: where tanh and logistic are steepest
    slopes = np.concatenate([weights * activation.slope(points), chord[np.newaxis]])
    return (
        np.where(concave, chord, slopes.min(axis=0)),
        np.where(concave, chord, slopes.max(axis=0)),
    )


def largest_sums(terms: FloatArray, k: int) -> FloatArray:
    """Return the sum of the k largest positive terms of each column.

    It is never compiled: bounds of texts need it too, and loading compiled loops takes longer than they do.
    """
    if k == 0:
        return np.zeros(terms.shape[1])
    by_column = np.ascontiguousarray(terms.T)  # contiguous, since each column is partitioned
    if k < len(terms):
        by_column = np.partition(by_column, len(terms) - k, axis=1)[:, -k:]
    return np.asarray(np.maximum(by_column, 0.0).sum(axis=1))


def largest_sums_under(
    terms: FloatArray, costs: FloatArray, most: float, k: int, check_deadline: Callable[[], None]
) -> FloatArray:
    """Bound, for each column, the sum of at most k terms whose costs add up to at most `most`.

    For any multiplier μ ≥ 0 that sum is at most μ · most plus the k largest positive values of term − μ ·
    cost. This is convex in μ: it lies above each of its tangents, and above the line of the cheapest set. The
    next multiplier is the one at which the line to the left meets the line to the right (Kelley).
    """
    by_column = np.ascontiguousarray(terms.T)  # contiguous, since each column is partitioned
    k = min(k, len(terms))
    if k == 0:
        return np.zeros(len(by_column))
    kernels = network_kernels()
    if kernels is not None:
        check_deadline()
        return np.asarray(kernels.largest_sums(by_column, k, costs, most, MULTIPLIERS))
    cheapest = np.argsort(costs, kind="stable")[:k]
    cheapest = cheapest[costs[cheapest] < 0]
    rounded = ROUNDED * (np.abs(costs).sum() + abs(most))
    best, spent = _k_largest(by_column, costs, k)
    left, down = best, most - spent
    right, up = by_column[:, cheapest].sum(axis=1), np.full(len(best), most - costs[cheapest].sum())
    is_open = down < 0
    for _ in range(MULTIPLIERS):
        check_deadline()
        is_open = is_open & (up > down)
        multipliers = np.maximum(0.0, (left - right) / np.where(is_open, up - down, 1.0))
        is_open = is_open & (best - (left + multipliers * down) > CLOSE * np.abs(best))
        if not is_open.any():
            break
        total, spent = _k_largest(by_column - multipliers[:, np.newaxis] * costs, costs, k)
        bound = multipliers * (most + rounded) + total
        best = np.where(is_open, np.minimum(best, bound), best)
        at_zero, is_enough = total + multipliers * spent, spent <= most
        right, up = np.where(is_enough, at_zero, right), np.where(is_enough, most - spent, up)
        left, down = np.where(is_enough, left, at_zero), np.where(is_enough, down, most - spent)
    return best


def _k_largest(by_column: FloatArray, costs: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the k largest positive values of each line, and what they cost."""
    n = by_column.shape[1]
    largest = np.maximum(np.partition(by_column, n - k, axis=1)[:, n - k :], 0.0)
    taken = (by_column > 0) & (by_column >= largest.min(axis=1)[:, np.newaxis])
    return largest.sum(axis=1), np.where(taken, costs, 0.0).sum(axis=1)
