"""Rows of kernel machines, explained by compiled loops from beginning to end.

They take the steps of the search `auto` as far as it goes without splitting regions: single removals, the
ranking by them, and one region of all smaller sets. Rows that need more, or whose scores are too close to the
threshold, are left to it.
"""

from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.compiled.kernel_machines import (
    CHECK,
    CURVE,
    FACTORED,
    POWER,
    SUMS,
    narrowed,
    slope_at,
    value,
    value_after,
)
from butfor.models.compiled.networks import lowest
from butfor.models.compiled.sets import (
    FLIPS,
    OPEN,
    REFUTED,
    UNSURE,
    chosen_units,
    is_known,
    n_sets,
    next_places,
)
from butfor.models.compiled.types import (
    BOOL,
    FLOAT,
    INT,
    INT32,
    NOTHING,
    compiled,
    function_of,
    given,
    made,
    tuple_of,
)

MAX_EXPONENT = 300.0
"""Rows whose kernels could overflow or vanish are left out."""

_SPARSE = tuple_of(given(INT), given(INT), given(FLOAT))
"""A sparse matrix: where rows begin, columns, and numbers."""
_ROOM = tuple_of(made(FLOAT), made(FLOAT), made(INT), made(INT))
"""For each neuron: z, its value, a mark; and the numbers of those that are marked."""
_SCORER = tuple_of(CURVE, SUMS, given(FLOAT), FLOAT, FLOAT, _ROOM)
"""The curve; the sums: how far the score is above the limit of proofs, divided by the common factor; the
logarithm of what each unit takes off that factor; the limit of proofs; the sum for the row; and room."""
_LIMITS = tuple_of(FLOAT, FLOAT)
"""Scores below the first flip, scores above the second do not."""
_HABITS = tuple_of(INT, INT, FLOAT, INT)
"""Of a proof: `ROUNDS`, `FEW_SETS`, `PROGRESS` and `CANDIDATES` of regions."""
_CHECK = function_of(*CHECK)


@compiled(FLOAT, _SCORER, given(INT))
def _score_without(scorer: Any, removed: IntArray) -> float:
    """Return the score without some units: only the neurons that they move are computed anew."""
    curve, (_, weights, z, values, (starts, neurons, drops, factors)), common, limit, total, room = scorer
    left, multiplied, marks, moved = room
    n_moved, exponent = 0, 0.0
    for unit in removed:
        exponent -= common[unit]
        for entry in range(starts[unit], starts[unit + 1]):
            j = neurons[entry]
            if not marks[j]:
                marks[j], left[j], multiplied[j], moved[n_moved] = 1, z[j], values[j], j
                n_moved += 1
            left[j] -= drops[entry]
            multiplied[j] *= factors[entry]
    for place in range(n_moved):
        j = moved[place]
        total += weights[j] * (value_after(curve, multiplied[j], left[j]) - values[j])
        marks[j] = 0
    return float(limit + np.exp(exponent) * total)


@compiled(NOTHING, _SCORER, given(INT), made(FLOAT))
def _scores_on_the_way(scorer: Any, removed: IntArray, scores: FloatArray) -> None:
    """Write the scores without the first unit, the first two, …"""
    curve, (_, weights, z, values, (starts, neurons, drops, factors)), common, limit, total, _ = scorer
    left, now, exponent = z.copy(), values.copy(), 0.0
    for size in range(len(removed)):
        unit = removed[size]
        exponent -= common[unit]
        for entry in range(starts[unit], starts[unit + 1]):
            j = neurons[entry]
            left[j] -= drops[entry]
            after = value_after(curve, now[j] * factors[entry], left[j])
            total += weights[j] * (after - now[j])
            now[j] = after
        scores[size] = limit + np.exp(exponent) * total


