"""Naive Bayes for counts and bits: the log-likelihoods of the classes are affine; two are subtracted."""

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.models.formula.activations import Identity, Logistic
from butfor.models.formula.affine import LinearMap
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
            steps = replace(steps, transformers=(*steps.transformers, _binarizer(model.binarize)))
    affine_map = LinearMap(weights.T, bias, steps)
    if len(bias) > 2:
        return Network("linear", (affine_map,), softmax=True)
    difference = Layer(Identity(), np.array([[-1.0], [1.0]]), np.zeros(1))
    return Network("linear", (affine_map,), (difference,), Logistic())


def _binarizer(threshold: float) -> Any:
    from sklearn.preprocessing import Binarizer

    return Binarizer(threshold=threshold)
