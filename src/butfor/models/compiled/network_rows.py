"""Rows of networks with one hidden layer, explained by compiled loops from beginning to end.

They take the steps of the search `auto` as far as it goes without splitting regions: single removals, the
ranking by them, and one region of all smaller sets. Rows that need more, or whose scores are too close to the
threshold, are left to it.
"""

from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.compiled.networks import CHECK, NARROWED, RELU, lowest, slope_at, value
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
    compiled,
    function_of,
    given,
    made,
    tuple_of,
)

_LAYER = tuple_of(INT, given(FLOAT), FLOAT)
"""The kind of activation; the weights of the neurons, turned to the row's side; and what is added to them."""
_LIMITS = tuple_of(FLOAT, FLOAT, FLOAT)
"""Scores below the first flip, scores above the second do not, and no bound above the third is in doubt."""
_HABITS = tuple_of(INT, INT, FLOAT, INT, INT)
"""Of a proof: `ROUNDS`, `FEW_SETS`, `PROGRESS` of regions, the steps of a check, `MULTIPLIERS` of lines."""
_CHECK, _NARROWED = function_of(*CHECK), function_of(*NARROWED)


@compiled(FLOAT, _LAYER, given(FLOAT), given(FLOAT), any_order=True)
def _score_but_for(layer: Any, z: FloatArray, drop: FloatArray) -> float:
    """Return the score at z − drop."""
    kind, weights, bias = layer
    total = 0.0
    if kind == RELU:
        for j in range(len(z)):
            own = z[j] - drop[j]
            total += weights[j] * (own if own > 0 else 0.0)
    else:
        for j in range(len(z)):
            total += weights[j] * value(kind, z[j] - drop[j])
    return float(total + bias)


@compiled(FLOAT, _LAYER, given(FLOAT), any_order=True)
def _score(layer: Any, z: FloatArray) -> float:
    kind, weights, bias = layer
    total = 0.0
    if kind == RELU:
        for j in range(len(z)):
            total += weights[j] * (z[j] if z[j] > 0 else 0.0)
    else:
        for j in range(len(z)):
            total += weights[j] * value(kind, z[j])
    return float(total + bias)


@compiled(FLOAT, _LAYER, given(FLOAT), given(FLOAT, 2), given(INT), made(FLOAT))
def _score_without(
    layer: Any, z: FloatArray, drops: FloatArray, removed: IntArray, room: FloatArray
) -> float:
    room[:] = z
    for unit in removed:
        for j in range(len(z)):
            room[j] -= drops[unit, j]
    score: float = _score(layer, room)
    return score


