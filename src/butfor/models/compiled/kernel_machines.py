"""Loops over sums of kernels, compiled by numba: what `QuadraticRegion` does in numpy.

The score is constant + Σ weights · φ(z − r · drops), where φ is a curve and drops are sparse. A neuron that
one or two free units move is itself a quadratic function of the removals. Below the others lie parabolas.
"""

from math import factorial
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.compiled.networks import lowest
from butfor.models.compiled.types import BOOL, FLOAT, INT, NOTHING, compiled, given, made, tuple_of

EXPONENTIAL, POWER, TANH, FACTORED = 0, 1, 2, 3
"""Kinds of curves. The last is the exponential again: each removal multiplies its value by a factor."""
ROUNDED, EPSILON = 1e-12, 2.3e-16
"""How far terms of a minorant may be off, relative to their size: in any case, and more for each term."""
NEAR = 0.1, 1e-3
"""Of the exponential and of tanh: closer points have a series in place of a quotient."""
INVERSE_FACTORIALS = tuple(1 / factorial(n) for n in range(11))
PIECES = 16
"""Of the grid on which bends are minimised."""
BLOCK = 16
"""Lines of a matrix that are turned at a time."""

CURVE = tuple_of(INT, INT)
"""The kind of a curve; and the degree of a power."""
DROPS = tuple_of(given(INT), given(INT), given(FLOAT), given(FLOAT))
"""Unit by unit: where units begin, neurons, drops, and what each drop multiplies a factored exponential by.

Or neuron by neuron: where neurons begin, units, drops and factors."""
SUMS = tuple_of(FLOAT, given(FLOAT), given(FLOAT), given(FLOAT), DROPS)
"""A constant; weights of the neurons; their z; φ(z); and the drops, unit by unit."""


@compiled(FLOAT, CURVE, FLOAT)
def value(curve: Any, z: float) -> float:
    """Return φ."""
    kind, degree = curve
    if kind in (EXPONENTIAL, FACTORED):
        return float(np.exp(z))
    if kind == POWER:
        power = 1.0
        for _ in range(degree):
            power *= z
        return power
    return float(np.tanh(z))


@compiled(FLOAT, CURVE, FLOAT, FLOAT)
def value_after(curve: Any, multiplied: float, z: float) -> float:
    """Return φ(z), which is `multiplied` if φ is a factored exponential."""
    after: float = multiplied if curve[0] == FACTORED else value(curve, z)
    return after


@compiled(FLOAT, CURVE, FLOAT, FLOAT)
def slope_at(curve: Any, own: float, z: float) -> float:
    """Return the slope of φ, whose value is `own`."""
    kind, degree = curve
    if kind == POWER:
        below: float = value((kind, max(0, degree - 1)), z)
        return float(degree * below)
    return 1 - own * own if kind == TANH else own


@compiled(FLOAT, CURVE, FLOAT, FLOAT)
def _bend(curve: Any, at: float, z: float) -> float:
    """Return (φ(z) − φ(at) − φ'(at) · (z − at)) / (z − at)²; of the exponential divided by φ(at)."""
    kind, degree = curve
    move = z - at
    if kind in (EXPONENTIAL, FACTORED):
        if abs(move) < NEAR[0]:
            total = 0.0  # Σ move^(n − 2) / n!
            for n in range(10, 1, -1):
                total = total * move + INVERSE_FACTORIALS[n]
            return total
        return float((np.expm1(move) - move) / (move * move))
    if kind == POWER:
        total, power = 0.0, 1.0  # Σ (i + 1) · at^i · z^(degree − 2 − i), by Horner's rule
        for i in range(degree - 1):
            total = total * z + (i + 1) * power
            power *= at
        return total
    own = np.tanh(at)
    slope = 1 - own * own
    if abs(move) < NEAR[1]:
        return float(-own * slope + move * slope * (3 * own * own - 1) / 3)
    return float((np.tanh(z) - own - slope * move) / (move * move))


@compiled(FLOAT, CURVE, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT)
def bend_below(curve: Any, weight: float, own: float, at: float, low: float, high: float) -> float:
    """Return a c with weight · φ(z) ≥ its tangent at `at` + c · (z − at)² for all z in [low, high].

    `own` is φ(at).
    """
    kind, degree = curve
    if kind in (EXPONENTIAL, FACTORED):
        return weight * own * float(_bend(curve, at, low if weight > 0 else high))
    if kind == POWER and degree <= 3:
        at_low, at_high = weight * _bend(curve, at, low), weight * _bend(curve, at, high)
        return float(min(at_low, at_high))
    steepness = 1 / 3
    if kind == POWER:
        third = degree * (degree - 1) * (degree - 2)
        steepness = third * value((kind, degree - 3), max(abs(low), abs(high))) / 6
    least = np.inf
    for i in range(PIECES + 1):
        least = min(least, weight * _bend(curve, at, low + (high - low) * (i / PIECES)))
    return least - abs(weight) * steepness * (high - low) / (2 * PIECES)


