"""Random ensembles of trees for the fuzz: every library, with options that change how trees are read."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

Generator = np.random.Generator
Make = Callable[[Generator, Any, Any], Any]


def _forest(rng: Generator) -> Any:
    return RandomForestClassifier(
        int(rng.integers(1, 9)), max_depth=[None, 2, 4][rng.integers(3)], random_state=int(rng.integers(1000))
    )


def _boosted(rng: Generator) -> Any:
    return GradientBoostingClassifier(
        n_estimators=int(rng.integers(1, 8)),
        max_depth=int(rng.integers(1, 4)),
        loss=str(rng.choice(["log_loss", "exponential"])),
        learning_rate=float(rng.choice([0.1, 0.5, 1.0])),
    )


def _hist(rng: Generator) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=int(rng.integers(1, 8)), min_samples_leaf=1, learning_rate=0.5, max_leaf_nodes=6
    )


def _voting(rng: Generator) -> Any:
    members = [("a", _forest(rng)), ("b", LogisticRegression()), ("c", _boosted(rng))]
    return VotingClassifier(members, voting="soft", weights=rng.choice([0.5, 1.0, 2.0], 3))


def _lightgbm(rng: Generator) -> Any:
    from lightgbm import LGBMClassifier

    options: dict[str, Any] = {"boosting_type": str(rng.choice(["gbdt", "dart", "rf"]))}
    if options["boosting_type"] == "rf":
        options |= {"subsample": 0.7, "subsample_freq": 1}
    return LGBMClassifier(
        **options,
        n_estimators=int(rng.integers(1, 8)),
        num_leaves=int(rng.integers(2, 9)),
        learning_rate=float(rng.choice([0.1, 0.5])),
        min_child_samples=1,
        min_data_in_bin=1,
        zero_as_missing=bool(rng.random() < 0.3),
        n_jobs=1,
        verbose=-1,
    )


def _xgboost(rng: Generator) -> Any:
    from xgboost import XGBClassifier, XGBRFClassifier

    if rng.random() < 0.2:
        return XGBRFClassifier(n_estimators=3, max_depth=3, n_jobs=1)
    return XGBClassifier(
        n_estimators=int(rng.integers(1, 8)),
        max_depth=int(rng.integers(1, 5)),
        booster=str(rng.choice(["gbtree", "dart"])),
        rate_drop=0.2,
        base_score=float(rng.choice([0.5, 0.3])),
        n_jobs=1,
        verbosity=0,
    )


def _catboost(rng: Generator) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=int(rng.integers(1, 8)),
        depth=int(rng.integers(1, 5)),
        grow_policy=str(rng.choice(["SymmetricTree", "Depthwise", "Lossguide"])),
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )


def _fitted(make: Callable[[Generator], Any]) -> Make:
    return lambda rng, X, y: make(rng).fit(X, y)


def _of_many_classes(make: Callable[[Generator], Any]) -> Make:
    """Return models of three classes, of which some rows are turned into the third."""
    return lambda rng, X, y: make(rng).fit(X, np.where(np.arange(len(y)) % 3 == 0, 2, y))


DENSE_ONLY = {"hist gradient boosting"}
"""Families that refuse sparse rows."""
TREE_FAMILIES: dict[str, Make] = {
    "decision tree": _fitted(lambda rng: DecisionTreeClassifier(max_depth=[None, 3][rng.integers(2)])),
    "random forest": _fitted(_forest),
    "extra trees": _fitted(lambda rng: ExtraTreesClassifier(int(rng.integers(2, 8)))),
    "gradient boosting": _fitted(_boosted),
    "hist gradient boosting": _fitted(_hist),
    "AdaBoost": _fitted(lambda rng: AdaBoostClassifier(n_estimators=int(rng.integers(1, 8)))),
    "bagging": _fitted(lambda rng: BaggingClassifier(n_estimators=4, max_features=0.8)),
    "soft votes": _fitted(_voting),
    "stacked": _fitted(
        lambda rng: StackingClassifier([("a", _forest(rng)), ("b", LogisticRegression())], cv=2)
    ),
    "calibrated forest": _fitted(
        lambda rng: CalibratedClassifierCV(
            _forest(rng), cv=2, method=str(rng.choice(["sigmoid", "isotonic"]))
        )
    ),
    "scaled forest": _fitted(lambda rng: make_pipeline(MaxAbsScaler(), _forest(rng))),
    "LightGBM": _fitted(_lightgbm),
    "XGBoost": _fitted(_xgboost),
    "CatBoost": _fitted(_catboost),
    "random forest, 3 classes": _of_many_classes(_forest),
    "LightGBM, 3 classes": _of_many_classes(_lightgbm),
    "XGBoost, 3 classes": _of_many_classes(_xgboost),
}
