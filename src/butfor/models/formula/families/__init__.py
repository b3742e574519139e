"""The one place that recognises a model: scikit-learn's own families, read as networks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from butfor.models.formula.activations import Identity, Logistic
from butfor.models.formula.families.calibrated import read_calibrated
from butfor.models.formula.families.linear import read_linear
from butfor.models.formula.families.mlp import read_mlp
from butfor.models.formula.families.naive_bayes import read_naive_bayes
from butfor.models.formula.families.svm import read_svm
from butfor.models.formula.families.wrappers import read_one_vs_rest, read_pipeline, read_wrapper
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.scorer import Scorer

__all__ = ["FAMILIES", "recognise"]

FAMILIES: dict[str, Callable[..., Network | None]] = {
    **dict.fromkeys(
        (
            "LogisticRegression",
            "LogisticRegressionCV",
            "RidgeClassifier",
            "RidgeClassifierCV",
            "LinearSVC",
            "SGDClassifier",
            "Perceptron",
            "PassiveAggressiveClassifier",
            "LinearDiscriminantAnalysis",
        ),
        read_linear,
    ),
    **dict.fromkeys(("MultinomialNB", "ComplementNB", "BernoulliNB"), read_naive_bayes),
    **dict.fromkeys(("SVC", "NuSVC"), read_svm),
    "MLPClassifier": read_mlp,
}
"""The function that reads a classifier of scikit-learn, by the name of its class."""


def recognise(scorer: Scorer) -> Network | None:
    """Return the model as a network, if it is known to be one.

    Parameters
    ----------
    scorer : Scorer
        The user's model.

    Returns
    -------
    Network or None
        None if the model stays a black box.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from butfor.models import as_scorer
    >>> recognise(as_scorer(LogisticRegression().fit([[0], [1]], [0, 1]))).kind
    'linear'
    >>> recognise(as_scorer(lambda X: X.sum(axis=1), threshold=1)) is None
    True
    """
    if not scorer.method:
        return None
    network = _read(scorer.model, scorer.method, Preprocessing())
    if network is None or scorer.positive == 1 or scorer.has_many_classes:
        return network
    if network.link == Logistic():
        return replace(replace(network, link=Identity()).rescaled(-1.0, 0.0), link=network.link)
    return network.rescaled(-1.0, 1.0 if scorer.method == "predict_proba" else 0.0)


def _read(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read one estimator; return None for a class that is not scikit-learn's own or has a patched method."""
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn.") or method in vars(model):
        return None
    if name == "Pipeline":
        return read_pipeline(model, method, steps, _read)
    if name == "CalibratedClassifierCV":
        return read_calibrated(model, method, steps, _read)
    if name == "OneVsRestClassifier":
        return read_one_vs_rest(model, method, steps, _read)
    if name in FAMILIES:
        return FAMILIES[name](model, method, steps)
    return read_wrapper(model, method, steps, _read)
