"""Support vector machines: a weighted sum of kernels, each a function of one linear form of the row."""

from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.activations import Activation, Exponential, Identity, Power, Tanh
from butfor.models.families.linear import linear_network
from butfor.models.forms import Forms, LinearForms, SquaredDistances
from butfor.models.network import Layer, Network
from butfor.models.preprocessing import Preprocessing


def read_svm(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read the decision function of an SVC or NuSVC.

    Its own `predict_proba` comes out of an iteration that stops early, no exact function of the decision
    value, and stays a black box; that of a CalibratedClassifierCV around an SVC does not. With more than two
    classes it counts the votes of pairs, which is no formula to prove with.
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
    forms, activation = kernel
    weights = _dense(model.dual_coef_).reshape(-1, 1)
    layer = Layer(activation, weights, model.intercept_)
    return Network(f"{model.kernel} kernel", (forms,), (layer,), sparse=True)


def _kernel(model: Any, steps: Preprocessing) -> tuple[Forms, Activation] | None:
    gamma, vectors = model._gamma, model.support_vectors_
    columns = sparse.csr_array(vectors.T) if sparse.issparse(vectors) else np.ascontiguousarray(vectors.T)
    if model.kernel == "rbf":
        squared_norms = np.ravel((columns * columns).sum(axis=0))
        return SquaredDistances(columns, gamma, squared_norms, steps), Exponential()
    if model.kernel in ("poly", "sigmoid"):
        forms = LinearForms(gamma * columns, np.full(columns.shape[1], float(model.coef0)), steps)
        return forms, Power(int(model.degree)) if model.kernel == "poly" else Tanh()
    return None


def _dense(matrix: Any) -> Any:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)
