"""Support vector machines: a weighted sum of kernels, each a function of one affine function of the row."""

from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.formula.activations import Activation, Exponential, Identity, Power, Tanh
from butfor.models.formula.affine import AffineMap
from butfor.models.formula.families.linear import linear_network
from butfor.models.formula.mixed_map import distances, linear_map
from butfor.models.formula.network import Layer, Network
from butfor.models.formula.preprocessing import Preprocessing


def read_svm(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read the decision function of an SVC or NuSVC.

    Its own `predict_proba` stays a black box: it comes out of an iteration that stops early and is no exact
    function of the decision value. That of a CalibratedClassifierCV around an SVC can be read. With more than
    two classes the model counts votes of pairs, for which there are no bounds.
    """
    if method != "decision_function" or len(model.classes_) > 2:
        return None
    if model.kernel == "linear":
        # The model adds up its support vectors, whose weights may cancel in the coefficients.
        strength = np.abs(_dense(model.dual_coef_)) @ abs(model.support_vectors_)
        return linear_network(model.coef_, model.intercept_, Identity(), steps, strength)
    kernel = _kernel(model, steps)
    if kernel is None:
        return None
    affine_map, activation = kernel
    weights = _dense(model.dual_coef_).reshape(-1, 1)
    layer = Layer(activation, weights, model.intercept_)
    return Network(f"{model.kernel} kernel", (affine_map,), (layer,), sparse=True)


def _kernel(model: Any, steps: Preprocessing) -> tuple[AffineMap, Activation] | None:
    gamma, vectors = model._gamma, model.support_vectors_
    columns = sparse.csr_array(vectors.T) if sparse.issparse(vectors) else np.ascontiguousarray(vectors.T)
    if model.kernel == "rbf":
        squared_norms = np.ravel((columns * columns).sum(axis=0))
        affine_map = distances(columns, gamma, squared_norms, steps)
        return None if affine_map is None else (affine_map, Exponential())
    if model.kernel in ("poly", "sigmoid"):
        affine_map = linear_map(gamma * columns, np.full(columns.shape[1], float(model.coef0)), steps)
        return affine_map, Power(int(model.degree)) if model.kernel == "poly" else Tanh()
    return None


def _dense(matrix: Any) -> Any:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)
