"""What a region leaves open of trees: leaves with their conditions on free units."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray, firsts
from butfor.models.compiled import tree_kernels
from butfor.models.formula.trees.local_leaves import LocalLeaves


class Bottom(NamedTuple):
    """Where the trees, less the linear functions of some slopes, are lowest."""

    offset: float
    """The sum of the least values of all trees."""
    removed: FloatArray
    """Pairs: whether the unit is removed where the tree is lowest; a share, if that is at several leaves."""


class Fixed(NamedTuple):
    """What is left of trees after units have been fixed."""

    trees: "OpenTrees"
    """The trees over the units that stay free, but for those that are constant or linear now."""
    pairs: IntArray
    """The pairs that are left, by their old numbers."""
    constant: float
    """The sum of the trees that are left out, if no free unit is removed."""
    linear: FloatArray
    """What the removal of each free unit adds to that."""


@dataclass(frozen=True, eq=False)
class OpenTrees:
    """Leaves of trees over the free units, and their conditions: literals, in the order of the leaves.

    A pair is a tree and a unit on which a leaf of it has a condition. The leaves need not cover all removal
    sets: those that no set of a region reaches are left out. Arrays of firsts have the end as one more entry.
    """

    values: FloatArray
    """Leaves: their numbers; or leaves × functions, where there are several sums of trees."""
    first_leaf: IntArray
    """Trees: the first of their leaves."""
    first_literal: IntArray
    """Leaves: the first of their literals."""
    pair: IntArray
    """Literals: the pair."""
    must: BoolArray
    """Literals: whether the unit must be removed, or must not be."""
    first_pair: IntArray
    """Trees: the first of their pairs."""
    unit_of_pair: IntArray
    """Pairs: the unit."""
    number: IntArray | None = None
    """Leaves: their numbers among all leaves of the row, where someone keeps account of them."""

    @staticmethod
    def of(leaves: LocalLeaves) -> "OpenTrees":
        """Return the trees of a row."""
        kernels = tree_kernels()
        if kernels is not None:
            return OpenTrees(leaves.values, leaves.first_leaf, *kernels.literals(leaves.flat, leaves.n_units))
        leaf, unit, must = leaves.literals
        pairs, pair = np.unique(leaves.tree[leaf] * leaves.n_units + unit, return_inverse=True)
        tree_of_pair, unit_of_pair = np.divmod(pairs, max(1, leaves.n_units))
        first_literal, n_trees = firsts(leaf, len(leaves)), len(leaves.first_leaf) - 1
        return OpenTrees(
            leaves.values,
            leaves.first_leaf,
            first_literal,
            pair,
            must,
            firsts(tree_of_pair, n_trees),
            unit_of_pair,
        )

    @cached_property
    def flat(self) -> tuple[Any, ...]:
        """The arrays as compiled loops take them."""
        return (
            np.ascontiguousarray(self.values),
            self.first_leaf,
            self.first_literal,
            self.pair,
            self.must,
            self.first_pair,
            self.unit_of_pair,
        )

    @cached_property
    def size(self) -> float:
        """The sum of the absolute numbers of all leaves."""
        return float(np.abs(self.values).sum())

    @cached_property
    def tree(self) -> IntArray:
        """Leaves: the tree."""
        return np.repeat(np.arange(self._n_trees), np.diff(self.first_leaf))

    @cached_property
    def leaf(self) -> IntArray:
        """Literals: the leaf."""
        return np.repeat(np.arange(len(self.values)), np.diff(self.first_literal))

    @cached_property
    def tree_of_pair(self) -> IntArray:
        """Pairs: the tree."""
        return np.repeat(np.arange(self._n_trees), np.diff(self.first_pair))

    def weighted(self, weights: FloatArray) -> "OpenTrees":
        """Return the trees of one weighted sum of the functions."""
        return replace(self, values=self.values @ weights)

    def value(self, removed: BoolArray) -> FloatArray:
        """Return the sum of the leaves that one removal set reaches."""
        return np.asarray(self.values[self.reached_by(removed)].sum(axis=0))

    def reached_by(self, removed: BoolArray) -> IntArray:
        """Return the leaves that one removal set reaches."""
        broken = self.must != removed[self.unit_of_pair[self.pair]]
        return np.flatnonzero(np.bincount(self.leaf, broken, minlength=len(self.values)) == 0)

    def least(self, k: int) -> FloatArray:
        """Bound each function from below, on all sets of at most k units."""
        return np.asarray(self._lowest((self.n_must <= k)[:, np.newaxis], self.values).sum(axis=0))

    @cached_property
    def _spoiling(self) -> Any:
        """A matrix of leaves × (falling slopes, then rising slopes), with a one for each literal."""
        n_leaves, n_pairs = len(self.values), len(self.unit_of_pair)
        columns = self.pair + np.where(self.must, 0, n_pairs)
        return sparse.csr_array((np.ones(len(columns)), columns, self.first_literal), (n_leaves, 2 * n_pairs))

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
        lowest = np.minimum.reduceat(gaps, self.first_leaf[:-1])
        touching = (gaps == lowest[self.tree]).astype(np.float64)
        touching /= np.add.reduceat(touching, self.first_leaf[:-1])[self.tree]
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

    def fixed(self, gone: BoolArray, stays: BoolArray, k: int) -> Fixed:
        """Return the trees where at most k more units are removed, all of them among those that stay free."""
        kernels = tree_kernels()
        if kernels is not None:
            *arrays, pairs, constant, linear = kernels.fixed(self.flat, gone, stays, k)
            return Fixed(OpenTrees(*arrays), pairs, constant, linear)
        trees, pairs = (
            (self, np.arange(len(self.unit_of_pair))) if stays.all() else self.narrowed(gone, stays)
        )
        reduced = trees._reduced(k, int(stays.sum()))
        return reduced._replace(pairs=pairs[reduced.pairs])

    def _reduced(self, k: int, n_units: int) -> Fixed:
        """Drop leaves that need more than k removals, and take out what is constant or linear."""
        possible = self.n_must <= k
        is_level = self._lowest(possible, self.values) == -self._lowest(possible, -self.values)
        used = np.zeros(len(self.unit_of_pair), dtype=bool)
        used[self.pair[possible[self.leaf]]] = True
        is_open = ~is_level & (np.bincount(self.tree_of_pair[used], minlength=self._n_trees) > 1)
        if is_open.all() and possible.all():
            return Fixed(self, np.arange(len(self.unit_of_pair)), 0.0, np.zeros(n_units))
        trees, pairs = self._only(possible & is_open[self.tree], np.ones(len(self.leaf), dtype=bool))
        now, straight = self._values_now(), possible & ~(is_open | is_level)[self.tree]  # trees with one unit
        literals = self.must & straight[self.leaf]
        changes = (self.values - now[self.tree])[self.leaf[literals]]
        units = self.unit_of_pair[self.pair[literals]]
        linear = np.bincount(units, changes, minlength=n_units).astype(np.float64)
        return Fixed(trees, pairs, float(now[~is_open].sum()), linear)

    def _lowest(self, possible: BoolArray, values: FloatArray) -> FloatArray:
        """Return the least value of each tree at its possible leaves (trees, or trees × functions)."""
        if not len(values):
            return values
        return np.asarray(
            np.minimum.reduceat(np.where(possible, values, np.inf), self.first_leaf[:-1], axis=0)
        )

    @property
    def _n_trees(self) -> int:
        return len(self.first_leaf) - 1

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
        tree_of_pair = np.searchsorted(kept_trees, self.tree_of_pair[pairs])
        leaf = (np.cumsum(leaves) - 1)[self.leaf[literals]]
        n_leaves, n_trees = int(leaves.sum()), len(kept_trees)
        return (
            OpenTrees(
                self.values[leaves],
                firsts(tree, n_trees),
                firsts(leaf, n_leaves),
                pair,
                self.must[literals],
                firsts(tree_of_pair, n_trees),
                self.unit_of_pair[pairs],
                None if self.number is None else self.number[leaves],
            ),
            pairs,
        )
