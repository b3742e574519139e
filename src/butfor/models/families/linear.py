"""Linear classifiers: one linear form."""

from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.activations import Identity, Link, Logistic, Steps
from butfor.models.forms import LinearForms
from butfor.models.network import Network
from butfor.models.preprocessing import Preprocessing


def read_linear(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read anything with `coef_` and `intercept_`."""
    link = _link(model, method)
    return None if link is None else linear_network(model.coef_, model.intercept_, link, steps)


def linear_network(
    coef: Any, intercept: Any, link: Link, steps: Preprocessing, strength: Any = None
) -> Network:
    """Make the network of coefficients, dense or sparse, one a column."""
    weights = _column(coef)
    bias = np.ravel(intercept).astype(np.float64)
    forms = LinearForms(weights, bias, steps, None if strength is None else _column(strength))
    return Network("linear", (forms,), link=link)


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