@compiled(DROPS, DROPS, INT)
def _by_neuron(by_unit: Any, n_neurons: int) -> Any:
    """Return the drops neuron by neuron."""
    starts, neurons, drops, factors = by_unit
    ends = np.zeros(n_neurons + 1, dtype=np.int64)
    for entry in range(len(neurons)):
        ends[neurons[entry] + 1] += 1
    for j in range(n_neurons):
        ends[j + 1] += ends[j]
    place = ends[:-1].copy()
    units, of_units, by = np.empty(len(neurons), dtype=np.int64), np.empty(len(drops)), np.empty(len(drops))
    for unit in range(len(starts) - 1):
        for entry in range(starts[unit], starts[unit + 1]):
            at = place[neurons[entry]]
            units[at], of_units[at], by[at] = unit, drops[entry], factors[entry]
            place[neurons[entry]] += 1
    return ends, units, of_units, by


@compiled(FLOAT, given(FLOAT), INT, made(FLOAT))
def _sum_of_few_lowest(costs: FloatArray, k: int, room: FloatArray) -> float:
    """Return the sum of the k lowest negative costs; fast where k is small."""
    n, last = 0, 0.0  # what a cost must be below
    for cost in costs:
        if cost < last:
            place = n if n < k else k - 1
            n = min(n + 1, k)
            while place > 0 and cost < room[place - 1]:
                room[place] = room[place - 1]
                place -= 1
            room[place] = cost
            if n == k:
                last = room[k - 1]
    total = 0.0
    for i in range(n):
        total += room[i]
    return total


