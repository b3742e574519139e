"""Kernel machines on sparse support vectors: a removal changes only the kernels that share the feature."""

from dataclasses import replace
from typing import cast

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.quadratic import QuadraticRegion
from butfor.models.bounds.region import Region
from butfor.models.formula.activations import Curved, Exponential
from butfor.models.formula.network import Network
from butfor.models.local.deadline import Deadline
from butfor.models.local.formula import FormulaModel
from butfor.models.record_row import AnyRow
from butfor.models.scorer import Scorer


class SparseKernel(FormulaModel):
    """A weighted sum of kernels, few of which change with each feature.

    With the rbf kernel the removal of a feature also multiplies all kernels by the same factor, that of its
    square. This common factor is taken out of the sum.
    """

    def __init__(
        self,
        network: Network,
        scorer: Scorer,
        row: AnyRow,
        *,
        deadline: Deadline | None = None,
        costs: FloatArray | None = None,
    ) -> None:
        super().__init__(network, scorer, row, deadline=deadline, costs=costs)
        (layer,) = network.layers
        self._activation = cast(Curved, layer.activation)
        self._weights = layer.weights[:, 0]
        self._bias = float(layer.bias[0])
        own = sparse.csr_array(self.affine.own)
        self.affine = replace(self.affine, own=own)
        self._unit_of = np.repeat(np.arange(self.n_features), np.diff(own.indptr))
        self._common = np.zeros(self.n_features) if self.affine.common is None else self.affine.common

    def _region(self, max_size: int, outputs: FloatArray) -> Region:
        weights, now, own = outputs[0] * self._weights, self.affine.now, self.affine.own
        constant = outputs[0] * self._bias - self._limit
        if not np.isfinite(self._limit):
            return super()._region(max_size, outputs)
        if self.affine.common is not None:
            # Dividing by the common factor keeps the sign of the excess over the limit. The constant becomes
            # one more neuron, which rises with each removal, as the divisor falls.
            own = sparse.hstack([own, sparse.csr_array(-self._common[:, np.newaxis])], format="csr")
            weights, now, constant = np.append(weights, constant), np.append(now, 0.0), 0.0
        return QuadraticRegion(
            **self._all_sets(max_size),
            constant=constant,
            activation=self._activation,
            weights=weights,
            z=now,
            drops=own,
            candidate=np.zeros(self.n_features, dtype=bool),
        ).without_idle_neurons()

    def _scores(self, removed: BoolArray) -> FloatArray:
        scores = np.empty(len(removed))
        for some in self._slices(len(removed)):
            bits = removed[some].astype(np.float64)
            z = self.affine.now - (self.affine.own.T @ bits.T).T - (bits @ self._common)[:, np.newaxis]
            scores[some] = self._activation.value(z) @ self._weights + self._bias
        return scores

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        own, z = self.affine.own, self.affine.now.copy()
        for unit in removed:
            stretch = slice(own.indptr[unit], own.indptr[unit + 1])
            z[own.indices[stretch]] -= own.data[stretch]
        values = self._weights * self._activation.value(z)
        changes = np.bincount(self._unit_of, self._changes(z, values), minlength=self.n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            factors = np.exp(-self._common[list(removed)].sum() - self._common[candidates])
            scores = np.asarray(self._bias + factors * (values.sum() + changes[candidates]))
            # A large factor magnifies what rounding left of terms that cancel: these sets are scored anew.
            unsafe = np.flatnonzero(~(factors * np.abs(values).sum() < 1e14 * self._error))
        if unsafe.size:
            scores[unsafe] = self._scores(self._sets_with_each(removed, candidates[unsafe]))
        return scores

    def _changes(self, z: FloatArray, values: FloatArray) -> FloatArray:
        """Return the change of each kernel with each feature that it shares."""
        shared = self.affine.own.indices
        if isinstance(self._activation, Exponential):
            return np.asarray(values[shared] * np.expm1(-self.affine.own.data))
        moved = self._activation.value(z[shared] - self.affine.own.data)
        return np.asarray(self._weights[shared] * moved - values[shared])
