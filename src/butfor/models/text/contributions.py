"""What the pieces of a text add to the columns of a vectoriser, as functions of what is removed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import IntArray
from butfor.models.counted import AtLeaves, Conditions, Counted, Literal, Several, Single

Counts = Mapping[int, float]
"""Columns, and how often each is counted."""
Leaf = tuple[tuple[Literal, ...], Counts]
"""Conditions, and what is counted where they hold."""


@dataclass(eq=False)
class Contributions:
    """Counts that are there in any case, that depend on one unit, or that depend on several."""

    fixed: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    single: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    """For a unit and a column: the counts while the unit is there, and once it is removed."""
    trees: dict[tuple[tuple[Literal, ...], ...], list[dict[int, float]]] = field(default_factory=dict)
    """For the conditions of the leaves of a tree: the counts at each of them. One leaf always holds."""

    def add_fixed(self, counts: Counts) -> None:
        """Add what no removal changes."""
        for column, count in counts.items():
            self.fixed[column] += count

    def add_single(self, unit: int, kept: Counts, removed: Counts) -> None:
        """Add what depends on one unit."""
        for which, counts in enumerate((kept, removed)):
            for column, count in counts.items():
                self.single.setdefault((unit, column), [0.0, 0.0])[which] += count

    def add_tree(self, leaves: Iterable[Leaf]) -> None:
        """Add what depends on several units; trees of the same conditions become one."""
        leaves = list(leaves)
        if not any(counts for _, counts in leaves):
            return
        conditions = tuple(literals for literals, _ in leaves)
        known = self.trees.setdefault(conditions, [{} for _ in leaves])
        for own, (_, counts) in zip(known, leaves, strict=True):
            for column, count in counts.items():
                own[column] = own.get(column, 0.0) + count

    def renumbered(self, units: IntArray) -> "Contributions":
        """Return the same with other numbers of units: `units` holds the new number of each."""
        number = units.tolist()
        other = Contributions(self.fixed)
        for (unit, column), (kept, removed) in self.single.items():
            own = other.single.setdefault((number[unit], column), [0.0, 0.0])
            own[0] += kept
            own[1] += removed
        for conditions, leaves in self.trees.items():
            renamed = tuple(tuple((number[unit], must) for unit, must in literals) for literals in conditions)
            other.trees[renamed] = leaves
        return other

    def counts(self, removed: set[int]) -> dict[int, float]:
        """Return the counts without some units."""
        counts = defaultdict(float, self.fixed)
        for (unit, column), (kept, gone) in self.single.items():
            counts[column] += gone if unit in removed else kept
        for conditions, leaves in self.trees.items():
            for literals, own in zip(conditions, leaves, strict=True):
                if all((unit in removed) == must for unit, must in literals):
                    for column, count in own.items():
                        counts[column] += count
        return {column: count for column, count in counts.items() if count}


def counted(contributions: Contributions, n_units: int, n_columns: int, dtype: Any) -> Counted:
    """Sort the columns by what they depend on."""
    sources: dict[int, list[int]] = {column: [] for column in contributions.fixed}
    for unit, column in contributions.single:
        sources.setdefault(column, []).append(unit)
    for tree, leaves in enumerate(contributions.trees.values()):
        for column in {column for counts in leaves for column in counts}:
            sources.setdefault(column, []).append(n_units + tree)
    several = sorted(column for column, known in sources.items() if len(known) > 1)
    in_trees = {
        column: known[0] - n_units
        for column, known in sources.items()
        if len(known) == 1 and known[0] >= n_units
    }
    rest = sorted(column for column in sources if column not in in_trees and len(sources[column]) < 2)
    return Counted(
        n_columns,
        dtype,
        _single(contributions, rest, sources),
        _at_leaves(contributions, in_trees),
        _several(contributions, several, n_units),
        _conditions(contributions),
    )


def _single(contributions: Contributions, columns: list[int], sources: dict[int, list[int]]) -> Single:
    units, kept, removed = [], [], []
    for column in columns:
        unit = sources[column][0] if sources[column] else -1
        fixed = contributions.fixed.get(column, 0.0)
        own = contributions.single.get((unit, column), (0.0, 0.0))
        units.append(unit)
        kept.append(fixed + own[0])
        removed.append(fixed + own[1])
    return Single(
        np.array(columns, dtype=np.intp),
        np.array(kept, dtype=np.float64),
        np.array(removed, dtype=np.float64),
        np.array(units, dtype=np.intp),
    )


def _at_leaves(contributions: Contributions, in_trees: dict[int, int]) -> AtLeaves:
    also_fixed: dict[int, list[int]] = {}
    for column, tree in in_trees.items():
        if contributions.fixed.get(column):
            also_fixed.setdefault(tree, []).append(column)
    entries: list[tuple[int, int, float]] = []
    leaf = 0
    for tree, leaves in enumerate(contributions.trees.values()):
        for counts in leaves:
            for column in also_fixed.get(tree, ()):
                counts = {**counts, column: contributions.fixed[column] + counts.get(column, 0.0)}
            entries += [(leaf, column, count) for column, count in counts.items() if column in in_trees]
            leaf += 1
    entries = [entry for entry in entries if entry[2]]
    leaves_, columns, counts_ = zip(*entries, strict=True) if entries else ((), (), ())
    return AtLeaves(
        np.array(leaves_, dtype=np.intp),
        np.array(columns, dtype=np.intp),
        np.array(counts_, dtype=np.float64),
    )


def _several(contributions: Contributions, columns: list[int], n_units: int) -> Several:
    place = {column: at for at, column in enumerate(columns)}
    n_leaves = sum(map(len, contributions.trees.values()))
    now = np.array([contributions.fixed.get(column, 0.0) for column in columns], dtype=np.float64)
    low, high = now.copy(), now.copy()
    singles: list[tuple[int, int, float]] = []
    for (unit, column), (kept, removed) in contributions.single.items():
        at = place.get(column)
        if at is not None:
            singles.append((unit, at, kept - removed))
            now[at] += kept
            low[at] += min(kept, removed)
            high[at] += max(kept, removed)
    entries: list[tuple[int, int, float]] = []
    leaf = 0
    for conditions, leaves in contributions.trees.items():
        ranges: dict[int, list[float]] = {}
        for literals, counts in zip(conditions, leaves, strict=True):
            is_now = not any(must for _, must in literals)
            for column, count in counts.items():
                at = place.get(column)
                if at is not None:
                    entries.append((leaf, at, count))
                    ranges.setdefault(at, []).append(count)
                    now[at] += count if is_now else 0.0
            leaf += 1
        for at, of_leaves in ranges.items():
            known = of_leaves if len(of_leaves) == len(leaves) else [*of_leaves, 0.0]
            low[at] += min(known)
            high[at] += max(known)
    return Several(
        np.array(columns, dtype=np.intp),
        now,
        _matrix(singles, (n_units, len(columns))),
        _matrix(entries, (n_leaves, len(columns))),
        low,
        high,
    )


def _matrix(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> Any:
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csr_array((np.array(values, dtype=np.float64), (rows, columns)), shape=shape)


def _conditions(contributions: Contributions) -> Conditions:
    literals = tuple(each for conditions in contributions.trees for each in conditions)
    sizes = [len(conditions) for conditions in contributions.trees]
    return Conditions(literals, np.repeat(np.arange(len(sizes)), sizes))
