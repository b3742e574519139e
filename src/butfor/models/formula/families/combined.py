"""Classifiers that combine the probabilities of others: soft votes, stacks, and bags of any estimators."""

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.models.formula.activations import Identity
from butfor.models.formula.affine import LinearMap
from butfor.models.formula.families.calibrated import Read
from butfor.models.formula.families.sklearn_trees import read_bagging as read_bagged_trees
from butfor.models.formula.network import Layer, Network, mean_of, side_by_side
from butfor.models.formula.preprocessing import Preprocessing


def read_voting(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read a VotingClassifier with soft votes: a weighted mean of probabilities."""
    if method != "predict_proba" or model.voting != "soft":
        return None
    weights = model._weights_not_none
    return _mean([read(each, method, steps) for each in model.estimators_], weights)


def read_bagging(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read a BaggingClassifier: of decision trees, or of any readable estimators that see all features."""
    trees = read_bagged_trees(model, method, steps)
    if trees is not None or method != "predict_proba":
        return trees
    everything = np.arange(model.n_features_in_)
    sees_all = all(np.array_equal(columns, everything) for columns in model.estimators_features_)
    knows_all = all(len(each.classes_) == len(model.classes_) for each in model.estimators_)
    if not sees_all or not knows_all:
        return None
    return _mean([read(each, method, steps) for each in model.estimators_], None)


def read_stacking(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read a StackingClassifier of two classes whose last estimator is a function of affine functions."""
    if model.passthrough or len(model.classes_) > 2 or "predict" in model.stack_method_:
        return None
    members = zip(model.estimators_, model.stack_method_, strict=True)
    networks = _all_of([read(each, respond, steps) for each, respond in members])
    last = read(model.final_estimator_, method, Preprocessing())
    if networks is None or last is None or len(last.affine_maps) != 1:
        return None
    (affine_map,) = last.affine_maps
    if not isinstance(affine_map, LinearMap) or affine_map.steps.transformers:
        return None
    weights = affine_map.weights.toarray() if hasattr(affine_map.weights, "toarray") else affine_map.weights
    joined = side_by_side([each.without_link() for each in networks])
    affine = Layer(Identity(), np.asarray(weights, dtype=np.float64), affine_map.bias)
    return replace(joined, layers=(*joined.layers, affine, *last.layers), link=last.link, scaled=True)


def _mean(members: list[Network | None], weights: Any) -> Network | None:
    networks = _all_of(members)
    return None if networks is None else mean_of(networks, weights)


def _all_of(members: list[Network | None]) -> list[Network] | None:
    """Return the networks if every member is one, with outputs that can be added up."""
    networks = [member for member in members if member is not None and not member.softmax]
    return networks if len(networks) == len(members) else None
