"""Naive Bayes for counts and bits: the difference of two linear forms, the log-likelihoods of the classes."""

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
        bias = np.zeros(2)  # with two classes it leaves the prior out
    if type(model).__name__ == "BernoulliNB":
        absent = np.log(1 - np.exp(weights))
        weights, bias = weights - absent, bias + absent.sum(axis=1)
        if model.binarize is not None:
            steps = replace(steps, transformers=(*steps.transformers, _binarizer(model.binarize)))
    difference = Layer(Identity(), np.array([[-1.0], [1.0]]), np.zeros(1))
    return Network("linear", (LinearForms(weights.T, bias, steps),), (difference,), Logistic())


def _binarizer(threshold: float) -> Any:
    from sklearn.preprocessing import Binarizer

    return Binarizer(threshold=threshold)
