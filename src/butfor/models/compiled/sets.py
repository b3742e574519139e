"""Loops over removal sets that rows of networks and of kernel machines share, compiled by numba."""

import numpy as np

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.compiled.types import BOOL, INT, compiled, given, made

FLIPS, REFUTED, OPEN, UNSURE = 0, 1, 2, 3
"""What is known of sets: one of them flips; none does; neither; or a score is too close to the threshold."""


@compiled(INT, INT, INT, INT, INT)
def n_sets(n_units: int, smallest: int, largest: int, at_most: int) -> int:
    """Return the number of sets of these sizes; `at_most` + 1 if there are more than that."""
    total = 0
    for size in range(smallest, min(largest, n_units) + 1):
        of_size = 1
        for i in range(min(size, n_units - size)):
            of_size = of_size * (n_units - i) // (i + 1)
            if of_size > at_most:
                return at_most + 1
        total += of_size
        if total > at_most:
            return at_most + 1
    return total


@compiled(BOOL, made(INT), INT)
def next_places(places: IntArray, n_free: int) -> bool:
    """Move on to the next set of the same size, by its places among the free units; False at the end."""
    size = len(places)
    last = size - 1
    while last >= 0 and places[last] == n_free - size + last:
        last -= 1
    if last < 0:
        return False
    places[last] += 1
    for i in range(last + 1, size):
        places[i] = places[i - 1] + 1
    return True


@compiled(BOOL, given(BOOL, 2), INT, INT)
def is_known(masks: BoolArray, last: int, length: int) -> bool:
    """Return whether a mask is one of those before it."""
    for each in range(last):
        i = 0
        while i < length and masks[each, i] == masks[last, i]:
            i += 1
        if i == length:
            return True
    return False


@compiled(made(INT), given(INT), given(INT), given(BOOL))
def chosen_units(first: IntArray, free: IntArray, is_chosen: BoolArray) -> IntArray:
    """Return some units, then those free ones that are chosen."""
    n_chosen = 0
    for i in range(len(free)):
        n_chosen += is_chosen[i]
    units = np.empty(len(first) + n_chosen, dtype=np.int64)
    for i in range(len(first)):
        units[i] = first[i]
    place = len(first)
    for i in range(len(free)):
        if is_chosen[i]:
            units[place] = free[i]
            place += 1
    return units
