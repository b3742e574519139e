"""Brute force over units: the judge of answers about groups, texts, classes and costs."""

from itertools import combinations


def subsets(n, largest=None):
    """Give all subsets of n units, the empty one first, by size."""
    sizes = range((n if largest is None else largest) + 1)
    return [units for size in sizes for units in combinations(range(n), size)]


def minimum(flips, n, costs=None):
    """Give the least cost of a set that flips, and all sets of that cost; (None, []) if none does.

    `flips` tells of a list of sets which of them flip.
    """
    sets = subsets(n)[1:]
    flipping = [units for units, does in zip(sets, flips(sets), strict=True) if does]
    if not flipping:
        return None, []

    def cost(units):
        return len(units) if costs is None else sum(costs[unit] for unit in units)

    least = min(map(cost, flipping))
    return least, [units for units in flipping if abs(cost(units) - least) < 1e-9]
