"""Linear classifiers: one affine function, or one for each class."""

from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.formula.activations import Identity, Link, Logistic, Steps
from butfor.models.formula.mixed_map import linear_map
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing

SOFTMAX = {"LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis"}
"""Classifiers whose probabilities of many classes are a softmax of their affine functions."""


def read_linear(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read a classifier with `coef_` and `intercept_`."""
    if len(model.classes_) > 2:
        return _read_many(model, method, steps)
    link = _link(model, method)
    return None if link is None else linear_network(model.coef_, model.intercept_, link, steps)


def _read_many(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read one affine function for each class, which the model may turn into probabilities by softmax."""
    softmax = method == "predict_proba"
    one_by_one = getattr(model, "multi_class", "") == "ovr" or getattr(model, "solver", "") == "liblinear"
    if softmax and (type(model).__name__ not in SOFTMAX or one_by_one):
        return None
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
    affine_map = linear_map(coef.T, np.ravel(model.intercept_).astype(np.float64), steps)
    return Network("linear", (affine_map,), softmax=softmax)


def linear_network(
    coef: Any, intercept: Any, link: Link, steps: Preprocessing, strength: Any = None
) -> Network:
    """Return the network of coefficients, dense or sparse, one for each column."""
    weights = _column(coef)
    bias = np.ravel(intercept).astype(np.float64)
    affine_map = linear_map(weights, bias, steps, None if strength is None else _column(strength))
    return Network("linear", (affine_map,), link=link)


def _column(coef: Any) -> Any:
    return (coef.toarray() if sparse.issparse(coef) else np.asarray(coef)).reshape(-1, 1)


def _link(model: Any, method: str) -> Link | None:
    if method == "decision_function":
        return Identity()
    if getattr(model, "multi_class", None) == "multinomial":  # before scikit-learn 1.8: another formula
        return None
    if getattr(model, "loss", None) == "modified_huber":
        return Steps(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))
    return Logistic()
