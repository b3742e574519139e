"""Naive Bayes for counts and bits: linear forms, the log-likelihoods of the classes, and their difference."""

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.models.activations import Identity, Logistic
from butfor.models.forms import LinearForms
from butfor.models.network import Layer, Network
from butfor.models.preprocessing import Preprocessing


def read_naive_bayes(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read MultinomialNB, ComplementNB or BernoulliNB."""
    weights, bias = model.feature_log_prob_, model.class_log_prior_
    if type(model).__name__ == "ComplementNB":
        bias = np.zeros(len(bias))  # it leaves the prior out
    if type(model).__name__ == "BernoulliNB":
        absent = np.log(1 - np.exp(weights))
        weights, bias = weights - absent, bias + absent.sum(axis=1)
        if model.binarize is not None:
            steps = replace(steps, transformers=(*steps.transformers, _binarizer(model.binarize)))
    forms = LinearForms(weights.T, bias, steps)
    if len(bias) > 2:
        return Network("linear", (forms,), softmax=True)
    difference = Layer(Identity(), np.array([[-1.0], [1.0]]), np.zeros(1))
    return Network("linear", (forms,), (difference,), Logistic())


def _binarizer(threshold: float) -> Any:
    from sklearn.preprocessing import Binarizer

    return Binarizer(threshold=threshold)