@compiled(INT, _SCORER, _LIMITS, given(INT), given(INT), INT, INT, made(INT))
def _try_all(
    scorer: Any,
    limits: Any,
    removed: IntArray,
    free: IntArray,
    smallest: int,
    largest: int,
    answer: IntArray,
) -> int:
    """Score all sets that remove some units and free ones, as many as `smallest` to `largest`.

    The smallest that flips, of equally small ones the strongest, is written to the answer, its size first.
    """
    best = np.inf
    for size in range(smallest, min(largest, len(free)) + 1):
        places = np.arange(size)
        units = np.empty(len(removed) + size, dtype=np.int64)
        units[: len(removed)] = removed
        is_left = True
        while is_left:
            for i in range(size):
                units[len(removed) + i] = free[places[i]]
            score = _score_without(scorer, units)
            if not (score < limits[0] or score > limits[1]):
                return UNSURE
            if score < limits[0] and score < best and len(units):
                best = score
                answer[0] = len(units)
                answer[1 : 1 + len(units)] = units
            is_left = next_places(places, len(free))
        if best < np.inf:
            return FLIPS
    return REFUTED


@compiled(tuple_of(INT, INT), _CHECK, _SCORER, _LIMITS, INT, INT, _HABITS, made(INT))
def _search_region(
    check: Any, scorer: Any, limits: Any, k: int, beyond: int, habits: Any, answer: IntArray
) -> tuple[int, int]:
    """Narrow the region of all sets of at most k units; sets of at most `beyond` units do not flip.

    Returns what is known then, and how many sets were scored; a set that flips is written to the answer.
    """
    curve, sums = scorer[0], scorer[1]
    rounds, few_sets, progress, n_candidates = habits
    n_units = len(sums[4][0]) - 1
    free, removed = np.arange(n_units), np.empty(0, dtype=np.int64)
    candidate = np.zeros(n_units, dtype=np.bool_)
    masks = np.zeros((n_candidates, n_units), dtype=np.bool_)
    gap, n_scored = np.inf, 0
    for _ in range(rounds):
        refuted, highest, _c, _b, gone, kept, proposed, n_proposed = check(
            curve, sums, k, candidate, n_candidates
        )
        if refuted:
            return REFUTED, n_scored
        smallest = max(0, beyond + 1 - len(removed))
        n_left = n_sets(len(free), smallest, k, few_sets)
        if n_left <= few_sets:
            return _try_all(scorer, limits, removed, free, smallest, k, answer), n_scored + n_left
        strongest, answer[0] = np.inf, 0
        for each in range(n_proposed):
            n_chosen = 0
            while n_chosen < k and proposed[each, n_chosen] >= 0:
                n_chosen += 1
            masks[each, : len(free)] = False
            for i in range(n_chosen):
                masks[each, proposed[each, i]] = True
            if len(removed) + n_chosen <= beyond or is_known(masks, each, len(free)):
                continue
            units = chosen_units(removed, free, masks[each])
            score = _score_without(scorer, units)
            n_scored += 1
            if not (score < limits[0] or score > limits[1]):
                return UNSURE, n_scored
            is_smaller = answer[0] == 0 or len(units) < answer[0]
            if score < limits[0] and (is_smaller or (len(units) == answer[0] and score < strongest)):
                strongest, answer[0] = score, len(units)
                answer[1 : 1 + len(units)] = units
        if answer[0]:
            return FLIPS, n_scored
        n_free, n_stay = len(free), 0
        for i in range(n_free):
            kept[i] = kept[i] and not gone[i]
            k -= gone[i]
            masks[0, i] = not (gone[i] or kept[i])
            if masks[0, i]:
                candidate[n_stay] = candidate[i]
                n_stay += 1
        if k < 0:
            return REFUTED, n_scored
        k, candidate = min(k, n_stay), candidate[:n_stay]
        sums = narrowed(curve, sums, gone, kept)
        removed, free = chosen_units(removed, free, gone), chosen_units(removed[:0], free, masks[0])
        if -highest > progress * gap and len(free) > progress * n_free:
            break
        gap = -highest
    smallest = max(0, beyond + 1 - len(removed))
    n_left = n_sets(len(free), smallest, k, few_sets)
    if n_left > few_sets:
        return OPEN, n_scored
    return _try_all(scorer, limits, removed, free, smallest, k, answer), n_scored + n_left


