"""Bounds for columns that are counted in several places of a text: ranges, and lines below their tables."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.formula.ratios import Ratios, Tables, of_norm


@dataclass(frozen=True, eq=False)
class OpenCounts:
    """How the counts of a text's columns change with the free units of a region.

    The change of a count is `moved` − r · changes, and what the leaves add that r reaches.
    """

    tables: Tables
    free: IntArray
    """The free units, by their numbers in the text."""
    moved: FloatArray
    """Columns: the change without any free unit removed, less what leaves add to the whole text."""
    least: FloatArray
    most: FloatArray
    """Columns: the least and the largest change."""

    @staticmethod
    def of(tables: Tables, trees: OpenTrees | None, k: int) -> "OpenCounts":
        """Return the counts of all sets of at most k units."""
        now = np.zeros(len(tables))
        if trees is not None:
            now = tables.counted_at((trees.n_must == 0).astype(np.float64))
        fall, rise = _by_unit(tables, trees)
        least = np.maximum(tables.low - tables.now, -_largest_by_column(fall, k))
        most = np.minimum(tables.high - tables.now, _largest_by_column(rise, k))
        return OpenCounts(tables, np.arange(tables.changes.shape[0]), -now, least, most)

    def narrowed(self, gone: BoolArray, stays: BoolArray) -> "OpenCounts":
        """Return the counts once some units are removed and others stay free."""
        return replace(self, moved=self._without(gone), free=self.free[stays])

    def _without(self, removed: BoolArray) -> FloatArray:
        """Return the changes without some free units, less what leaves add."""
        every = np.zeros(self.tables.changes.shape[0])
        every[self.free[removed]] = 1.0
        return self.moved - self.tables.change_without(every)

    def at(self, candidate: BoolArray, trees: OpenTrees | None) -> FloatArray:
        """Return the change of each count for one set of free units."""
        change = self._without(candidate)
        if trees is None:
            return change
        reached = np.zeros(self.tables.at_leaves.shape[0])
        reached[_numbers(trees)[trees.reached_by(candidate)]] = 1.0
        return change + self.tables.counted_at(reached)

    def of_units(self, slopes: FloatArray) -> FloatArray:
        """Return what each free unit adds to weighted sums of the counts (columns × sums)."""
        return np.asarray((self.tables.changes @ slopes)[self.free])

    def of_leaves(self, slopes: FloatArray, trees: OpenTrees) -> FloatArray:
        """Return what each leaf that is left adds to weighted sums of the counts (columns × sums)."""
        return np.asarray((self.tables.at_leaves @ slopes)[_numbers(trees)])

    def lines_below(
        self, ratios: Ratios, of_raw: FloatArray, at: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return lines below what tables add to weighted sums of the raw functions (functions × sums).

        Returns offsets (sums), and slopes in the changes of counts (columns × sums). They touch near the
        changes `at`.
        """
        tables = self.tables
        steps = np.arange(int((self.most - self.least).max(initial=0.0)) + 1)
        change = np.minimum(self.least[:, np.newaxis] + steps, self.most[:, np.newaxis])
        every = np.arange(len(tables))
        numbers = tables.number(every[:, np.newaxis], tables.now[:, np.newaxis] + change)
        here = tables.number(every, tables.now)
        n_sums = of_raw.shape[1]
        heights = np.zeros((len(tables), len(steps), n_sums))
        for branch, norm in enumerate(ratios.norms):
            own = tables.branch == branch
            weights = tables.weights[own] @ of_raw[ratios.parts(branch)]
            gain = numbers[own] - here[own, np.newaxis]
            heights[own] += gain[:, :, np.newaxis] * weights[:, np.newaxis]
            if norm is not None:
                gain = of_norm(norm, numbers[own]) - of_norm(norm, here[own])[:, np.newaxis]
                heights[own] += gain[:, :, np.newaxis] * of_raw[ratios.norm_at[branch]]
        slopes = _touching_slopes(change, heights, np.clip(np.round(at), self.least, self.most))
        offsets = (heights - slopes[:, np.newaxis] * change[:, :, np.newaxis]).min(axis=1)
        return offsets.sum(axis=0), slopes


