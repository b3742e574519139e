"""Decision trees with numbers at their leaves, as flat arrays over the nodes of all trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, FloatArray, IntArray

Nodes = npt.NDArray[np.integer[Any]]
ALMOST_ZERO = float(np.float32(1e-35))
"""Values up to this size are zero to LightGBM."""


@dataclass(frozen=True, eq=False)
class Categories:
    """Which categories go left at the nodes that split on categories."""

    start: npt.NDArray[np.int64]
    """Nodes: where the categories of a node begin in `goes_left`; −1 for a node that compares numbers."""
    count: npt.NDArray[np.int64]
    """Nodes: for how many categories, from zero on, `goes_left` has an entry."""
    goes_left: BoolArray
    """Whether a category goes left: the categories 0, 1, … of one node, then those of the next."""
    others_left: BoolArray
    """Nodes: whether negative numbers and categories beyond the last one go left."""
    fractions: Literal["cut", "cut if positive", "unknown"] = "cut"
    """What becomes of a number that is not whole: its fraction is cut off, or it is no known category."""

    def left(self, nodes: Nodes, values: FloatArray) -> BoolArray:
        """Return whether values go left at nodes that split on categories."""
        category = np.trunc(values)
        known = (category >= 0) & (category < self.count[nodes])
        if self.fractions != "cut":
            known &= values >= 0 if self.fractions == "cut if positive" else values == category
        place = np.where(known, self.start[nodes] + np.where(known, category, 0).astype(np.int64), 0)
        return np.where(known, self.goes_left[place], self.others_left[nodes])


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes of many binary trees: inner nodes, which compare one feature, and leaves, which hold numbers.

    A tree adds the numbers of the leaf that a row reaches to one output, or to all of them.
    """

    feature: npt.NDArray[np.int32]
    """Nodes: the column that an inner node looks at; −1 for a leaf."""
    threshold: FloatArray
    """Nodes: values of at most this go left. Where the library says "less than", it is the number before."""
    left: npt.NDArray[np.int32]
    """Nodes: the node on the left; −1 for a leaf."""
    right: npt.NDArray[np.int32]
    missing_left: BoolArray
    """Nodes: whether a missing value (NaN) goes left."""
    values: FloatArray
    """Nodes × width: the numbers of the leaves. The width is one, or the number of outputs."""
    roots: npt.NDArray[np.int32]
    """Trees: the node at which each begins."""
    output_of: IntArray | None = None
    """Trees: the output to which each adds its number. None: each leaf has a number for every output."""
    single: bool = False
    """Whether the library rounds the values of rows to single precision before it compares them."""
    zero_is_missing: BoolArray | None = None
    """Nodes: whether a zero is treated as a missing value; None: nowhere."""
    categories: Categories | None = None
    """The nodes that split on categories; None if there are none."""

    @property
    def n_features(self) -> int:
        """One more than the last column that any node looks at."""
        return int(self.feature.max(initial=-1)) + 1

    def goes_left(self, nodes: Nodes, values: FloatArray) -> BoolArray:
        """Return whether a value goes left at each of some inner nodes; NaN is a missing value."""
        if self.single:
            with np.errstate(over="ignore"):
                values = values.astype(np.float32).astype(np.float64)
        left = values <= self.threshold[nodes]
        if self.categories is not None:
            by_category = self.categories.start[nodes] >= 0
            if by_category.any():
                left[by_category] = self.categories.left(nodes[by_category], values[by_category])
        missing = np.isnan(values)
        if self.zero_is_missing is not None:
            missing |= (np.abs(values) <= ALMOST_ZERO) & self.zero_is_missing[nodes]
        return np.where(missing, self.missing_left[nodes], left)

    def rescaled(self, factor: float) -> "Trees":
        """Return the trees with all numbers multiplied."""
        return replace(self, values=factor * self.values)

    def take(self, order: IntArray, **changes: Any) -> "Trees":
        """Return the trees with their nodes in another order; children and roots must be among `changes`."""
        nodes = ("feature", "threshold", "missing_left", "values", "zero_is_missing")
        moved = {name: getattr(self, name) for name in nodes if getattr(self, name) is not None}
        moved = {name: array[order] for name, array in moved.items()}
        categories = self.categories
        if categories is not None:
            moved["categories"] = replace(
                categories,
                start=categories.start[order],
                count=categories.count[order],
                others_left=categories.others_left[order],
            )
        return replace(self, **moved, **changes)


def spread(numbers: npt.NDArray[Any], places: Nodes, n_nodes: int, elsewhere: float) -> npt.NDArray[Any]:
    """Return an array over all nodes with the given numbers at their places."""
    over_all = np.full(n_nodes, elsewhere, dtype=numbers.dtype)
    over_all[places] = numbers
    return over_all


def joined(members: Sequence[Trees]) -> Trees:
    """Return single trees of scikit-learn as one object; their leaves are of the same width."""
    first = members[0]
    sizes = np.array([len(each.feature) for each in members])
    roots = np.cumsum(sizes) - sizes
    offsets = np.repeat(roots, sizes).astype(np.int32)
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in members])
        for name in ("feature", "threshold", "left", "right", "missing_left", "values")
    }
    for name in ("left", "right"):
        arrays[name] = np.where(arrays[name] < 0, -1, arrays[name] + offsets)
    return replace(first, **arrays, roots=roots.astype(np.int32))
