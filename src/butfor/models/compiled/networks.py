"""Loops over the neurons of a hidden layer, compiled by numba: what methods of a region do in numpy."""

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.compiled.types import BOOL, FLOAT, INT, compiled, given, made, tuple_of

RELU, TANH = 0, 1  # and logistic, 2
TINY = 1e-12
"""A narrower range is a point."""
CLOSE, COSTS_ROUNDED = 0.01, 1e-12
"""`CLOSE` and `ROUNDED` of lines."""
ROUNDED = 1e-9
"""Ranges that miss each other by less than this, relative to the terms of a neuron, meet in a point."""


@compiled(FLOAT, INT, FLOAT)
def value(kind: int, z: float) -> float:
    """Return φ."""
    if kind == RELU:
        return max(z, 0.0)
    if kind == TANH:
        return float(np.tanh(z))
    return float(1 / (1 + np.exp(-z)))


@compiled(FLOAT, INT, FLOAT)
def slope_at(kind: int, z: float) -> float:
    """Return the slope of φ."""
    if kind == RELU:
        return 1.0 if z > 0 else 0.0
    own: float = value(kind, z)
    return 1 - own * own if kind == TANH else own * (1 - own)


@compiled(tuple_of(FLOAT, FLOAT), INT, FLOAT, FLOAT, FLOAT, FLOAT)
def _line(kind: int, weight: float, slope: float, low: float, high: float) -> tuple[float, float]:
    """Return the offset of the highest line of a slope below weight · φ on a range, and where it touches."""
    lowest, touching = weight * value(kind, low) - slope * low, low
    gap = weight * value(kind, high) - slope * high
    if gap < lowest:
        lowest, touching = gap, high
    if kind == RELU:
        first = second = 0.0
    else:
        share = 1 - slope / weight if kind == TANH else 1 - 4 * slope / weight
        if not 0 <= share < 1:
            return lowest, touching
        first = np.arctanh(np.sqrt(share)) * (1 if kind == TANH else 2)
        second = -first
    for point in (first, second):
        at = min(max(point, low), high)
        gap = weight * value(kind, at) - slope * at
        if gap < lowest:
            lowest, touching = gap, at
    return lowest, touching


@compiled(FLOAT, INT, FLOAT, FLOAT)
def _chord(kind: int, low: float, high: float) -> float:
    """Return the slope of φ from end to end of a range."""
    slope: float = slope_at(kind, low)
    if high - low > TINY:
        slope = (value(kind, high) - value(kind, low)) / (high - low)
    return slope


@compiled(tuple_of(FLOAT, FLOAT), INT, FLOAT, FLOAT, FLOAT)
def _slope_limits(kind: int, weight: float, low: float, high: float) -> tuple[float, float]:
    """Return the smallest and largest slopes worth a try: where weight · φ is concave, only its chord's."""
    chord = weight * _chord(kind, low, high)
    at_end = weight * value(kind, low) - chord * low
    if _line(kind, weight, chord, low, high)[0] >= at_end - TINY * (1 + abs(at_end)):
        return chord, chord
    least = most = chord
    for point in (low, min(max(0.0, low), high), high):
        slope = weight * slope_at(kind, point)
        least, most = min(least, slope), max(most, slope)
    return least, most