@compiled(FLOAT, given(FLOAT), INT, made(FLOAT))
def _sum_of_many_lowest(costs: FloatArray, k: int, room: FloatArray) -> float:
    """Return the sum of the k lowest negative costs, by Hoare's selection."""
    n = 0
    for cost in costs:
        if cost < 0:
            room[n] = cost
            n += 1
    first, last = 0, n - 1
    while k < n and first < last:  # the k lowest come first
        pivot = room[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while room[i] < pivot:
                i += 1
            while room[j] > pivot:
                j -= 1
            if i <= j:
                room[i], room[j] = room[j], room[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            last = j
        elif k - 1 >= i:
            first = i
        else:
            break
    total = 0.0
    for i in range(min(k, n)):
        total += room[i]
    return total


@compiled(FLOAT, given(FLOAT), INT, made(FLOAT))
def sum_of_lowest(costs: FloatArray, k: int, room: FloatArray) -> float:
    """Return the sum of the k lowest negative costs; `room` is for as many numbers."""
    if 8 * k < len(costs):
        few: float = _sum_of_few_lowest(costs, k, room)
        return few
    many: float = _sum_of_many_lowest(costs, k, room)
    return many


@compiled(FLOAT, CURVE, SUMS, DROPS, INT, made(FLOAT), made(FLOAT, 2), made(FLOAT, 2))
def _exact(
    curve: Any, sums: Any, by_neuron: Any, k: int, linear: FloatArray, pairs: FloatArray, limits: FloatArray
) -> float:
    """Return the constant of what neurons with at most two units add; add their linear and pair terms.

    Halves of pair terms go to `pairs`, the lower unit first. For other neurons, write the least and largest z
    under at most k removals: z falls by at most k times its largest change, and by the sum of all changes.
    """
    total: float = sums[0]
    _, weights, z, values, _ = sums
    ends, units, drops, factors = by_neuron
    rounded = ROUNDED + EPSILON * len(z)
    for j in range(len(z)):
        first, n_units = ends[j], ends[j + 1] - ends[j]
        if n_units > 2:
            fall = rise = largest = 0.0
            for entry in range(first, ends[j + 1]):
                largest = max(largest, abs(drops[entry]))
                fall += max(drops[entry], 0.0)
                rise += max(-drops[entry], 0.0)
            limits[0, j], limits[1, j] = z[j] - min(fall, k * largest), z[j] + min(rise, k * largest)
            continue
        own = weights[j] * values[j]
        size, both = abs(own), own
        for entry in range(first, ends[j + 1]):
            after = weights[j] * value_after(curve, values[j] * factors[entry], z[j] - drops[entry])
            linear[units[entry]] += after - own
            both -= after
            size += abs(after)
        if n_units == 2:
            multiplied, second = values[j] * factors[first] * factors[first + 1], first + 1
            after = weights[j] * value_after(curve, multiplied, z[j] - drops[first] - drops[second])
            pairs[units[first], units[second]] += 0.5 * (both + after)
            size += abs(after)
        total += own - rounded * size
    return total


@compiled(FLOAT, CURVE, SUMS, DROPS, given(FLOAT, 2), given(BOOL), made(FLOAT), made(FLOAT, 2))
def _parabolas(
    curve: Any,
    sums: Any,
    by_neuron: Any,
    limits: FloatArray,
    candidate: BoolArray,
    linear: FloatArray,
    pairs: FloatArray,
) -> float:
    """Return the constant of parabolas that touch neurons of more units at a candidate; add their terms."""
    _, weights, z, values, _ = sums
    ends, units, drops, factors = by_neuron
    rounded = ROUNDED + EPSILON * len(z)
    constant = 0.0
    for j in range(len(z)):
        if ends[j + 1] - ends[j] <= 2:
            continue
        move, multiplied = 0.0, values[j]
        for entry in range(ends[j], ends[j + 1]):
            if candidate[units[entry]]:
                move += drops[entry]
                multiplied *= factors[entry]
        at, low, high = z[j] - move, limits[0, j], limits[1, j]
        own = value_after(curve, multiplied, at)
        tilt = weights[j] * slope_at(curve, own, at)
        bend = bend_below(curve, weights[j], own, at, low, high)
        size, width = weights[j] * own, high - low
        constant += size + move * (tilt + bend * move)
        constant -= rounded * (abs(size) + width * (abs(tilt) + width * abs(bend)))
        tilt += 2 * bend * move
        for entry in range(ends[j], ends[j + 1]):
            bent, of_unit = drops[entry] * bend, pairs[units[entry]]
            linear[units[entry]] += drops[entry] * (bent - tilt)
            for other in range(entry + 1, ends[j + 1]):
                of_unit[units[other]] += bent * drops[other]
    return constant


@compiled(FLOAT, made(FLOAT, 2), INT, made(FLOAT))
def _bound_units(pairs: FloatArray, k: int, linear: FloatArray) -> float:
    """Turn linear terms into what each unit adds at least if it is one of at most k: `bounds_by_unit`.

    Returns what is added to the constant. The pairs are filled up to a symmetric matrix.
    """
    n_units = len(linear)
    shared, room = np.empty(n_units), np.empty(n_units)
    for i in range(n_units):
        shared[i] = 0.5 * linear[i] / (k - 1)
    for start in range(0, n_units, BLOCK):  # block by block, as the processor's cache holds few lines
        for i in range(start, n_units):
            for other in range(start, min(start + BLOCK, i)):
                pairs[i, other] = pairs[other, i]
    idle = sum_of_lowest(shared, k - 1, room)
    for i in range(n_units):
        costs = pairs[i]
        for other in range(n_units):
            costs[other] += shared[other]
        costs[i] = 0.0  # a unit makes no pair with itself
        linear[i] = 0.5 * linear[i] + sum_of_lowest(costs, k - 1, room) - idle
    return float(k * idle)


@compiled(NOTHING, given(FLOAT), FLOAT, INT, given(INT), INT, made(BOOL), made(BOOL))
def _fix(
    c: FloatArray, bound: float, k: int, order: IntArray, n_found: int, gone: BoolArray, kept: BoolArray
) -> None:
    """Mark the units that every flipping set removes, and those that none does, as `Region.fixed` does."""
    next_best = min(c[order[k]], 0.0) if n_found > k else 0.0
    last = min(c[order[k - 1]], 0.0) if n_found >= k else 0.0
    taken = np.zeros(len(c), dtype=np.bool_)
    for place in range(min(k, n_found)):
        taken[order[place]] = True
        if bound - min(c[order[place]], 0.0) + next_best > 0:
            gone[order[place]] = True
    for i in range(len(c)):
        if not taken[i] and bound - last + c[i] > 0:
            kept[i] = True


@compiled(BOOL, made(BOOL), given(INT))
def _moves(candidate: BoolArray, chosen: IntArray) -> bool:
    """Make the chosen units the candidate; return whether it was another."""
    n_before = n_same = 0
    for i in range(len(candidate)):
        n_before += candidate[i]
    for unit in chosen:
        n_same += candidate[unit]
    candidate[:] = False
    for unit in chosen:
        candidate[unit] = True
    return n_same < max(n_before, len(chosen))


CHECK = (
    tuple_of(BOOL, FLOAT, FLOAT, made(FLOAT), made(BOOL), made(BOOL), made(INT, 2), INT),
    CURVE,
    SUMS,
    INT,
    made(BOOL),
    INT,
)


@compiled(*CHECK)
def check(
    curve: Any, sums: Any, k: int, candidate: BoolArray, n_candidates: int
) -> tuple[bool, float, float, FloatArray, BoolArray, BoolArray, IntArray, int]:
    """Take the steps of `TouchingRegion.minorants`, and have each minorant fix units and propose a set.

    The candidate follows the minimisers. Returns whether no set of the region flips; the highest bound, and
    its minorant; which units every flipping set removes, and which none removes; the proposed sets, filled up
    with −1, and their number.
    """
    n_units, n_neurons = len(candidate), len(sums[1])
    by_neuron = _by_neuron(sums[4], n_neurons)
    linear, limits = np.zeros(n_units), np.empty((2, n_neurons))
    exact_pairs = np.zeros((n_units, n_units))
    pairs = np.empty_like(exact_pairs) if n_candidates > 1 else exact_pairs
    exact = _exact(curve, sums, by_neuron, k, linear, exact_pairs, limits)
    highest, best_constant, best, c = -np.inf, 0.0, np.zeros(n_units), np.empty(n_units)
    gone, kept = np.zeros(n_units, dtype=np.bool_), np.zeros(n_units, dtype=np.bool_)
    proposed, n_proposed = np.full((n_candidates, k), -1), 0
    order = np.empty(k + 1, dtype=np.int64)
    for _ in range(n_candidates):
        c[:] = linear
        if n_candidates > 1:
            pairs[:] = exact_pairs
        base = exact + _parabolas(curve, sums, by_neuron, limits, candidate, c, pairs)
        if k > 1:
            base += _bound_units(pairs, k, c)
        n_found = lowest(c, k + 1, order)
        bound, n_chosen = base, 0
        while n_chosen < min(k, n_found) and c[order[n_chosen]] < 0:
            bound += c[order[n_chosen]]
            n_chosen += 1
        if n_proposed == 0 or bound > highest:
            highest, best_constant = bound, base
            best[:] = c
        if bound > 0:
            return True, highest, best_constant, best, gone, kept, proposed, n_proposed
        proposed[n_proposed, :n_chosen] = order[:n_chosen]
        n_proposed += 1
        if k:
            _fix(c, bound, k, order, n_found, gone, kept)
        if not _moves(candidate, order[:n_chosen]):
            break
    return False, highest, best_constant, best, gone, kept, proposed, n_proposed


@compiled(SUMS, CURVE, SUMS, given(BOOL), given(BOOL))
def narrowed(curve: Any, sums: Any, gone: BoolArray, kept: BoolArray) -> Any:
    """Return the sums after some units are gone and others stay; what nothing moves is in the constant."""
    constant, weights, z, values, (starts, neurons, drops, factors) = sums
    n_units, n_neurons = len(gone), len(z)
    neurons_left = np.empty((3, n_neurons))  # weights, z and values
    neurons_left[0], neurons_left[1], neurons_left[2] = weights, z, values
    is_moved = np.zeros(n_neurons, dtype=np.bool_)
    n_free = n_entries = 0
    for i in range(n_units):
        is_free = not (gone[i] or kept[i])
        if is_free:
            n_free += 1
            n_entries += starts[i + 1] - starts[i]
        for entry in range(starts[i], starts[i + 1]):
            j = neurons[entry]
            is_moved[j] = is_moved[j] or is_free
            if gone[i]:
                neurons_left[1, j] -= drops[entry]
                multiplied = neurons_left[2, j] * factors[entry]
                neurons_left[2, j] = value_after(curve, multiplied, neurons_left[1, j])
    places, n_moved = np.empty(n_neurons, dtype=np.int64), 0
    for j in range(n_neurons):
        if is_moved[j]:
            places[j] = n_moved
            for line in range(3):
                neurons_left[line, n_moved] = neurons_left[line, j]
            n_moved += 1
        else:
            constant += neurons_left[0, j] * neurons_left[2, j]
    after, of_neurons = np.zeros(n_free + 1, dtype=np.int64), np.empty(n_entries, dtype=np.int64)
    of_drops, of_factors = np.empty(n_entries), np.empty(n_entries)
    n_free = n_entries = 0
    for i in range(n_units):
        if not (gone[i] or kept[i]):
            for entry in range(starts[i], starts[i + 1]):
                of_neurons[n_entries] = places[neurons[entry]]
                of_drops[n_entries], of_factors[n_entries] = drops[entry], factors[entry]
                n_entries += 1
            n_free += 1
            after[n_free] = n_entries
    of_weights, of_z, of_values = (
        neurons_left[0, :n_moved],
        neurons_left[1, :n_moved],
        neurons_left[2, :n_moved],
    )
    return constant, of_weights, of_z, of_values, (after, of_neurons, of_drops, of_factors)
