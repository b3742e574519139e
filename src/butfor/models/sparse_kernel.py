"""Kernel machines on sparse support vectors: a removal changes only the kernels that share the feature."""

from dataclasses import replace
from typing import cast

import numpy as np
from scipy import sparse

from butfor.models.activations import Curved, Exponential
from butfor.models.base import BoolArray, FloatArray, IntArray
from butfor.models.network import Network
from butfor.models.partial import Partial
from butfor.models.quadratic_region import QuadraticRegion
from butfor.models.region import Region
from butfor.models.row import Row
from butfor.models.scorer import Scorer


class SparseKernel(Partial):
    """A weighted sum of kernels, of which few move with each feature.

    With the rbf kernel all of them gain the same factor when a feature goes, its square. It is taken out of
    the sum.
    """

    def __init__(self, network: Network, scorer: Scorer, row: Row) -> None:
        super().__init__(network, scorer, row)
        (layer,) = network.layers
        self._activation = cast(Curved, layer.activation)
        self._weights = layer.weights[:, 0]
        self._bias = float(layer.bias[0])
        own = sparse.csr_array(self.forms.own)
        self.forms = replace(self.forms, own=own)
        self._feature_of = np.repeat(np.arange(self.n_features), np.diff(own.indptr))
        self._common = np.zeros(self.n_features) if self.forms.common is None else self.forms.common

    def _region(self, max_size: int, outputs: FloatArray) -> Region:
        weights, now, own = outputs[0] * self._weights, self.forms.now, self.forms.own
        constant = outputs[0] * self._bias - self._limit
        if not np.isfinite(self._limit):
            return super()._region(max_size, outputs)
        if self.forms.common is not None:
            # Divided by the common factor the excess over the limit keeps its sign; the constant becomes one
            # more unit, that rises where all others fell.
            own = sparse.hstack([own, sparse.csr_array(-self._common[:, np.newaxis])], format="csr")
            weights, now, constant = np.append(weights, constant), np.append(now, 0.0), 0.0
        return QuadraticRegion(
            **self._everything(max_size),
            constant=constant,
            activation=self._activation,
            weights=weights,
            z=now,
            drops=own,
            candidate=np.zeros(self.n_features, dtype=bool),
        ).without_idle_units()

    def _scores(self, removed: BoolArray) -> FloatArray:
        scores = np.empty(len(removed))
        for some in self._chunks(len(removed)):
            bits = removed[some].astype(np.float64)
            z = self.forms.now - (self.forms.own.T @ bits.T).T - (bits @ self._common)[:, np.newaxis]
            scores[some] = self._activation.value(z) @ self._weights + self._bias
        return scores

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        own, z = self.forms.own, self.forms.now.copy()
        for feature in removed:
            stretch = slice(own.indptr[feature], own.indptr[feature + 1])
            z[own.indices[stretch]] -= own.data[stretch]
        values = self._weights * self._activation.value(z)
        changes = np.bincount(self._feature_of, self._changes(z, values), minlength=self.n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            factors = np.exp(-self._common[list(removed)].sum() - self._common[candidates])
            scores = np.asarray(self._bias + factors * (values.sum() + changes[candidates]))
            # What cancels in the sum comes back with a large factor: such sets are scored the long way.
            unsafe = np.flatnonzero(~(factors * np.abs(values).sum() < 1e14 * self._error))
        if unsafe.size:
            scores[unsafe] = self._scores(self._sets_with_each(removed, candidates[unsafe]))
        return scores

    def _changes(self, z: FloatArray, values: FloatArray) -> FloatArray:
        """Give the change of each kernel with each feature that it shares."""
        shared = self.forms.own.indices
        if isinstance(self._activation, Exponential):
            return np.asarray(values[shared] * np.expm1(-self.forms.own.data))
        moved = self._activation.value(z[shared] - self.forms.own.data)
        return np.asarray(self._weights[shared] * moved - values[shared])
