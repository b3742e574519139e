"""Trees in an order that makes partial evaluation at a row fast: spine after spine.

From any node on, follow the branch that a row takes if it has no active features. These nodes, down to a
leaf, are a spine. Each node lies on one spine, and the nodes of a spine stand side by side. Seen from a row,
a spine is left only at nodes that look at one of its active features, so that a few large array operations
find them all.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.formula.trees.nodes import Nodes, Trees


@dataclass(frozen=True, eq=False)
class Spines:
    """The nodes of trees, spine after spine, for rows whose inactive features have these values."""

    trees: Trees
    """The trees with their nodes in this order."""
    absent_left: BoolArray
    """Nodes: whether the value of an inactive feature goes left."""
    off_spine: npt.NDArray[np.int32]
    """Nodes: the child that is not on the node's spine; −1 for a leaf."""
    end: npt.NDArray[np.int32]
    """Nodes: the leaf at the end of the node's spine."""
    repeats_features: bool
    """Whether a feature has several nodes on any spine."""

    @cached_property
    def flat(self) -> tuple[Any, ...] | None:
        """The arrays as compiled loops take them; None where they cannot follow the trees: by categories."""
        trees = self.trees
        if trees.categories is not None:
            return None
        zeros = np.zeros(0, dtype=bool) if trees.zero_is_missing is None else trees.zero_is_missing
        arrays = trees.roots, trees.feature, trees.threshold, trees.missing_left, zeros
        return tuple(
            np.require(each, requirements=["C", "A"])
            for each in (*arrays, self.absent_left, self.off_spine, self.end)
        )

    @staticmethod
    def of(trees: Trees, absent: FloatArray) -> "Spines":
        """Order the nodes of trees; `absent` is the value of all inactive features, or has one for each."""
        nodes, inner = np.arange(len(trees.feature)), trees.feature >= 0
        values = np.take(absent, np.maximum(trees.feature, 0), mode="clip")
        absent_left = trees.goes_left(nodes, values) & inner
        on = np.where(absent_left, trees.left, trees.right)
        off = np.where(absent_left, trees.right, trees.left)
        place = _places(trees.roots, inner, on, off)
        order = np.empty(len(place), dtype=np.int64)
        order[place] = nodes
        leaves = np.flatnonzero(~inner[order])
        ends = leaves[np.searchsorted(leaves, nodes)].astype(np.int32)
        moved = trees.take(
            order,
            left=_renumbered(trees.left, place, order),
            right=_renumbered(trees.right, place, order),
            roots=place[trees.roots].astype(np.int32),
        )
        split = np.flatnonzero(inner[order])
        repeats = len(np.unique(ends[split] * np.int64(trees.n_features) + moved.feature[split])) < len(split)
        return Spines(moved, absent_left[order], _renumbered(off, place, order), ends, repeats)


def _places(roots: Nodes, inner: BoolArray, on: Nodes, off: Nodes) -> IntArray:
    """Return the place of each node: a node, then all below it on its spine's side, then all on the other."""
    levels = [roots.astype(np.int64)]
    while (parents := levels[-1][inner[levels[-1]]]).size:
        levels.append(np.concatenate([on[parents], off[parents]]))
    size = np.ones(len(inner), dtype=np.int64)
    for level in reversed(levels):
        parents = level[inner[level]]
        size[parents] += size[on[parents]] + size[off[parents]]
    place = np.zeros(len(inner), dtype=np.int64)
    place[roots] = np.cumsum(size[roots]) - size[roots]
    for level in levels:
        parents = level[inner[level]]
        place[on[parents]] = place[parents] + 1
        place[off[parents]] = place[parents] + 1 + size[on[parents]]
    return place


def _renumbered(children: Nodes, place: IntArray, order: IntArray) -> npt.NDArray[np.int32]:
    """Return children by their new places, in the new order of their parents."""
    moved = children[order]
    return np.where(moved < 0, -1, place[moved]).astype(np.int32)