@compiled(tuple_of(BOOL, INT), _CHECK, _SCORER, _LIMITS, INT, _HABITS, FLOAT, made(INT))
def _explain(
    check: Any, scorer: Any, limits: Any, max_size: int, habits: Any, own: float, answer: IntArray
) -> tuple[bool, int]:
    """Write the smallest set of at most `max_size` units that flips to the answer, its size first, or zero.

    Returns whether that is proven, and how many sets were scored; `own` is the score of the row.
    """
    n_units = len(scorer[2])
    losses, strongest, n_ranked = np.empty(n_units), np.inf, 0
    one = np.empty(1, dtype=np.int64)
    answer[0] = 0
    for unit in range(n_units):
        one[0] = unit
        score = _score_without(scorer, one)
        if not (score < limits[0] or score > limits[1]):
            return False, unit
        if score < limits[0] and score < strongest:
            strongest, answer[0], answer[1] = score, 1, unit
        losses[unit] = score - own
        n_ranked += losses[unit] < 0
    if answer[0]:
        return True, n_units
    n_ranked = min(n_ranked, max_size)
    ranking = np.empty(n_ranked, dtype=np.int64)
    lowest(losses, n_ranked, ranking)
    scores = np.empty(n_ranked)
    _scores_on_the_way(scorer, ranking, scores)
    for size in range(1, n_ranked + 1):
        if not (scores[size - 1] < limits[0] or scores[size - 1] > limits[1]):
            return False, n_units + size
        if scores[size - 1] < limits[0]:
            answer[0] = size
            answer[1 : 1 + size] = ranking[:size]
            break
    n_scored = n_units + n_ranked
    better = np.empty(max_size + 1, dtype=np.int64)
    k = answer[0] - 1 if answer[0] else min(max_size, n_units)
    while k >= 2:
        known, n_more = _search_region(check, scorer, limits, k, 1, habits, better)
        n_scored += n_more
        if known == REFUTED:
            break
        if known != FLIPS:
            return False, n_scored
        answer[:] = better
        k = answer[0] - 1
    return True, n_scored


_MACHINE = tuple_of(CURVE, FLOAT, _SPARSE, given(FLOAT), given(FLOAT), FLOAT)
"""The curve; γ of the rbf kernel; the support vectors by columns, times γ for other kernels; their squared
norms, or what is added to products; the weights of the kernels; and what is added to their sum."""
_ROW = tuple_of(given(INT32), given(FLOAT), given(BOOL))
"""Of one row: columns, values, and which may be removed."""


@compiled(FLOAT, _MACHINE, _ROW, FLOAT, made(FLOAT), made(FLOAT))
def _place(machine: Any, row: Any, precision: float, z: FloatArray, values: FloatArray) -> float:
    """Write z and φ(z) of all neurons at a row; return how far its score may be off by rounding."""
    curve, gamma, (starts, neurons, numbers), biases, weights, bias = machine
    columns, entries, _ = row
    products, sizes = np.zeros(len(z)), np.zeros(len(z))
    squares = 0.0
    for entry in range(len(columns)):
        squares += entries[entry] * entries[entry]
        for place in range(starts[columns[entry]], starts[columns[entry] + 1]):
            product = entries[entry] * numbers[place]
            products[neurons[place]] += product
            sizes[neurons[place]] += abs(product)
    error = outputs = 0.0
    for j in range(len(z)):
        if curve[0] == FACTORED:
            z[j] = -gamma * (squares - 2 * products[j] + biases[j])
            size = gamma * (squares + biases[j] + 2 * sizes[j])
        else:
            z[j], size = products[j] + biases[j], sizes[j] + abs(biases[j])
        values[j] = value(curve, z[j])
        largest = steepest = 1.0
        if curve[0] == POWER:
            largest = value(curve, size)
            steepest = slope_at(curve, largest, size)
        error += abs(weights[j]) * precision * (steepest * size + largest)
        outputs += abs(weights[j]) * largest
    error += len(z) * precision * (outputs + abs(bias))
    return float(error)


