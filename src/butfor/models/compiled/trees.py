"""Loops over trees, compiled by numba: each does what a function in numpy does, without temporary arrays."""

from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.ascent import HIGHEST, IS_NEW, N_STEPS, OFFSET, PACE, STALLED, STEEPNESS, TRIED
from butfor.models.compiled.types import BOOL, FLOAT, INT, INT32, WORD, compiled, given, made, tuple_of
from butfor.models.formula.trees.growing import INACTIVE, STAYS, Words
from butfor.models.formula.trees.nodes import ALMOST_ZERO

_SPINES = tuple_of(*[given(INT32)] * 2, given(FLOAT), *[given(BOOL)] * 3, *[given(INT32)] * 2)
"""`Spines.flat`"""
_LEAVES = tuple_of(given(WORD, 2), given(WORD, 2), given(FLOAT, 2), given(INT))
"""`LocalLeaves.flat`"""
_OPEN = tuple_of(given(FLOAT), *[given(INT)] * 3, given(BOOL), *[given(INT)] * 2)
"""`OpenTrees.flat`"""


@compiled(made(WORD, 2), given(WORD, 2), INT)
def _longer(words: Words, length: int) -> Words:
    """Return an array with more rows, which begins with these."""
    longer = np.zeros((length, words.shape[1]), dtype=np.uint64)
    longer[: len(words)] = words
    return longer


@compiled(
    tuple_of(made(INT), made(INT), made(WORD, 2), made(WORD, 2)),
    _SPINES,
    BOOL,
    given(INT),
    given(FLOAT),
    INT,
    INT,
)
def reach(
    spines: Any, single: bool, unit_of: IntArray, present: FloatArray, n_words: int, max_leaves: int
) -> tuple[IntArray, IntArray, Words, Words]:
    """Return node, tree and conditions of each leaf that a row can reach; more than allowed if there are."""
    roots, feature, threshold, missing_left, zero_is_missing, absent_left, off_spine, end = spines
    n_leaves, room = 0, 256
    node_of, tree_of = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    must_of = np.zeros((room, n_words), dtype=np.uint64)
    keep_of = np.zeros((room, n_words), dtype=np.uint64)
    starts = np.empty(room, dtype=np.int64)
    must = np.zeros((room, n_words), dtype=np.uint64)
    keep = np.zeros((room, n_words), dtype=np.uint64)
    removed, kept = np.zeros(n_words, dtype=np.uint64), np.zeros(n_words, dtype=np.uint64)
    for tree in range(len(roots)):
        starts[0], n_open = roots[tree], 1
        must[0], keep[0] = 0, 0
        while n_open:
            n_open -= 1
            start = starts[n_open]
            removed[:], kept[:] = must[n_open], keep[n_open]
            leaves_it = False
            for node in range(start, end[start]):
                column = feature[node]
                unit = unit_of[column]
                if unit == INACTIVE:
                    continue
                value = present[column]
                if single:
                    value = float(np.float32(value))
                if np.isnan(value) or (
                    len(zero_is_missing) and zero_is_missing[node] and abs(value) <= ALMOST_ZERO
                ):
                    left = missing_left[node]
                else:
                    left = value <= threshold[node]
                if left == absent_left[node]:
                    continue
                leaves_it = unit == STAYS
                word, bit = 0, np.uint64(0)
                if not leaves_it:
                    word, bit = unit >> 6, np.uint64(1) << np.uint64(unit & 63)
                    if removed[word] & bit:
                        continue
                    leaves_it = kept[word] & bit != 0
                if n_open + 1 >= len(starts):
                    longer = np.empty(2 * len(starts), dtype=np.int64)
                    longer[: len(starts)] = starts
                    starts = longer
                    must, keep = _longer(must, len(starts)), _longer(keep, len(starts))
                starts[n_open] = off_spine[node]
                must[n_open], keep[n_open] = removed, kept
                keep[n_open, word] |= bit
                n_open += 1
                if leaves_it:
                    break
                removed[word] |= bit
            if leaves_it:
                continue
            if n_leaves == room:
                if room > max_leaves:
                    return node_of, tree_of, must_of, keep_of
                room *= 2
                node_longer, tree_longer = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
                node_longer[:n_leaves], tree_longer[:n_leaves] = node_of, tree_of
                node_of, tree_of = node_longer, tree_longer
                must_of, keep_of = _longer(must_of, room), _longer(keep_of, room)
            node_of[n_leaves], tree_of[n_leaves] = end[start], tree
            must_of[n_leaves], keep_of[n_leaves] = removed, kept
            n_leaves += 1
    return (
        node_of[:n_leaves].copy(),
        tree_of[:n_leaves].copy(),
        must_of[:n_leaves].copy(),
        keep_of[:n_leaves].copy(),
    )


