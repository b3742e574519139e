"""scikit-learn's own classes with weights put in by hand: small models without fitting."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer


def logistic_regression(weights, intercept=0.0) -> LogisticRegression:
    model = LogisticRegression()
    model.coef_ = np.atleast_2d(np.asarray(weights, dtype=float))
    model.intercept_ = np.array([float(intercept)])
    model.classes_ = np.array([0, 1])
    model.n_features_in_ = model.coef_.shape[1]
    return model


def mlp(*layers, activation="relu") -> MLPClassifier:
    """Make a network of (weights, bias) pairs, the last with one output."""
    model = MLPClassifier([len(bias) for _, bias in layers[:-1]], activation=activation)
    model.coefs_ = [np.asarray(weights, dtype=float) for weights, _ in layers]
    model.intercepts_ = [np.asarray(bias, dtype=float) for _, bias in layers]
    model.n_layers_ = len(layers) + 1
    model.n_outputs_ = 1
    model.out_activation_ = "logistic"
    model.classes_ = np.array([0, 1])
    model.n_features_in_ = len(model.coefs_[0])
    model._label_binarizer = LabelBinarizer().fit([0, 1])
    return model