@compiled(made(FLOAT, 2), INT, given(FLOAT), given(FLOAT), given(FLOAT))
def layer_lines(kind: int, at: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return slopes and offsets of lines below φ, and of lines above it, as `LayerLines.of` does."""
    lines = np.empty((4, len(at)))
    for j in range(len(at)):
        first, last = min(low[j], high[j]), max(low[j], high[j])
        slope = slope_at(kind, min(max(at[j], first), last))
        for side in range(2):
            sign = 1.0 - 2.0 * side
            least, most = _slope_limits(kind, sign, first, last)
            wanted = min(max(sign * slope, least), most)
            lines[2 * side, j] = sign * wanted
            lines[2 * side + 1, j] = sign * _line(kind, sign, wanted, first, last)[0]
    return lines


@compiled(tuple_of(made(FLOAT), made(FLOAT, 2)), given(FLOAT, 2), given(FLOAT, 2))
def below_sums(lines: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what `LayerLines.below_sums` does; `lines` are slopes and offsets below φ, then those above."""
    n_neurons, n_sums = weights.shape
    constants, slopes = np.zeros(n_sums), np.empty((n_neurons, n_sums))
    for j in range(n_neurons):
        for each in range(n_sums):
            weight = weights[j, each]
            side = 0 if weight > 0 else 2
            slopes[j, each] = lines[side, j] * weight
            constants[each] += lines[side + 1, j] * weight
    return constants, slopes


@compiled(INT, given(FLOAT), INT, made(INT))
def lowest(values: FloatArray, n_lowest: int, order: IntArray) -> int:
    """Write the places of the lowest values, in their order, equal ones in theirs; return how many."""
    n_found = 0
    for i in range(len(values) if n_lowest else 0):
        own = values[i]
        if n_found == n_lowest:
            if not own < values[order[n_found - 1]]:
                continue
            place = n_found - 1
        else:
            place = n_found
            n_found += 1
        while place > 0 and own < values[order[place - 1]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    return n_found


CHECK = (
    tuple_of(BOOL, FLOAT, FLOAT, made(FLOAT), made(BOOL), made(BOOL), made(INT, 2), INT),
    INT,
    FLOAT,
    given(FLOAT),
    made(FLOAT, 2),
    given(FLOAT, 2),
    INT,
    INT,
)


@compiled(*CHECK)
def check(
    kind: int,
    constant: float,
    linear: FloatArray,
    neurons: FloatArray,
    drops: FloatArray,
    k: int,
    n_steps: int,
) -> tuple[bool, float, float, FloatArray, BoolArray, BoolArray, IntArray, int]:
    """Take the steps of `HiddenLayerRegion.minorants`, and have each minorant fix units and propose a set.

    `neurons` are weights, values, least and largest values, sizes and slopes; the slopes are changed.
    Returns whether no set of the region flips; the highest bound, and its minorant; which units every
    flipping set removes, and which none removes; the proposed sets, filled up with −1, and their number.
    """
    weights, z, low, high, slopes = neurons[0], neurons[1], neurons[2], neurons[3], neurons[5].copy()
    n_units, n_neurons = drops.shape
    least, most = np.empty(n_neurons), np.empty(n_neurons)
    for j in range(n_neurons):
        least[j], most[j] = _slope_limits(kind, weights[j], low[j], high[j])
        slopes[j] = min(max(slopes[j], least[j]), most[j])
    highest, best_constant, best = -np.inf, 0.0, np.empty(n_units)
    gone, kept = np.zeros(n_units, dtype=np.bool_), np.zeros(n_units, dtype=np.bool_)
    taken, proposed = np.zeros(n_units, dtype=np.bool_), np.full((n_steps, k), -1)
    uphill, order = np.empty(n_neurons), np.empty(k + 1, dtype=np.int64)
    pace, stalled, n_proposed = 1.0, 0, 0
    for _ in range(n_steps):
        neurons[5] = slopes
        base = constant
        for j in range(n_neurons):
            offset, touching = _line(kind, weights[j], slopes[j], low[j], high[j])
            base += offset + slopes[j] * z[j]
            uphill[j] = z[j] - touching
        c = linear - drops @ slopes
        n_found = lowest(c, k + 1, order)
        bound, n_chosen = base, 0
        for i in range(min(k, n_found)):
            if c[order[i]] < 0:
                bound += c[order[i]]
                n_chosen += 1
        stalled += 1
        if bound > highest:
            highest, best_constant, stalled = bound, base, 0
            best[:] = c
        if bound > 0:
            return True, highest, best_constant, best, gone, kept, proposed, n_proposed
        proposed[n_proposed, :n_chosen] = order[:n_chosen]
        n_proposed += 1
        if k:
            next_best = min(c[order[k]], 0.0) if n_found > k else 0.0
            last = min(c[order[k - 1]], 0.0) if n_found >= k else 0.0
            for i in range(min(k, n_found)):
                if bound - min(c[order[i]], 0.0) + next_best > 0:
                    gone[order[i]] = True
                taken[order[i]] = True
            for i in range(n_units):
                kept[i] = kept[i] or (bound - last + c[i] > 0 and not taken[i])
            for i in range(min(k, n_found)):
                taken[order[i]] = False
        if stalled == 3:
            pace, stalled = 0.6 * pace, 0
        for i in range(n_chosen):
            for j in range(n_neurons):
                uphill[j] -= drops[order[i], j]
        steepness = 0.0
        for j in range(n_neurons):
            if (uphill[j] < 0 and slopes[j] <= least[j]) or (uphill[j] > 0 and slopes[j] >= most[j]):
                uphill[j] = 0.0
            steepness += uphill[j] * uphill[j]
        if steepness < 1e-18:
            break
        for j in range(n_neurons):
            slopes[j] = min(max(slopes[j] - pace * bound / steepness * uphill[j], least[j]), most[j])
    return False, highest, best_constant, best, gone, kept, proposed, n_proposed


@compiled(tuple_of(FLOAT, INT), given(FLOAT), FLOAT, given(FLOAT), FLOAT, FLOAT, any_order=True)
def _above(
    drops: FloatArray, sign: float, costs: FloatArray, multiplier: float, level: float
) -> tuple[float, int]:
    """Return by how much values of sign · drop − multiplier · cost exceed a level, and how many do."""
    total, count = 0.0, 0
    for i in range(len(drops)):
        own = sign * drops[i] - multiplier * costs[i] - level
        total += own if own > 0 else 0.0
        count += own > 0
    return total, count


@compiled(FLOAT, given(FLOAT), FLOAT, given(FLOAT), FLOAT, FLOAT, any_order=True)
def _cost_above(drops: FloatArray, sign: float, costs: FloatArray, multiplier: float, level: float) -> float:
    """Return the costs of the values of sign · drop − multiplier · cost that exceed a level."""
    spent = 0.0
    for i in range(len(drops)):
        spent += costs[i] * (sign * drops[i] - multiplier * costs[i] - level > 0)
    return spent


@compiled(
    tuple_of(FLOAT, FLOAT), given(FLOAT), FLOAT, given(FLOAT), FLOAT, INT, FLOAT, tuple_of(FLOAT, FLOAT)
)
def _largest(
    drops: FloatArray,
    sign: float,
    costs: FloatArray,
    multiplier: float,
    k: int,
    level: float,
    enough: tuple[float, float],
) -> tuple[float, float]:
    """Bound the sum of the k largest positive values of sign · drop − multiplier · cost; also return a level.

    No k values add up to more than k times any level plus what all values exceed it by. So no value needs to
    be sorted: the level that k values exceed, where the bound is the sum itself, is found by means of values
    between a level that is too low and one that is too high. The search begins at a level that is given. It
    ends as soon as the bound is at most the first of `enough`, or the sum is more than the second.
    """
    if k == 0:
        return 0.0, 0.0
    low, low_sum, low_count = 0.0, 0.0, 0  # a level that is too low; the values above it, and their number
    high, high_sum, high_count = np.inf, 0.0, 0
    while True:
        total, count = _above(drops, sign, costs, multiplier, level)
        bound, above = total + k * level, total + count * level
        if (
            count == k
            or (count < k and level == 0)
            or bound <= enough[0]
            or above * min(1.0, k / count) > enough[1]
        ):
            return bound, level
        if count > k:
            low, low_sum, low_count = level, above, count
        else:
            high, high_sum, high_count = level, above, count
        between = 0.0
        if low_count and high < np.inf:
            between = (low_sum - high_sum) / (low_count - high_count)
        elif low_count:  # as if values fell off exponentially
            between = low + (low_sum / low_count - low) * np.log(low_count / k)
        is_close = (high - low) * abs(count - k) <= TINY * total
        if low_count and (is_close or not low < between < high):
            return bound, level
        level = between


@compiled(
    FLOAT,
    given(FLOAT),
    FLOAT,
    given(FLOAT),
    FLOAT,
    INT,
    INT,
    tuple_of(FLOAT, FLOAT),
    tuple_of(FLOAT, FLOAT, FLOAT),
    FLOAT,
)
def _largest_under(
    drops: FloatArray,
    sign: float,
    costs: FloatArray,
    slack: float,
    n_multipliers: int,
    k: int,
    first: tuple[float, float],
    cheapest: tuple[float, float, float],
    enough: float,
) -> float:
    """Bound the sum of at most k drops of a neuron, or of their opposites, as `largest_sums_under` does."""
    best, level = first
    spent = _cost_above(drops, sign, costs, 0.0, level)
    if spent <= slack:
        return best
    left, down, right, up = best, slack - spent, cheapest[0], slack - cheapest[1]
    for _ in range(n_multipliers):
        if not up > down:
            break
        multiplier = max(0.0, (left - right) / (up - down))
        least = left + multiplier * down
        if best - least <= CLOSE * abs(best) or least > enough:
            break
        total, level = _largest(drops, sign, costs, multiplier, k, level, (-np.inf, np.inf))
        spent = _cost_above(drops, sign, costs, multiplier, level)
        best = min(best, multiplier * (slack + cheapest[2]) + total)
        if spent <= slack:
            right, up = total + multiplier * spent, slack - spent
        else:
            left, down = total + multiplier * spent, slack - spent
    return best


@compiled(BOOL, INT, FLOAT, FLOAT)
def _is_straight(kind: int, low: float, high: float) -> bool:
    return kind == RELU and (low >= 0 or high <= 0)


@compiled(tuple_of(made(INT), FLOAT, FLOAT), given(FLOAT), INT, FLOAT)
def _cheapest(costs: FloatArray, k: int, slack: float) -> tuple[IntArray, float, float]:
    """Return the cheapest set of at most k units, what it costs, and the rounding of sums of costs."""
    order = np.empty(k, dtype=np.int64)
    order = order[: lowest(costs, k, order)]
    order = order[costs[order] < 0]
    return order, costs[order].sum(), COSTS_ROUNDED * (np.abs(costs).sum() + abs(slack))


@compiled(made(FLOAT), given(FLOAT, 2), INT, given(FLOAT), FLOAT, INT)
def largest_sums(
    by_column: FloatArray, k: int, costs: FloatArray, slack: float, n_multipliers: int
) -> FloatArray:
    """Do what `largest_sums` of lines does, or, with multipliers, what `largest_sums_under` does."""
    sums = np.empty(len(by_column))
    order, cost, rounded = _cheapest(costs, k if n_multipliers else 0, slack)
    for j in range(len(by_column)):
        own = by_column[j]
        first = _largest(own, 1.0, costs, 0.0, k, 0.0, (-np.inf, np.inf))
        sums[j] = first[0]
        if n_multipliers:
            gain = 0.0
            for unit in order:
                gain += own[unit]
            cheapest = gain, cost, rounded
            sums[j] = _largest_under(own, 1.0, costs, slack, n_multipliers, k, first, cheapest, np.inf)
    return sums


@compiled(tuple_of(FLOAT, FLOAT), BOOL, BOOL, FLOAT, given(FLOAT), given(FLOAT), INT, tuple_of(FLOAT, FLOAT))
def _range_by_count(
    has_kink: bool,
    is_convex: bool,
    z: float,
    drops: FloatArray,
    costs: FloatArray,
    k: int,
    known: tuple[float, float],
) -> tuple[float, float]:
    """Narrow the range of a neuron to what at most k removals reach.

    Once it is straight, nothing else matters. If it bends upwards, nothing but that ever matters.
    """
    low, high = known
    if not is_convex or z >= 0:
        enough = (z if has_kink else -np.inf, z if is_convex else np.inf)
        low = max(low, z - _largest(drops, 1.0, costs, 0.0, k, 0.0, enough)[0])
    if not is_convex or z < 0:
        enough = (-z if has_kink else -np.inf, -z if is_convex else np.inf)
        high = min(high, z + _largest(drops, -1.0, costs, 0.0, k, 0.0, enough)[0])
    return low, high


@compiled(
    tuple_of(FLOAT, FLOAT),
    BOOL,
    BOOL,
    FLOAT,
    given(FLOAT),
    given(FLOAT),
    INT,
    tuple_of(FLOAT, FLOAT),
    tuple_of(FLOAT, INT, FLOAT, FLOAT),
    given(INT),
)
def _range_by_cost(
    has_kink: bool,
    is_convex: bool,
    z: float,
    drops: FloatArray,
    costs: FloatArray,
    k: int,
    known: tuple[float, float],
    limits: tuple[float, int, float, float],
    cheapest: IntArray,
) -> tuple[float, float]:
    """Narrow it to what sets reach whose costs are at most a slack.

    `limits` are the slack, how many multipliers are tried, the cost of the cheapest set, and its rounding.
    """
    low, high = known
    slack, n_multipliers, least_cost, rounded = limits
    gain = 0.0
    for unit in cheapest:
        gain += drops[unit]
    for sign in (1.0, -1.0):
        first = _largest(drops, sign, costs, 0.0, k, 0.0, (sign * z if has_kink else -np.inf, np.inf))
        most = _largest_under(
            drops,
            sign,
            costs,
            slack,
            n_multipliers,
            k,
            first,
            (sign * gain, least_cost, rounded),
            sign * z if is_convex else np.inf,
        )
        if sign > 0:
            low = max(low, z - most)
        else:
            high = min(high, z + most)
        if has_kink and (low >= 0 or high <= 0):
            break
    return low, high


NARROWED = (
    tuple_of(BOOL, FLOAT, made(FLOAT), made(FLOAT, 2), made(FLOAT, 2)),
    INT,
    FLOAT,
    given(FLOAT),
    given(FLOAT, 2),
    given(FLOAT, 2),
    INT,
    given(FLOAT),
    FLOAT,
    INT,
)


@compiled(*NARROWED)
def narrowed(
    kind: int,
    constant: float,
    linear: FloatArray,
    neurons: FloatArray,
    drops: FloatArray,
    k: int,
    costs: FloatArray,
    slack: float,
    n_multipliers: int,
) -> tuple[bool, float, FloatArray, FloatArray, FloatArray]:
    """Narrow the ranges of neurons to what at most k removals reach, and fold those that are straight there.

    `neurons` are weights, values, least and largest values, sizes and slopes, one array below the other. With
    multipliers, only sets count whose costs add up to at most the slack. Returns whether some set is left,
    and constant, linear terms, neurons and drops (units × neurons) of the region then.
    """
    n_units, n_neurons = drops.shape
    by_neuron = np.ascontiguousarray(drops.T)
    weights, z, low, high, size = neurons[0], neurons[1], neurons[2].copy(), neurons[3].copy(), neurons[4]
    bent = np.ones(n_neurons, dtype=np.bool_)
    linear = linear.copy()
    is_left = True
    order, cost, rounded = _cheapest(costs, k if n_multipliers else 0, slack)
    for j in range(n_neurons):
        own, has_kink, is_convex = by_neuron[j], kind == RELU, kind == RELU and weights[j] >= 0
        known = max(low[j], -2 * size[j]), min(high[j], 2 * size[j])
        if n_multipliers:
            limits = slack, n_multipliers, cost, rounded
            known = _range_by_cost(has_kink, is_convex, z[j], own, costs, k, known, limits, order)
        else:
            known = _range_by_count(has_kink, is_convex, z[j], own, costs, k, known)
        low[j], high[j] = known
        if low[j] > high[j]:
            if low[j] - high[j] > ROUNDED * size[j]:
                is_left = False
            low[j], high[j] = high[j], low[j]
        if _is_straight(kind, low[j], high[j]):
            bent[j] = False
            slope = weights[j] * _chord(kind, low[j], high[j])
            constant += weights[j] * value(kind, low[j]) + slope * (z[j] - low[j])
            for i in range(n_units):
                linear[i] -= slope * own[i]
    left = np.flatnonzero(bent)
    after = np.empty((6, len(left)))
    for place in range(len(left)):
        j = left[place]
        after[:, place] = weights[j], z[j], low[j], high[j], size[j], neurons[5, j]
    of_left = np.empty((n_units, len(left)))
    for i in range(n_units):
        for place in range(len(left)):
            of_left[i, place] = drops[i, left[place]]
    return is_left, constant, linear, after, of_left
