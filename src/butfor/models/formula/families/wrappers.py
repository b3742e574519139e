"""Estimators around others: pipelines whose steps keep features apart, parameter searches, thresholds."""

from dataclasses import replace
from typing import Any

from butfor.models.formula.families.calibrated import Read
from butfor.models.formula.families.steps import steps_through
from butfor.models.formula.network import Network, side_by_side
from butfor.models.formula.preprocessing import Preprocessing

INNER = {
    "FixedThresholdClassifier": ("estimator_", "estimator"),
    "TunedThresholdClassifierCV": ("estimator_",),
    "FrozenEstimator": ("estimator",),
    "GridSearchCV": ("best_estimator_",),
    "RandomizedSearchCV": ("best_estimator_",),
    "HalvingGridSearchCV": ("best_estimator_",),
    "HalvingRandomSearchCV": ("best_estimator_",),
}
"""Estimators that pass every call on to another one, and the attributes where they keep it."""


def read_pipeline(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read the last step of a pipeline, behind the others."""
    behind = steps_through(steps, [step for _, step in model.steps[:-1]])
    return None if behind is None else read(model.steps[-1][1], method, behind)


def read_one_vs_rest(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read one classifier for each class, whose decision values are compared."""
    if method != "decision_function" or model.multilabel_:
        return None
    members = [read(each, method, steps) for each in model.estimators_]
    networks = [member for member in members if member is not None]
    if len(networks) < len(members):
        return None
    return side_by_side(networks)


def read_wrapper(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read the estimator inside a parameter search or a threshold."""
    name = type(model).__name__
    for attribute in INNER.get(name, ()):
        if hasattr(model, attribute):
            network = read(getattr(model, attribute), method, steps)
            has_threshold = "Threshold" in name  # it decides for the positive class at its threshold
            return replace(network, ties_to_first=False) if network is not None and has_threshold else network
    return None