@compiled(made(FLOAT, 2), _LEAVES, given(WORD, 2))
def without(leaves: Any, words: Words) -> FloatArray:
    """Return the values of the functions for removal sets, given as bits (sets × functions)."""
    must, care, values, first_leaf = leaves
    n_words, n_functions = must.shape[1], values.shape[1]
    sums = np.zeros((len(words), n_functions))
    for i in range(len(words)):
        for tree in range(len(first_leaf) - 1):
            for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
                fits = True
                for word in range(n_words):
                    if words[i, word] & care[leaf, word] != must[leaf, word]:
                        fits = False
                        break
                if fits:
                    for function in range(n_functions):
                        sums[i, function] += values[leaf, function]
                    break
    return sums


@compiled(INT, WORD)
def _place(bit: Any) -> int:
    """Return the place of a single bit."""
    place = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(shift):
            bit >>= np.uint64(shift)
            place += shift
    return place


@compiled(made(FLOAT, 2), _LEAVES, given(WORD), INT)
def with_each(leaves: Any, removed: Words, n_units: int) -> FloatArray:
    """Return the values for one removal set together with each single unit (units × functions)."""
    must, care, values, _ = leaves
    n_words, n_functions = must.shape[1], values.shape[1]
    now, changes = np.zeros(n_functions), np.zeros((n_units, n_functions))
    for leaf in range(len(values)):
        n_broken, where, waits = 0, 0, False
        for word in range(n_words):
            broken = (removed[word] & care[leaf, word]) ^ must[leaf, word]
            if broken:
                if broken & (broken - np.uint64(1)):
                    n_broken = 2
                    break
                n_broken += 1
                where, waits = 64 * word + _place(broken), broken & must[leaf, word] != 0
        if n_broken == 0:
            for function in range(n_functions):
                now[function] += values[leaf, function]
            for word in range(n_words):
                forbidden = care[leaf, word] & ~must[leaf, word]
                while forbidden:
                    bit = forbidden & (~forbidden + np.uint64(1))
                    forbidden ^= bit
                    for function in range(n_functions):
                        changes[64 * word + _place(bit), function] -= values[leaf, function]
        elif n_broken == 1 and waits:
            for function in range(n_functions):
                changes[where, function] += values[leaf, function]
    return now + changes