@compiled(
    tuple_of(SUMS, made(FLOAT), INT), _MACHINE, _ROW, given(FLOAT), given(FLOAT), FLOAT, FLOAT, given(INT)
)
def _seen(
    machine: Any, row: Any, z: FloatArray, values: FloatArray, sign: float, limit: float, units: IntArray
) -> tuple[Any, FloatArray, int]:
    """Return the sums of the neurons that units of a row move, and what units take off the common factor.

    As in `SparseKernel`, what is added to the kernels becomes one more neuron where they have a common
    factor. Also returns how many products of pairs of drops a minorant takes, and pairs there are.
    """
    curve, gamma, (starts, neurons, numbers), _, weights, bias = machine
    columns, entries, _ = row
    is_rbf = curve[0] == FACTORED
    counts, n_entries = np.zeros(len(z), dtype=np.int64), 0
    for unit in units:
        for place in range(starts[columns[unit]], starts[columns[unit] + 1]):
            counts[neurons[place]] += 1
            n_entries += 1
    of_weights, of_z, of_values = np.empty(len(z) + 1), np.empty(len(z) + 1), np.empty(len(z) + 1)
    constant, n_moved, n_products = sign * bias - limit, 0, len(units) * len(units)
    if is_rbf:  # the constant comes first, as it moves with each unit
        n_products *= 2
        n_entries += len(units)
        of_weights[0], of_z[0], of_values[0], n_moved, constant = constant, 0.0, 1.0, 1, 0.0
    places = counts.copy()
    for j in range(len(z)):
        n_products += counts[j] * counts[j]
        if counts[j]:
            of_weights[n_moved], of_z[n_moved], of_values[n_moved] = sign * weights[j], z[j], values[j]
            places[j] = n_moved
            n_moved += 1
        else:
            constant += sign * weights[j] * values[j]
    after, common = np.zeros(len(units) + 1, dtype=np.int64), np.zeros(len(units))
    of_neurons, of_drops, factors = (
        np.zeros(n_entries, dtype=np.int64),
        np.empty(n_entries),
        np.ones(n_entries),
    )
    last = 0
    for i in range(len(units)):
        own = entries[units[i]]
        if is_rbf:
            common[i] = -gamma * own * own
            of_drops[last] = -common[i]
            last += 1
        scale = 2 * gamma * own if is_rbf else own
        for place in range(starts[columns[units[i]]], starts[columns[units[i]] + 1]):
            of_neurons[last], of_drops[last] = places[neurons[place]], scale * numbers[place]
            last += 1
        after[i + 1] = last
    for entry in range(n_entries if is_rbf else 0):
        factors[entry] = np.exp(-of_drops[entry])
    drops = after, of_neurons, of_drops, factors
    return (constant, of_weights[:n_moved], of_z[:n_moved], of_values[:n_moved], drops), common, n_products


@compiled(BOOL, SUMS, given(FLOAT), FLOAT)
def _is_safe(sums: Any, common: FloatArray, error: float) -> bool:
    """Return whether no factor overflows, or magnifies what rounding leaves of terms beyond the error."""
    _, weights, z, values, (_, neurons, drops, _) = sums
    low, high = z.copy(), z.copy()
    for entry in range(len(neurons)):
        low[neurons[entry]] -= max(drops[entry], 0.0)
        high[neurons[entry]] -= min(drops[entry], 0.0)
    size = exponent = 0.0
    for j in range(len(z)):
        size += abs(weights[j]) * values[j]
        if low[j] < -MAX_EXPONENT or high[j] > MAX_EXPONENT:
            return False
    for i in range(len(common)):
        exponent -= common[i]
    return exponent < MAX_EXPONENT and np.exp(exponent) * size < 1e14 * error


