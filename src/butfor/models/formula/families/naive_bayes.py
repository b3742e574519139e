"""Naive Bayes for counts and bits: the log-likelihoods of the classes are affine; two are subtracted."""

from typing import Any

import numpy as np

from butfor.models.formula.activations import Identity, Logistic
from butfor.models.formula.families.steps import steps_behind
from butfor.models.formula.mixed_map import linear_map
from butfor.models.formula.network import Layer, Network
from butfor.models.formula.preprocessing import Preprocessing


def read_naive_bayes(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read MultinomialNB, ComplementNB or BernoulliNB."""
    weights, bias = model.feature_log_prob_, model.class_log_prior_
    if type(model).__name__ == "ComplementNB":
        bias = np.zeros(len(bias))  # it ignores the prior
    if type(model).__name__ == "BernoulliNB":
        absent = np.log(1 - np.exp(weights))
        weights, bias = weights - absent, bias + absent.sum(axis=1)
        if model.binarize is not None:
            binary = steps_behind(steps, _binarizer(model.binarize))
            if binary is None:
                return None
            steps = binary
    affine_map = linear_map(weights.T, bias, steps)
    if len(bias) > 2:
        return Network("linear", (affine_map,), softmax=True)
    difference = Layer(Identity(), np.array([[-1.0], [1.0]]), np.zeros(1))
    return Network("linear", (affine_map,), (difference,), Logistic())


def _binarizer(threshold: float) -> Any:
    from sklearn.preprocessing import Binarizer

    return Binarizer(threshold=threshold)
