"""What a region leaves open of trees: leaves with their conditions on free units."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.formula.trees.local_leaves import LocalLeaves


class Bottom(NamedTuple):
    """Where the trees, less the linear functions of some slopes, are lowest."""

    offset: float
    """The sum of the least values of all trees."""
    removed: FloatArray
    """Pairs: whether the unit is removed where the tree is lowest; a share, if that is at several leaves."""


@dataclass(frozen=True, eq=False)
class OpenTrees:
    """Leaves of trees over the free units, and their conditions: literals, in the order of the leaves.

    A pair is a tree and a unit on which a leaf of it has a condition. The leaves need not cover all removal
    sets: those that no set of a region reaches are left out.
    """

    values: FloatArray
    """Leaves: their numbers; or leaves × functions, where there are several sums of trees."""
    tree: IntArray
    """Leaves: their trees, ascending from zero."""
    leaf: IntArray
    """Literals: the leaf, ascending."""
    pair: IntArray
    """Literals: the pair."""
    must: BoolArray
    """Literals: whether the unit must be removed, or must not be."""
    unit_of_pair: IntArray
    """Pairs: the unit. Pairs are in the order of their trees."""
    tree_of_pair: IntArray

    @staticmethod
    def of(leaves: LocalLeaves) -> "OpenTrees":
        """Return the trees of a row."""
        leaf, unit, must = leaves.literals
        pairs, pair = np.unique(leaves.tree[leaf] * leaves.n_units + unit, return_inverse=True)
        tree_of_pair, unit_of_pair = np.divmod(pairs, max(1, leaves.n_units))
        return OpenTrees(leaves.values, leaves.tree, leaf, pair, must, unit_of_pair, tree_of_pair)

    def weighted(self, weights: FloatArray) -> "OpenTrees":
        """Return the trees of one weighted sum of the functions."""
        return replace(self, values=self.values @ weights)

    def value(self, removed: BoolArray) -> FloatArray:
        """Return the sum of the leaves that one removal set reaches."""
        broken = self.must != removed[self.unit_of_pair[self.pair]]
        reached = np.bincount(self.leaf, broken, minlength=len(self.values)) == 0
        return np.asarray(self.values[reached].sum(axis=0))

    def least(self, k: int) -> FloatArray:
        """Bound each function from below, on all sets of at most k units."""
        return np.asarray(self._lowest((self.n_must <= k)[:, np.newaxis], self.values).sum(axis=0))

    @cached_property
    def _first_leaves(self) -> IntArray:
        return np.flatnonzero(np.diff(self.tree, prepend=-1))

    @cached_property
    def _spoiling(self) -> Any:
        """A matrix of leaves × (falling slopes, then rising slopes), with a one for each literal."""
        n_leaves, n_pairs = len(self.values), len(self.unit_of_pair)
        starts = np.searchsorted(self.leaf, np.arange(n_leaves + 1))
        columns = self.pair + np.where(self.must, 0, n_pairs)
        return sparse.csr_array((np.ones(len(columns)), columns, starts), (n_leaves, 2 * n_pairs))

    @cached_property
    def _spoiling_of_pairs(self) -> Any:
        return self._spoiling.T

    @cached_property
    def n_must(self) -> IntArray:
        """Leaves: how many units must be removed."""
        return np.bincount(self.leaf[self.must], minlength=len(self.values))

    def changes_of_single_removals(self) -> FloatArray:
        """Return, for each pair, how the tree changes when the unit alone is removed."""
        literals = self.must & (self.n_must == 1)[self.leaf]
        changes = np.zeros(len(self.unit_of_pair))
        changes[self.pair[literals]] = (self.values - self._values_now()[self.tree])[self.leaf[literals]]
        return changes

    def bottom(self, slopes: FloatArray) -> Bottom:
        """Return the offset of the highest linear functions with these slopes below the trees.

        A leaf is lowest where, of the units on which it has no condition, those of positive slope are
        removed. So its gap is its number, less all positive slopes of the tree, plus the slopes that its
        conditions spoil.
        """
        rising = np.maximum(slopes, 0.0)
        gaps = self.values + self._spoiling @ np.concatenate([rising - slopes, rising])
        lowest = np.minimum.reduceat(gaps, self._first_leaves)
        touching = (gaps == lowest[self.tree]).astype(np.float64)
        touching /= np.add.reduceat(touching, self._first_leaves)[self.tree]
        must, may_not = (self._spoiling_of_pairs @ touching).reshape(2, -1)
        return Bottom(float(lowest.sum() - rising.sum()), must + (1 - must - may_not) * (slopes > 0))

    def narrowed(self, gone: BoolArray, stays: BoolArray) -> tuple["OpenTrees", IntArray]:
        """Return the trees over the units that stay free, and the pairs that are left.

        Units in `gone` are removed; those that neither are nor stay free are kept.
        """
        unit = self.unit_of_pair[self.pair]
        broken = np.where(self.must, ~(gone | stays)[unit], gone[unit])
        possible = np.ones(len(self.values), dtype=bool)
        possible[self.leaf[broken]] = False
        trees, pairs = self._only(possible, stays[unit])
        return replace(trees, unit_of_pair=(np.cumsum(stays) - 1)[trees.unit_of_pair]), pairs

    def reduced(self, k: int, n_units: int) -> tuple["OpenTrees", IntArray, float, FloatArray]:
        """Drop leaves that need more than k removals, and take out what is constant or linear.

        Returns the trees that are left, their pairs, the constant, and the linear term of each unit.
        """
        possible = self.n_must <= k
        is_level = self._lowest(possible, self.values) == -self._lowest(possible, -self.values)
        used = np.zeros(len(self.unit_of_pair), dtype=bool)
        used[self.pair[possible[self.leaf]]] = True
        is_open = ~is_level & (np.bincount(self.tree_of_pair[used], minlength=self._n_trees) > 1)
        if is_open.all() and possible.all():
            return self, np.arange(len(self.unit_of_pair)), 0.0, np.zeros(n_units)
        trees, pairs = self._only(possible & is_open[self.tree], np.ones(len(self.leaf), dtype=bool))
        now, straight = self._values_now(), possible & ~(is_open | is_level)[self.tree]  # trees with one unit
        literals = self.must & straight[self.leaf]
        changes = (self.values - now[self.tree])[self.leaf[literals]]
        units = self.unit_of_pair[self.pair[literals]]
        linear = np.bincount(units, changes, minlength=n_units).astype(np.float64)
        return trees, pairs, float(now[~is_open].sum()), linear

    def _lowest(self, possible: BoolArray, values: FloatArray) -> FloatArray:
        """Return the least value of each tree at its possible leaves (trees, or trees × functions)."""
        if not len(values):
            return values
        return np.asarray(np.minimum.reduceat(np.where(possible, values, np.inf), self._first_leaves, axis=0))

    @property
    def _n_trees(self) -> int:
        return int(self.tree.max(initial=-1)) + 1

    def _values_now(self) -> FloatArray:
        """Return the value of each tree if no free unit is removed."""
        now = np.zeros(self._n_trees)
        none = self.n_must == 0
        now[self.tree[none]] = self.values[none]
        return now

    def _only(self, leaves: BoolArray, literals: BoolArray) -> tuple["OpenTrees", IntArray]:
        """Return some of the leaves with some of their literals, and the pairs that are left."""
        literals = literals & leaves[self.leaf]
        pairs, pair = np.unique(self.pair[literals], return_inverse=True)
        kept_trees, tree = np.unique(self.tree[leaves], return_inverse=True)
        return (
            OpenTrees(
                self.values[leaves],
                tree,
                (np.cumsum(leaves) - 1)[self.leaf[literals]],
                pair,
                self.must[literals],
                self.unit_of_pair[pairs],
                np.searchsorted(kept_trees, self.tree_of_pair[pairs]),
            ),
            pairs,
        )