def _numbers(trees: OpenTrees) -> IntArray:
    """Return the numbers of the leaves that are left, among all leaves of the row."""
    return np.arange(len(trees.values)) if trees.number is None else trees.number


def _touching_slopes(change: FloatArray, heights: FloatArray, at: FloatArray) -> FloatArray:
    """Return slopes of lines that touch heights from below at a point, if they can (columns × sums)."""
    far = change - at[:, np.newaxis]
    place = np.argmin(np.abs(far), axis=1)
    own = np.take_along_axis(heights, place[:, np.newaxis, np.newaxis], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = (heights - own) / far[:, :, np.newaxis]
    left = np.where(far[:, :, np.newaxis] < 0, rises, -np.inf).max(axis=1)
    right = np.where(far[:, :, np.newaxis] > 0, rises, np.inf).min(axis=1)
    left, right = np.where(np.isfinite(left), left, right), np.where(np.isfinite(right), right, left)
    return np.where(np.isfinite(left), 0.5 * (np.where(np.isfinite(left), left, 0.0) + right), 0.0)


def _by_unit(tables: Tables, trees: OpenTrees | None) -> tuple[Any, Any]:
    """Bound how far the removal of each unit can lower and raise each count (units × columns, CSR)."""
    changes = tables.changes.tocoo()
    entries = [[changes.row, changes.col, np.maximum(changes.data, 0.0), np.maximum(-changes.data, 0.0)]]
    if trees is not None and tables.at_leaves.nnz:
        entries.append(_by_unit_of_trees(tables.at_leaves.tocoo(), trees))
    unit, column, fall, rise = (np.concatenate(each) for each in zip(*entries, strict=True))
    shape = tables.changes.shape
    return sparse.csr_array((fall, (unit, column)), shape), sparse.csr_array((rise, (unit, column)), shape)


def _by_unit_of_trees(at_leaves: Any, trees: OpenTrees) -> list[Any]:
    """Bound what each tree can change of a count; every unit of the tree may be the cause."""
    n_columns = at_leaves.shape[1]
    tree_of = trees.tree[at_leaves.row]
    order = np.argsort(tree_of * n_columns + at_leaves.col, kind="stable")
    keys = (tree_of * n_columns + at_leaves.col)[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts, is_now = at_leaves.data[order], (trees.n_must == 0)[at_leaves.row[order]]
    tree, column = np.divmod(keys[first], n_columns)
    has_all = np.diff(np.append(first, len(keys))) == np.diff(trees.first_leaf)[tree]
    low, high = np.minimum.reduceat(counts, first), np.maximum.reduceat(counts, first)
    low, high = (np.where(has_all, low, np.minimum(low, 0.0)), np.where(has_all, high, np.maximum(high, 0.0)))
    now = np.add.reduceat(np.where(is_now, counts, 0.0), first)
    n_units = np.diff(trees.first_pair)[tree]
    group = np.repeat(np.arange(len(tree)), n_units)
    within = np.arange(len(group)) - np.repeat(np.cumsum(n_units) - n_units, n_units)
    unit = trees.unit_of_pair[trees.first_pair[tree[group]] + within]
    return [unit, column[group], (now - low)[group], (high - now)[group]]


def _largest_by_column(matrix: Any, k: int) -> FloatArray:
    """Return the sum of the k largest entries of each column."""
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    entries = matrix.tocoo()
    order = np.lexsort((-entries.data, entries.col))
    columns = entries.col[order]
    rank = np.arange(len(order)) - np.searchsorted(columns, columns)
    kept = rank < k
    return np.bincount(columns[kept], entries.data[order][kept], minlength=matrix.shape[1]).astype(np.float64)
