"""Many rows of a linear model at once: sorting the terms of a row gives its smallest removal set."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.formula.activations import Identity, Zone
from butfor.models.formula.affine import LinearMap, precision_of_sums
from butfor.models.formula.network import Network
from butfor.models.row_kind import RowKind


@dataclass(frozen=True, eq=False)
class LinearRows:
    """A model of two classes whose score, on the wide scale, is a sum of one term for each active feature."""

    network: Network
    affine_map: LinearMap
    weights: FloatArray
    bias: float

    @staticmethod
    def of(network: Network | None) -> "LinearRows | None":
        """Return a network as one such sum, or None if it is not one."""
        if network is None or len(network.affine_maps) != 1 or network.softmax:
            return None
        (affine_map,) = network.affine_maps
        bent = any(layer.activation != Identity() for layer in network.layers)
        if bent or not isinstance(affine_map, LinearMap) or sparse.issparse(affine_map.weights):
            return None
        weights, bias = affine_map.weights.astype(np.float64), affine_map.bias
        for layer in network.layers:
            weights, bias = weights @ layer.weights, bias @ layer.weights + layer.bias
        finite = np.isfinite(weights).all() and np.isfinite(bias).all()
        if weights.shape[1] != 1 or not finite:
            return None
        return LinearRows(network, affine_map, weights[:, 0], float(bias[0]))

    def answers(
        self, X: Any, kind: RowKind, threshold: float, max_size: int, removable: BoolArray
    ) -> "AnsweredRows | None":
        """Sort the terms of each row by how much they are evidence for its decision, and find where it flips.

        Parameters
        ----------
        X : canonical CSR matrix
            The rows.
        kind : RowKind
            The kind of table in which the model gets them.
        threshold : float
            The threshold of the decision, on the user's scale.
        max_size : int
            The largest size of a removal set.
        removable : array of bool
            Which entries of X may be removed.

        Returns
        -------
        AnsweredRows or None
            None if the steps before the model do not keep each entry in its place.
        """
        placed = PlacedRows.of(self.network, self.affine_map, X, kind, threshold)
        if placed is None:
            return None
        terms = placed.Z.data * self.weights[X.indices]
        fixed = np.full(X.shape[0], self.bias)
        return sort_terms(terms, X.indptr, fixed, placed.errors, placed.zone, max_size, removable)


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows that went through the steps before a model, with each entry in its place."""

    Z: Any
    errors: FloatArray
    """How far each score, on the wide scale, may be off by rounding."""
    zone: Zone
    """The scores that are too close to the threshold to be sure of the model's decision."""

    @staticmethod
    def of(
        network: Network, affine_map: LinearMap, X: Any, kind: RowKind, threshold: float
    ) -> "PlacedRows | None":
        """Send rows through the steps; None unless each entry stays in its place."""
        Z = affine_map.steps.in_place(X, kind)
        if Z is None:
            return None
        precision = precision_of_sums(int(np.diff(X.indptr).max(initial=0)), Z.dtype, affine_map.dtype)
        precision = max(precision, network.precision)
        size = abs(Z.astype(np.float64)) @ affine_map.absolute_weights + np.abs(affine_map.bias)
        error = precision * size
        for layer in network.layers:
            size, error = layer.error(size, error, precision)
        return PlacedRows(Z, np.asarray(error[:, 0]), network.link.zone(threshold, precision))


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """The smallest answers of a block of rows."""

    done: BoolArray
    """The rows whose answer is sure; others are left open, as where rounding matters at the threshold."""
    positive: BoolArray
    """Whether each row is decided positive."""
    scores: FloatArray
    """The scores of the rows themselves, on the wide scale."""
    errors: FloatArray
    """How far these may be off by rounding."""
    sizes: IntArray
    """The size of the smallest flipping set; zero where no set of at most `max_size` features flips."""
    order: IntArray
    """rows × max_size: the entry of the block that is removed first, second, …"""
    scores_without: FloatArray
    """rows × max_size: the wide score without the first, the first two, …"""
    n_removable: IntArray
    """The number of features that may be removed."""
    n_scored: IntArray
    """As many sets as the search scores."""

    def __getitem__(self, which: BoolArray) -> "AnsweredRows":
        """Return the answers of some of the rows."""
        return AnsweredRows(**{each.name: getattr(self, each.name)[which] for each in fields(self)})

    @cached_property
    def in_answer(self) -> BoolArray:
        """rows × max_size: which of the entries in `order` are in the smallest set."""
        return np.asarray(np.arange(self.order.shape[1]) < self.sizes[:, np.newaxis])


