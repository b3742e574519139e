"""Pipeline steps that are affine functions of the whole row: projections, scales, selections."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import FloatArray

PROJECTIONS = {
    "GaussianRandomProjection",
    "IncrementalPCA",
    "LinearDiscriminantAnalysis",
    "PCA",
    "SparseRandomProjection",
    "TruncatedSVD",
}
"""Transformers whose outputs are affine functions of all inputs."""
SCALES = {"MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"}
"""Transformers that multiply each column by a number and add another."""


@dataclass(frozen=True, eq=False)
class Operator:
    """The affine function x · matrix + shift."""

    matrix: Any
    """inputs × outputs, an array or CSR."""
    shift: FloatArray
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009 - frozen
    """The dtype of the transformer's own numbers."""

    def pulled(self, weights: Any) -> tuple[Any, FloatArray]:
        """Return the same functions of the inputs: weights, and what they add to the bias."""
        return self.matrix @ weights, np.ravel(self.shift @ weights)

    def pulled_sizes(self, sizes: Any) -> Any:
        """Return bounds on the absolute terms of functions of the outputs, as functions of the inputs."""
        return abs(self.matrix) @ sizes


def operator_of(transformer: Any) -> Operator | None:
    """Return a fitted transformer as an affine function, if it is known to be one.

    >>> from sklearn.preprocessing import StandardScaler
    >>> operator = operator_of(StandardScaler().fit([[0.0], [4.0]]))
    >>> operator.matrix.toarray(), operator.shift
    (array([[0.5]]), array([-1.]))
    """
    name = type(transformer).__name__
    if name in PROJECTIONS:
        return _projection(transformer)
    if name in SCALES:
        return _scale(transformer)
    if hasattr(transformer, "get_support"):
        kept = np.flatnonzero(transformer.get_support())
        n_inputs = len(transformer.get_support())
        matrix = sparse.csr_array(
            (np.ones(len(kept)), (kept, np.arange(len(kept)))), shape=(n_inputs, len(kept))
        )
        return Operator(matrix, np.zeros(len(kept)))
    return None


def _projection(transformer: Any) -> Operator:
    name = type(transformer).__name__
    if name == "LinearDiscriminantAnalysis":
        matrix = transformer.scalings_[:, : transformer._max_components]
        mean = transformer.xbar_ if transformer.solver == "svd" else np.zeros(len(matrix))
    else:
        matrix = transformer.components_.T
        mean = getattr(transformer, "mean_", None)
        mean = np.zeros(matrix.shape[0]) if mean is None else mean
    if getattr(transformer, "whiten", False):
        deviations = np.sqrt(transformer.explained_variance_)
        smallest = np.finfo(deviations.dtype).eps
        matrix = matrix / np.where(deviations < smallest, smallest, deviations)
    matrix = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix)
    dtype, matrix = np.dtype(matrix.dtype), matrix.astype(np.float64)
    return Operator(matrix, -np.ravel(mean @ matrix), dtype)


def _scale(transformer: Any) -> Operator | None:
    """Return a scale, from what it learned."""
    if getattr(transformer, "clip", False):
        return None
    n = transformer.n_features_in_
    factors, shift = np.ones(n), np.zeros(n)
    name = type(transformer).__name__
    if name == "MinMaxScaler":
        factors, shift = transformer.scale_, transformer.min_
    elif name == "MaxAbsScaler":
        factors = 1 / transformer.scale_
    else:
        centre = getattr(transformer, "mean_" if name == "StandardScaler" else "center_", None)
        is_scaled = transformer.with_std if name == "StandardScaler" else transformer.with_scaling
        is_centred = transformer.with_mean if name == "StandardScaler" else transformer.with_centering
        factors = 1 / transformer.scale_ if is_scaled else factors
        shift = -centre * factors if is_centred and centre is not None else shift
    return Operator(
        sparse.diags_array(np.asarray(factors, dtype=np.float64), format="csr"), np.asarray(shift)
    )
