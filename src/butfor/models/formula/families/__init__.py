"""The one place that recognises a model: classes of scikit-learn and of tree libraries, read as networks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from butfor.models.formula.activations import Identity, Logistic
from butfor.models.formula.affine import AffineMap
from butfor.models.formula.families.calibrated import read_calibrated
from butfor.models.formula.families.catboost import read_catboost
from butfor.models.formula.families.chains import read_chain
from butfor.models.formula.families.combined import read_bagging, read_stacking, read_voting
from butfor.models.formula.families.hist_gradient_boosting import read_hist_gradient_boosting
from butfor.models.formula.families.lightgbm import read_lightgbm
from butfor.models.formula.families.linear import read_linear
from butfor.models.formula.families.mlp import read_mlp
from butfor.models.formula.families.naive_bayes import read_naive_bayes
from butfor.models.formula.families.sklearn_trees import (
    read_ada_boost,
    read_forest,
    read_gradient_boosting,
)
from butfor.models.formula.families.svm import read_svm
from butfor.models.formula.families.wrappers import read_one_vs_rest, read_pipeline, read_wrapper
from butfor.models.formula.families.xgboost import read_xgboost
from butfor.models.formula.network import Network
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.tree_map import TreeMap
from butfor.models.objects import AdaptedModel, NativeBooster
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
    **dict.fromkeys(
        ("DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"),
        read_forest,
    ),
    "GradientBoostingClassifier": read_gradient_boosting,
    "HistGradientBoostingClassifier": read_hist_gradient_boosting,
    "AdaBoostClassifier": read_ada_boost,
}
"""The function that reads a classifier of scikit-learn, by the name of its class."""

COMBINED: dict[str, Callable[..., Network | None]] = {
    "Pipeline": read_pipeline,
    "CalibratedClassifierCV": read_calibrated,
    "OneVsRestClassifier": read_one_vs_rest,
    "VotingClassifier": read_voting,
    "StackingClassifier": read_stacking,
    "BaggingClassifier": read_bagging,
}
"""The function that reads an estimator of scikit-learn around others, which it reads in turn."""

LIBRARIES: dict[tuple[str, str], Callable[..., Network | None]] = {
    ("lightgbm", "LGBMClassifier"): read_lightgbm,
    ("xgboost", "XGBClassifier"): read_xgboost,
    ("xgboost", "XGBRFClassifier"): read_xgboost,
    ("catboost", "CatBoostClassifier"): read_catboost,
    ("lightgbm", "Booster"): read_lightgbm,
    ("xgboost", "Booster"): read_xgboost,
    ("catboost", "CatBoost"): read_catboost,
}
"""The function that reads a classifier of another library, by the names of the library and of the class."""


def recognise(
    scorer: Scorer,
    model: Any = None,
    steps: Preprocessing = Preprocessing(),  # noqa: B008 - frozen
) -> Network | None:
    """Return the model as a network, if it is known to be one.

    Parameters
    ----------
    scorer : Scorer
        The user's model.
    model : estimator, optional
        The later steps of a pipeline of which the first ones are known; if not given, the scorer's model.
    steps : Preprocessing, optional
        What the first ones do.

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
    network = _read(scorer.model if model is None else model, scorer.method, steps)
    if network is not None and not all(map(_can_be_evaluated, network.affine_maps)):
        return None
    if network is None or scorer.positive == 1 or scorer.has_many_classes:
        return network
    if network.link == Logistic():
        return replace(replace(network, link=Identity()).rescaled(-1.0, 0.0), link=network.link)
    return network.rescaled(-1.0, 1.0 if scorer.method == "predict_proba" else 0.0)


def _can_be_evaluated(affine_map: AffineMap) -> bool:
    """Return False for trees behind steps that mix features."""
    if not isinstance(affine_map, TreeMap):
        return True
    steps = affine_map.steps
    return steps.keeps_features_apart or (steps.has_points and steps.reads_texts)


def _read(model: Any, method: str, steps: Preprocessing) -> Network | None:
    """Read one estimator; return None for an unknown class, a subclass, or a patched method."""
    if isinstance(model, AdaptedModel) and model.chain is not None:
        return read_chain(model.chain, steps)
    if isinstance(model, NativeBooster):
        model, method = model.booster, "predict_proba"
    name, library = type(model).__name__, type(model).__module__.split(".")[0]
    if method in vars(model) or "predict" in vars(model):
        return None
    if (library, name) in LIBRARIES:
        return LIBRARIES[library, name](model, method, steps)
    if library != "sklearn":
        return None
    if name in COMBINED:
        return COMBINED[name](model, method, steps, _read)
    if name in FAMILIES:
        return FAMILIES[name](model, method, steps)
    return read_wrapper(model, method, steps, _read)