def sort_terms(
    terms: FloatArray,
    indptr: IntArray,
    fixed: FloatArray,
    errors: FloatArray,
    zone: Zone,
    max_size: int,
    removable: BoolArray,
) -> AnsweredRows:
    """Sort the terms of each row by how much they are evidence for its decision, and find where it flips.

    Parameters
    ----------
    terms : array
        The terms of all rows, one row after the other.
    indptr : array
        Where the terms of each row begin, and where the last ones end.
    fixed : array
        What is added to the terms of each row.
    errors : array
        How far each score may be off by rounding.
    zone : Zone
        The scores that are too close to the threshold to be sure of the model's decision.
    max_size : int
        The largest size of a removal set.
    removable : array of bool
        Which terms may be removed.

    Returns
    -------
    AnsweredRows
    """
    n_rows = len(fixed)
    row_of = np.repeat(np.arange(n_rows), np.diff(indptr))
    scores = np.bincount(row_of, terms, minlength=n_rows).astype(np.float64) + fixed
    positive = scores > zone.middle
    sign = np.where(positive, 1.0, -1.0)
    low = np.where(positive, zone.low, -zone.high) - errors
    high = np.where(positive, zone.high, -zone.low) + 2 * errors  # twice: a proof compares two rounded sums
    drops = sign[row_of] * terms
    order, drops = _descending(drops, np.flatnonzero(removable & (drops > 0)), indptr, max_size)
    turned = (sign * scores)[:, np.newaxis]
    matters = turned - (turned - drops) > 0  # a term that is lost in rounding is no evidence
    after = turned - np.cumsum(np.where(matters, drops, 0.0), axis=1)
    flips = matters & (after < low[:, np.newaxis])
    unsure = matters & (after <= high[:, np.newaxis]) & ~flips
    n_unflipped = np.where(flips.any(axis=1), flips.argmax(axis=1), flips.shape[1])
    doubtful = (unsure & (np.arange(flips.shape[1]) < n_unflipped[:, np.newaxis])).any(axis=1)
    n_removable = np.bincount(row_of[removable], minlength=n_rows)
    sizes = np.where(flips.any(axis=1), n_unflipped + 1, 0)
    return AnsweredRows(
        done=~doubtful & (turned[:, 0] > high) & np.isfinite(scores),
        positive=positive,
        scores=scores,
        errors=errors,
        sizes=sizes,
        order=order,
        scores_without=sign[:, np.newaxis] * after,
        n_removable=n_removable,
        # Every feature alone, then the ranking from the top.
        n_scored=n_removable + np.where(sizes == 1, 0, matters.sum(axis=1)),
    )


def _descending(
    values: FloatArray, chosen: IntArray, indptr: IntArray, max_kept: int
) -> tuple[IntArray, FloatArray]:
    """Sort chosen entries within rows, the highest first, and keep the first ones of each row.

    Equal entries stay in their order. Returns two arrays with a row for each row: the position of each entry
    and its value, −1 and −∞ where a row has no more.

    >>> values, chosen = np.array([1.0, 3.0, 2.0, 5.0]), np.array([0, 1, 3])
    >>> order, kept = _descending(values, chosen, np.array([0, 3, 4]), 9)
    >>> order.tolist(), kept.tolist()
    ([[1, 0], [3, -1]], [[3.0, 1.0], [5.0, -inf]])
    """
    bounds = np.searchsorted(chosen, indptr)
    starts, lengths, values_of_chosen = bounds[:-1], np.diff(bounds), values[chosen]
    n_kept = min(max_kept, max(1, int(lengths.max(initial=0))))
    order = np.full((len(lengths), n_kept), -1, dtype=np.intp)
    # Rows of about the same length are sorted together, as one padded matrix.
    for doublings in np.unique(np.frexp(lengths[lengths > 0])[1]):
        rows = np.flatnonzero(np.frexp(lengths)[1] == doublings)
        steps = np.arange(lengths[rows].max())
        entries = starts[rows, np.newaxis] + steps
        is_there = steps < lengths[rows, np.newaxis]
        padded = np.where(is_there, values_of_chosen[np.minimum(entries, len(chosen) - 1)], -np.inf)
        best = np.argsort(-padded, axis=1, kind="stable")[:, :n_kept]
        kept = np.where(np.take_along_axis(is_there, best, axis=1), starts[rows, np.newaxis] + best, -1)
        order[rows, : kept.shape[1]] = kept
    if not len(chosen):
        return order, np.full(order.shape, -np.inf)
    is_kept = order >= 0
    return np.where(is_kept, chosen[order], -1), np.where(is_kept, values_of_chosen[order], -np.inf)