@compiled(INT, _LAYER, given(FLOAT), given(FLOAT, 2), _LIMITS, given(INT), given(INT), INT, INT, made(INT))
def _try_all(
    layer: Any,
    z: FloatArray,
    drops: FloatArray,
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
    room, best = np.empty(len(z)), np.inf
    for size in range(smallest, min(largest, len(free)) + 1):
        places = np.arange(size)
        units = np.empty(len(removed) + size, dtype=np.int64)
        units[: len(removed)] = removed
        is_left = True
        while is_left:
            for i in range(size):
                units[len(removed) + i] = free[places[i]]
            score = _score_without(layer, z, drops, units, room)
            if limits[0] <= score <= limits[1]:
                return UNSURE
            if score < limits[0] and score < best and len(units):
                best = score
                answer[0] = len(units)
                answer[1 : 1 + len(units)] = units
            is_left = next_places(places, len(free))
        if best < np.inf:
            return FLIPS
    return REFUTED


@compiled(
    tuple_of(INT, INT),
    _CHECK,
    _NARROWED,
    _LAYER,
    given(FLOAT),
    given(FLOAT, 2),
    _LIMITS,
    INT,
    INT,
    _HABITS,
    made(INT),
)
def _search_region(
    check: Any,
    narrowed: Any,
    layer: Any,
    z: FloatArray,
    drops: FloatArray,
    limits: Any,
    k: int,
    beyond: int,
    habits: Any,
    answer: IntArray,
) -> tuple[int, int]:
    """Narrow the region of all sets of at most k units; sets of at most `beyond` units do not flip.

    Returns what is known then, and how many sets were scored; a set that flips is written to the answer.
    """
    kind, weights, bias = layer
    rounds, few_sets, progress, steps, multipliers = habits
    n_units, n_neurons = drops.shape
    neurons = np.empty((6, n_neurons))
    for j in range(n_neurons):
        neurons[:, j] = weights[j], z[j], -np.inf, np.inf, abs(z[j]), weights[j] * slope_at(kind, z[j])
    sizes = neurons[4]
    for i in range(n_units):
        for j in range(n_neurons):
            sizes[j] += abs(drops[i, j])
    free, removed = np.arange(n_units), np.empty(0, dtype=np.int64)
    linear = np.zeros(n_units)
    _, constant, linear, neurons, left = narrowed(
        kind, bias - limits[2], linear, neurons, drops, k, linear, 0.0, 0
    )
    room, gap, n_scored = np.empty(n_neurons), np.inf, 0
    masks = np.zeros((steps, n_units), dtype=np.bool_)
    for _ in range(rounds):
        refuted, highest, best_constant, best, gone, kept, proposed, n_proposed = check(
            kind, constant, linear, neurons, left, k, steps
        )
        if refuted:
            return REFUTED, n_scored
        smallest = max(0, beyond + 1 - len(removed))
        n_left = n_sets(len(free), smallest, k, few_sets)
        if n_left <= few_sets:
            known = _try_all(layer, z, drops, limits, removed, free, smallest, k, answer)
            return known, n_scored + n_left
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
            score = _score_without(layer, z, drops, units, room)
            n_scored += 1
            if limits[0] <= score <= limits[1]:
                return UNSURE, n_scored
            is_smaller = answer[0] == 0 or len(units) < answer[0]
            if score < limits[0] and (is_smaller or (len(units) == answer[0] and score < strongest)):
                strongest, answer[0] = score, len(units)
                answer[1 : 1 + len(units)] = units
        if answer[0]:
            return FLIPS, n_scored
        n_free, slack = len(free), -best_constant
        n_stay = 0
        for i in range(n_free):
            if gone[i]:
                k -= 1
                constant += linear[i]
                slack -= best[i]
                for j in range(left.shape[1]):
                    neurons[1, j] -= left[i, j]
            elif not kept[i]:
                linear[n_stay], best[n_stay] = linear[i], best[i]
                for j in range(left.shape[1]):
                    left[n_stay, j] = left[i, j]
                n_stay += 1
        if k < 0:
            return REFUTED, n_scored
        k = min(k, n_stay)
        removed = chosen_units(removed, free, gone)
        for i in range(n_free):
            masks[0, i] = not (gone[i] or kept[i])
        free = chosen_units(np.empty(0, dtype=np.int64), free, masks[0])
        is_left, constant, linear, neurons, left = narrowed(
            kind,
            constant,
            linear[:n_stay],
            neurons,
            left[:n_stay],
            k,
            best[:n_stay],
            slack,
            multipliers if k and neurons.shape[1] else 0,
        )
        if not is_left:
            return REFUTED, n_scored
        if -highest > progress * gap and len(free) > progress * n_free:
            break
        gap = -highest
    smallest = max(0, beyond + 1 - len(removed))
    n_left = n_sets(len(free), smallest, k, few_sets)
    if n_left > few_sets:
        return OPEN, n_scored
    return _try_all(layer, z, drops, limits, removed, free, smallest, k, answer), n_scored + n_left


@compiled(
    tuple_of(BOOL, INT),
    _CHECK,
    _NARROWED,
    _LAYER,
    given(FLOAT),
    given(FLOAT, 2),
    _LIMITS,
    INT,
    _HABITS,
    FLOAT,
    made(INT),
)
def _explain(
    check: Any,
    narrowed: Any,
    layer: Any,
    z: FloatArray,
    drops: FloatArray,
    limits: Any,
    max_size: int,
    habits: Any,
    own: float,
    answer: IntArray,
) -> tuple[bool, int]:
    """Write the smallest set of at most `max_size` units that flips to the answer, its size first, or zero.

    Returns whether that is proven, and how many sets were scored; `own` is the score of the row.
    """
    n_units = len(drops)
    room = np.empty(len(z))
    losses, strongest, n_ranked = np.empty(n_units), np.inf, 0
    answer[0] = 0
    for unit in range(n_units):
        score = _score_but_for(layer, z, drops[unit])
        if limits[0] <= score <= limits[1]:
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
    room[:] = z
    for size in range(1, n_ranked + 1):
        room -= drops[ranking[size - 1]]
        score = _score(layer, room)
        if limits[0] <= score <= limits[1]:
            return False, n_units + size
        if score < limits[0]:
            answer[0] = size
            answer[1 : 1 + size] = ranking[:size]
            break
    n_scored = n_units + n_ranked
    better = np.empty(max_size + 1, dtype=np.int64)
    k = answer[0] - 1 if answer[0] else min(max_size, n_units)
    while k >= 2:
        known, n_more = _search_region(check, narrowed, layer, z, drops, limits, k, 1, habits, better)
        n_scored += n_more
        if known == REFUTED:
            break
        if known != FLIPS:
            return False, n_scored
        answer[:] = better
        k = answer[0] - 1
    return True, n_scored


@compiled(
    tuple_of(made(BOOL), made(FLOAT), made(INT), made(INT, 2), made(FLOAT, 2), made(INT)),
    _CHECK,
    _NARROWED,
    tuple_of(given(INT32), given(INT32), given(FLOAT), given(BOOL)),
    tuple_of(INT, given(FLOAT, 2), given(FLOAT), given(FLOAT), FLOAT),
    given(FLOAT),
    tuple_of(FLOAT, FLOAT, FLOAT),
    INT,
    INT,
    _HABITS,
)
def explain_rows(
    check: Any,
    narrowed: Any,
    rows: Any,
    network: Any,
    errors: FloatArray,
    zone: Any,
    max_size: int,
    max_drops: int,
    habits: Any,
) -> tuple[BoolArray, FloatArray, IntArray, IntArray, FloatArray, IntArray]:
    """Explain rows, one after the other.

    Parameters
    ----------
    check, narrowed
        The functions of these names in `networks`.
    rows
        Of a CSR matrix: where rows begin, columns, values; and which entries may be removed.
    network
        The kind of activation; weights (columns × neurons) and biases of the hidden layer; weights and bias
        of the output.
    errors
        How far the score of each row may be off by rounding, whatever is removed.
    zone
        The scores that are too close to the threshold: from the first to the third.
    max_size
        The largest size of an answer.
    max_drops
        Rows of more units times neurons are left out.
    habits
        The constants of a proof.

    Returns
    -------
    tuple of arrays
        Which rows have a proven answer, or proof that there is none; the scores of all rows; the sizes of
        answers; the entries that are removed, one after the other; the scores without them; and how many
        sets were scored.
    """
    indptr, columns, values, removable = rows
    kind, inner, inner_bias, outer, outer_bias = network
    n_rows, n_neurons = len(indptr) - 1, len(outer)
    done, scores, sizes = np.zeros(n_rows, dtype=np.bool_), np.empty(n_rows), np.zeros(n_rows, dtype=np.int64)
    order, scores_without = np.full((n_rows, max_size), -1), np.zeros((n_rows, max_size))
    n_scored = np.zeros(n_rows, dtype=np.int64)
    answer, z = np.zeros(max_size + 1, dtype=np.int64), np.empty(n_neurons)
    for row in range(n_rows):
        z[:] = inner_bias
        n_units = 0
        for entry in range(indptr[row], indptr[row + 1]):
            n_units += removable[entry]
            for j in range(n_neurons):
                z[j] += values[entry] * inner[columns[entry], j]
        scores[row] = _score((kind, outer, outer_bias), z)
        sign = 1.0 if scores[row] > zone[1] else -1.0
        low, high = (zone[0], zone[2]) if sign > 0 else (-zone[2], -zone[0])
        limits = low - errors[row], high + errors[row], high + 2 * errors[row]
        if not sign * scores[row] > limits[1] or n_units * n_neurons > max_drops or not n_units:
            continue
        units, drops = np.empty(n_units, dtype=np.int64), np.empty((n_units, n_neurons))
        n_units = 0
        for entry in range(indptr[row], indptr[row + 1]):
            if removable[entry]:
                units[n_units] = entry
                for j in range(n_neurons):
                    drops[n_units, j] = values[entry] * inner[columns[entry], j]
                n_units += 1
        layer = (kind, sign * outer, sign * outer_bias)
        done[row], n_scored[row] = _explain(
            check, narrowed, layer, z, drops, limits, max_size, habits, sign * scores[row], answer
        )
        if not done[row]:
            continue
        sizes[row] = answer[0]
        for size in range(answer[0]):
            order[row, size] = units[answer[1 + size]]
            for j in range(n_neurons):
                z[j] -= drops[answer[1 + size], j]
            scores_without[row, size] = sign * _score(layer, z)
    return done, scores, sizes, order, scores_without, n_scored
