"""Models of sixteen features, small enough that brute force judges their explanations."""

import warnings
from functools import cache

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

MODELS = {
    "linear": LogisticRegression(),
    "neural network": MLPClassifier((8,), max_iter=40, learning_rate_init=0.05, random_state=0),
    "deep network": MLPClassifier((6, 4), max_iter=40, learning_rate_init=0.05, random_state=0),
    "rbf kernel": SVC(C=10),
}
N_FEATURES = 16


@cache
def fitted(name):
    rng = np.random.default_rng(1)
    X = sparse.csr_matrix(
        (rng.random((150, N_FEATURES)) < 0.6) * rng.integers(1, 3, (150, N_FEATURES)).astype(float)
    )
    y = X @ rng.normal(size=N_FEATURES) + 2 * (X[:, [0]].multiply(X[:, [1]])).toarray().ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name].fit(X, y > np.median(y)), X