@compiled(
    tuple_of(made(BOOL), made(FLOAT), made(FLOAT), made(INT), made(INT, 2), made(FLOAT, 2), made(INT)),
    _CHECK,
    tuple_of(given(INT32), given(INT32), given(FLOAT), given(BOOL)),
    _MACHINE,
    FLOAT,
    tuple_of(FLOAT, FLOAT, FLOAT),
    INT,
    INT,
    _HABITS,
)
def explain_rows(
    check: Any,
    rows: Any,
    machine: Any,
    precision: float,
    zone: Any,
    max_size: int,
    max_products: int,
    habits: Any,
) -> tuple[BoolArray, FloatArray, FloatArray, IntArray, IntArray, FloatArray, IntArray]:
    """Explain rows, one after the other.

    Parameters
    ----------
    check
        The function of this name in `kernel_machines`.
    rows
        Of a CSR matrix: where rows begin, columns, values; and which entries may be removed.
    machine
        The curve, its γ, support vectors, their norms or what is added to products, weights and bias.
    precision
        The relative error of the model's own sums.
    zone
        The scores that are too close to the threshold: from the first to the third.
    max_size
        The largest size of an answer.
    max_products
        Rows with more products of pairs of drops are left out.
    habits
        The constants of a proof.

    Returns
    -------
    tuple of arrays
        Which rows have a proven answer, or proof that there is none; the scores of all rows, and how far
        they may be off by rounding; the sizes of answers; the entries that are removed, one after the other;
        the scores without them; and how many sets were scored.
    """
    indptr, columns, values, removable = rows
    curve, weights, bias = machine[0], machine[4], machine[5]
    n_rows, n_neurons = len(indptr) - 1, len(weights)
    done, sizes = np.zeros(n_rows, dtype=np.bool_), np.zeros(n_rows, dtype=np.int64)
    scores, errors, n_scored = np.empty(n_rows), np.empty(n_rows), np.zeros(n_rows, dtype=np.int64)
    order, scores_without = np.full((n_rows, max_size), -1), np.zeros((n_rows, max_size))
    answer, z, own = np.zeros(max_size + 1, dtype=np.int64), np.empty(n_neurons), np.empty(n_neurons)
    for i in range(n_rows):
        first, last = indptr[i], indptr[i + 1]
        row = columns[first:last], values[first:last], removable[first:last]
        errors[i] = _place(machine, row, precision, z, own)
        scores[i] = bias
        for j in range(n_neurons):
            scores[i] += weights[j] * own[j]
        sign = 1.0 if scores[i] > zone[1] else -1.0
        low, high = (zone[0], zone[2]) if sign > 0 else (-zone[2], -zone[0])
        limits, limit = (low - errors[i], high + errors[i]), high + 2 * errors[i]
        units = np.flatnonzero(row[2])
        if not sign * scores[i] > limits[1] or not len(units):
            continue
        sums, common, n_products = _seen(machine, row, z, own, sign, limit, units)
        if n_products > max_products or (curve[0] == FACTORED and not _is_safe(sums, common, errors[i])):
            continue
        n_moved, total = len(sums[1]), sums[0]
        for j in range(n_moved):
            total += sums[1][j] * sums[3][j]
        marks, moved = np.zeros(n_moved, dtype=np.int64), np.empty(n_moved, dtype=np.int64)
        room = np.empty(n_moved), np.empty(n_moved), marks, moved
        scorer = curve, sums, common, limit, total, room
        done[i], n_scored[i] = _explain(check, scorer, limits, max_size, habits, sign * scores[i], answer)
        if done[i]:
            sizes[i] = answer[0]
            _scores_on_the_way(scorer, answer[1 : 1 + answer[0]], scores_without[i])
            for size in range(answer[0]):
                order[i, size] = first + units[answer[1 + size]]
                scores_without[i, size] *= sign
    return done, scores, errors, sizes, order, scores_without, n_scored