@compiled(tuple_of(made(INT), made(INT), made(BOOL), made(INT), made(INT)), _LEAVES, INT)
def literals(leaves: Any, n_units: int) -> tuple[IntArray, IntArray, BoolArray, IntArray, IntArray]:
    """Return first literals of leaves, their pairs, must or not; first pairs of trees, their units."""
    must, care, values, first_leaf = leaves
    n_words, n_trees = must.shape[1], len(first_leaf) - 1
    first_literal, first_pair = (
        np.zeros(len(values) + 1, dtype=np.int64),
        np.zeros(n_trees + 1, dtype=np.int64),
    )
    for leaf in range(len(values)):
        first_literal[leaf + 1] = first_literal[leaf]
        for word in range(n_words):
            bits = care[leaf, word]
            while bits:
                bits &= bits - np.uint64(1)
                first_literal[leaf + 1] += 1
    n_literals = first_literal[-1]
    pair, goes = np.empty(n_literals, dtype=np.int64), np.empty(n_literals, dtype=np.bool_)
    unit_of_pair, pair_of = np.empty(n_literals, dtype=np.int64), np.empty(n_units, dtype=np.int64)
    used = np.empty(n_words, dtype=np.uint64)
    n_pairs, literal = 0, 0
    for tree in range(n_trees):
        used[:] = 0
        for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
            used |= care[leaf]
        for word in range(n_words):
            bits = used[word]
            while bits:
                unit = 64 * word + _place(bits & (~bits + np.uint64(1)))
                bits &= bits - np.uint64(1)
                unit_of_pair[n_pairs], pair_of[unit] = unit, n_pairs
                n_pairs += 1
        first_pair[tree + 1] = n_pairs
        for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
            for word in range(n_words):
                bits = care[leaf, word]
                while bits:
                    bit = bits & (~bits + np.uint64(1))
                    bits ^= bit
                    pair[literal] = pair_of[64 * word + _place(bit)]
                    goes[literal] = must[leaf, word] & bit != 0
                    literal += 1
    return first_literal, pair, goes, first_pair, unit_of_pair[:n_pairs].copy()


@compiled(
    tuple_of(made(FLOAT), *[made(INT)] * 3, made(BOOL), *[made(INT)] * 3, FLOAT, made(FLOAT)),
    _OPEN,
    given(BOOL),
    given(BOOL),
    INT,
)
def fixed(trees: Any, gone: BoolArray, stays: BoolArray, k: int) -> Any:
    """Return the trees over the units that stay free, the pairs that are left, a constant, a linear term.

    Leaves that need more than k removals are left out; trees that are constant or linear go into the terms.
    """
    values, first_leaf, first_literal, pair, must, first_pair, unit_of_pair = trees
    n_trees, n_pairs = len(first_leaf) - 1, len(unit_of_pair)
    new_unit, n_units = np.empty(len(stays), dtype=np.int64), 0
    for unit in range(len(stays)):
        new_unit[unit] = n_units
        n_units += stays[unit]
    constant, linear = 0.0, np.zeros(n_units)
    new_values, new_first_leaf = np.empty(len(values)), np.empty(n_trees + 1, dtype=np.int64)
    new_first_literal = np.empty(len(values) + 1, dtype=np.int64)
    new_pair, new_must = np.empty(len(pair), dtype=np.int64), np.empty(len(pair), dtype=np.bool_)
    new_first_pair, pairs = np.empty(n_trees + 1, dtype=np.int64), np.empty(n_pairs, dtype=np.int64)
    new_unit_of_pair, n_must = np.empty(n_pairs, dtype=np.int64), np.empty(len(values), dtype=np.int64)
    place_of = np.empty(n_pairs, dtype=np.int64)
    left_trees, left_leaves, left_literals, left_pairs = 0, 0, 0, 0
    new_first_leaf[0], new_first_literal[0], new_first_pair[0] = 0, 0, 0
    for tree in range(n_trees):
        lowest, highest, now, n_used = np.inf, -np.inf, 0.0, 0
        for p in range(first_pair[tree], first_pair[tree + 1]):
            place_of[p] = -1
        for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
            n_must[leaf] = 0
            for literal in range(first_literal[leaf], first_literal[leaf + 1]):
                unit = unit_of_pair[pair[literal]]
                if gone[unit] != must[literal] and not stays[unit]:
                    n_must[leaf] = -1
                    break
                n_must[leaf] += must[literal] and stays[unit]
            if n_must[leaf] > k:
                n_must[leaf] = -1
            if n_must[leaf] < 0:
                continue
            lowest, highest = min(lowest, values[leaf]), max(highest, values[leaf])
            if n_must[leaf] == 0:
                now = values[leaf]
            for literal in range(first_literal[leaf], first_literal[leaf + 1]):
                p = pair[literal]
                if stays[unit_of_pair[p]] and place_of[p] < 0:
                    place_of[p] = 0
                    n_used += 1
        if lowest == highest or n_used < 2:
            constant += now
            if lowest == highest:
                continue
            for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
                if n_must[leaf] == 1:
                    for p in range(first_pair[tree], first_pair[tree + 1]):
                        if place_of[p] == 0:
                            linear[new_unit[unit_of_pair[p]]] += values[leaf] - now
            continue
        for p in range(first_pair[tree], first_pair[tree + 1]):
            if place_of[p] == 0:
                place_of[p], pairs[left_pairs] = left_pairs, p
                new_unit_of_pair[left_pairs] = new_unit[unit_of_pair[p]]
                left_pairs += 1
        for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
            if n_must[leaf] < 0:
                continue
            for literal in range(first_literal[leaf], first_literal[leaf + 1]):
                p = pair[literal]
                if stays[unit_of_pair[p]]:
                    new_pair[left_literals], new_must[left_literals] = place_of[p], must[literal]
                    left_literals += 1
            new_values[left_leaves] = values[leaf]
            left_leaves += 1
            new_first_literal[left_leaves] = left_literals
        left_trees += 1
        new_first_leaf[left_trees], new_first_pair[left_trees] = left_leaves, left_pairs
    return (
        new_values[:left_leaves].copy(),
        new_first_leaf[: left_trees + 1].copy(),
        new_first_literal[: left_leaves + 1].copy(),
        new_pair[:left_literals].copy(),
        new_must[:left_literals].copy(),
        new_first_pair[: left_trees + 1].copy(),
        new_unit_of_pair[:left_pairs].copy(),
        pairs[:left_pairs].copy(),
        constant,
        linear,
    )


