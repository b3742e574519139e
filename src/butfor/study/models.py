"""The models of the study: the paper's two for each kind of data, and ensembles of trees."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from butfor.errors import InputError
from butfor.study.datasets.base import Kind


@dataclass(frozen=True)
class StudyModel:
    """A model of the study: unfitted classifiers that differ in what is tuned.

    Parameters
    ----------
    name : str
        The name by which `butfor study run --models` selects it.
    linear : bool
        Whether the model is linear. Reports have tables for linear and for non-linear models.
    candidates : callable
        Returns one classifier, or several. Of several, the one with the best AUC on a quarter of the
        training rows is fitted on all training rows.
    of_paper : {"behaviour", "text"}, optional
        The kind of data that the paper uses the model for.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> StudyModel("naive-bayes", linear=True, candidates=lambda: [BernoulliNB()]).name
    'naive-bayes'
    """

    name: str
    linear: bool
    candidates: Callable[[], Sequence[Any]]
    of_paper: Kind | None = None


def logistic() -> list[Any]:
    """Return logistic regressions with an l2 penalty."""
    from sklearn.linear_model import LogisticRegression

    return [LogisticRegression(C=C, max_iter=1000) for C in (0.01, 0.1, 1.0, 10.0)]


def mlp() -> list[Any]:
    """Return networks with one hidden layer of 100 neurons."""
    from sklearn.neural_network import MLPClassifier

    return [
        MLPClassifier((100,), alpha=alpha, max_iter=50, tol=0.002, n_iter_no_change=3, random_state=0)
        for alpha in (0.01, 0.1, 1.0)
    ]


def linear_svm() -> list[Any]:
    """Return linear support vector machines."""
    from sklearn.svm import LinearSVC

    return [LinearSVC(C=C, random_state=0) for C in (0.01, 0.1, 1.0, 10.0)]


def rbf_svm() -> list[Any]:
    """Return support vector machines with an rbf kernel."""
    from sklearn.svm import SVC

    return [SVC(C=C, cache_size=1000) for C in (1.0, 10.0)]


def random_forest() -> list[Any]:
    """Return random forests of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return [RandomForestClassifier(100, min_samples_leaf=leaf, random_state=0) for leaf in (1, 5)]


def gradient_boosting() -> list[Any]:
    """Return ensembles of 100 boosted trees."""
    from sklearn.ensemble import GradientBoostingClassifier

    return [GradientBoostingClassifier(max_depth=depth, random_state=0) for depth in (3, 6)]


def lightgbm() -> list[Any]:
    """Return LightGBM's boosted trees, 100 and 300 of them with 31 leaves each."""
    try:
        from lightgbm import LGBMClassifier
    except ImportError as error:
        raise InputError(
            "the model lightgbm needs LightGBM, which is not installed: pip install lightgbm"
        ) from error

    return [
        LGBMClassifier(n_estimators=n_trees, random_state=0, n_jobs=1, verbose=-1) for n_trees in (100, 300)
    ]


MODELS = {
    model.name: model
    for model in (
        StudyModel("logistic", linear=True, candidates=logistic, of_paper="behaviour"),
        StudyModel("mlp", linear=False, candidates=mlp, of_paper="behaviour"),
        StudyModel("linear-svm", linear=True, candidates=linear_svm, of_paper="text"),
        StudyModel("rbf-svm", linear=False, candidates=rbf_svm, of_paper="text"),
        StudyModel("random-forest", linear=False, candidates=random_forest),
        StudyModel("gradient-boosting", linear=False, candidates=gradient_boosting),
        StudyModel("lightgbm", linear=False, candidates=lightgbm),
    )
}


def fit(model: StudyModel, X: Any, y: Any) -> tuple[Any, str]:
    """Tune a model on a quarter of the rows and fit it on all; return it and the tuned parameters."""
    from sklearn.base import clone
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split

    candidates = list(model.candidates())
    best = candidates[0]
    if len(candidates) > 1:
        X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        quality = [
            roc_auc_score(y_held, scores(_fitted(clone(each), X_fit, y_fit), X_held)) for each in candidates
        ]
        best = candidates[quality.index(max(quality))]
    return _fitted(clone(best), X, y), _tuned(best, candidates)


def scores(fitted: Any, X: Any) -> Any:
    """Return the probabilities of rows, or the decision values of a model without probabilities."""
    if hasattr(fitted, "predict_proba"):
        return fitted.predict_proba(X)[:, 1]
    return fitted.decision_function(X)


def scored_by(fitted: Any) -> Any:
    """Return what to pass to an Explainer so that it scores as `scores` does."""
    return fitted if hasattr(fitted, "predict_proba") else fitted.decision_function


def _fitted(classifier: Any, X: Any, y: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return classifier.fit(X, y)


def _tuned(best: Any, candidates: Sequence[Any]) -> str:
    """Return the parameters in which the candidates differ, with the values of the best."""
    settings = [each.get_params() for each in candidates]
    chosen = best.get_params()
    return ", ".join(
        f"{name}={value}" for name, value in chosen.items() if any(each[name] != value for each in settings)
    )