@compiled(FLOAT, made(FLOAT), INT)
def _nth_lowest(numbers: FloatArray, n: int) -> float:
    """Return the number that would stand at place n if they were in order; they are moved."""
    low, high = 0, len(numbers) - 1
    while low < high:
        pivot, i, j = numbers[(low + high) // 2], low, high
        while i <= j:
            while numbers[i] < pivot:
                i += 1
            while numbers[j] > pivot:
                j -= 1
            if i <= j:
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            break
    return float(numbers[n])


@compiled(FLOAT, given(FLOAT), INT, made(FLOAT), made(FLOAT))
def _choose(c: FloatArray, k: int, negative: FloatArray, removed: FloatArray) -> float:
    """Mark the (at most k) lowest coefficients below zero, and return their sum."""
    n_negative = 0
    for unit in range(len(c)):
        removed[unit] = 0.0
        if c[unit] < 0:
            negative[n_negative] = c[unit]
            n_negative += 1
    if k == 0:
        return 0.0
    last, n_equal = 0.0, 0
    if n_negative > k:
        last = _nth_lowest(negative[:n_negative], k - 1)
        n_equal = k
        for unit in range(len(c)):
            n_equal -= c[unit] < last
    lowest = 0.0
    for unit in range(len(c)):
        is_last = c[unit] == last and n_equal > 0
        if is_last:
            n_equal -= 1
        if is_last or c[unit] < last:
            removed[unit] = 1.0
            lowest += c[unit]
    return lowest


@compiled(FLOAT, _OPEN, given(INT32), *[made(FLOAT)] * 4)
def _bottom(
    trees: Any, spoils: Any, slopes: FloatArray, lifts: FloatArray, gaps: FloatArray, removed: FloatArray
) -> float:
    """Return the offset below the trees, and note which units are removed where each tree is lowest.

    A literal lifts its leaf by what its condition spoils: `spoils` has the place of that in `lifts`.
    """
    values, first_leaf, first_literal, pair, must, first_pair, _ = trees
    offset = 0.0
    for p in range(len(slopes)):
        rising = max(slopes[p], 0.0)
        lifts[2 * p], lifts[2 * p + 1] = rising, rising - slopes[p]
        removed[p] = 1.0 if slopes[p] > 0 else 0.0
    for tree in range(len(first_leaf) - 1):
        own = 0.0
        for p in range(first_pair[tree], first_pair[tree + 1]):
            own += lifts[2 * p]
        lowest, n_touching = np.inf, 0
        for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
            gap = values[leaf]
            for literal in range(first_literal[leaf], first_literal[leaf + 1]):
                gap += lifts[spoils[literal]]
            gaps[leaf] = gap
            if gap < lowest:
                lowest, n_touching = gap, 0
            n_touching += gap == lowest
        offset += lowest - own
        for leaf in range(first_leaf[tree], first_leaf[tree + 1]):
            if gaps[leaf] == lowest:
                for literal in range(first_literal[leaf], first_literal[leaf + 1]):
                    p = pair[literal]
                    if must[literal] and slopes[p] <= 0:
                        removed[p] += 1.0 / n_touching
                    elif slopes[p] > 0 and not must[literal]:
                        removed[p] -= 1.0 / n_touching
    return offset


@compiled(
    BOOL,
    _OPEN,
    tuple_of(FLOAT, FLOAT, INT),
    tuple_of(*[FLOAT] * 5),
    given(FLOAT),
    *[made(FLOAT)] * 6,
)
def climb(
    trees: Any,
    goal: tuple[float, float, int],
    habits: tuple[float, ...],
    linear: FloatArray,
    slopes: FloatArray,
    best: FloatArray,
    coefficients: FloatArray,
    direction: FloatArray,
    uphill: FloatArray,
    state: FloatArray,
) -> bool:
    """Take steps until a bound is worth a try (and return True), or there have been enough."""
    constant, aim, k = goal
    n_steps, patience, shorter, deflection, worth = habits
    unit_of_pair = trees[6]
    n_units, n_pairs = len(linear), len(slopes)
    gaps, at_bottom, lifts = np.empty(len(trees[0])), np.empty(n_pairs), np.empty(2 * n_pairs)
    spoils = np.empty(len(trees[3]), dtype=np.int32)
    for literal in range(len(spoils)):
        spoils[literal] = 2 * trees[3][literal] + trees[4][literal]
    c, negative, removed = np.empty(n_units), np.empty(n_units), np.empty(n_units)
    while state[N_STEPS] < n_steps:
        state[N_STEPS] += 1
        offset = _bottom(trees, spoils, slopes, lifts, gaps, at_bottom)
        c[:] = linear
        for p in range(n_pairs):
            c[unit_of_pair[p]] += slopes[p]
        bound = constant + offset + _choose(c, k, negative, removed)
        state[STALLED] += 1
        is_worth = bound > state[TRIED]
        if bound > state[HIGHEST]:
            state[STALLED], state[HIGHEST], state[OFFSET], state[IS_NEW] = 0, bound, offset, 1
            best[:] = slopes
            coefficients[:] = c
        if is_worth:
            state[TRIED], state[IS_NEW] = max(bound, worth * bound), 0
        if state[STALLED] == patience:
            state[PACE] *= shorter
            state[STALLED] = 0
        back = 0.0
        for p in range(n_pairs):
            uphill[p] = removed[unit_of_pair[p]] - at_bottom[p]
            back += uphill[p] * direction[p]
        turn = 0.0 if back >= 0 else -deflection * back / state[STEEPNESS]
        steepness = 0.0
        for p in range(n_pairs):
            direction[p] = uphill[p] + turn * direction[p]
            steepness += direction[p] * direction[p]
        state[STEEPNESS] = steepness
        if steepness < 1e-18:
            state[N_STEPS] = n_steps
        else:
            length = state[PACE] * (aim - bound) / steepness
            for p in range(n_pairs):
                slopes[p] += length * direction[p]
        if is_worth:
            return True
    return False
