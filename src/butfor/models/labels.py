"""Models that decide about several labels at once, seen as the decision about one of them."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError


def of_one_label(model: Any, label: Any) -> Any:
    """Return the model as a classifier of one label; the model itself where it decides about one only."""
    labels = _labels(model)
    if labels is None:
        if label is not None:
            raise InputError(
                f"label must not be given for {type(model).__name__}, which makes one decision a row, got "
                f"{label!r}. To ask for a flip to a class give target."
            )
        return model
    index = index_of_label(type(model).__name__, labels, label)
    return _of_label(model, index, labels[index])


def index_of_label(name: str, labels: Sequence[Any], label: Any) -> int:
    """Return the number of the label in question, of a model that decides about several at once."""
    if label is None:
        raise InputError(
            f"label must be given, as {name} decides about {len(labels):,} labels at once: one of "
            f"{_listed(labels)}."
        )
    for index, known in enumerate(labels):
        if type(label) is not bool and (known == label or str(known) == str(label)):
            return index
    raise InputError(f"label must be one of {_listed(labels)}, got {label!r}.")


def require_one_decision(labels: Any, n_rows: int, name: str) -> None:
    """Raise where `predict` returns several labels a row, so that `label` must say which is meant."""
    if labels.size != n_rows:
        each = labels.shape[1] if labels.ndim == 2 and len(labels) == n_rows else labels.shape
        raise InputError(
            f"model must make one decision a row, got {name}, whose predict returns {each} a row. Pass a "
            "function that returns the score of the label in question, and its threshold."
        )


def _labels(model: Any) -> list[Any] | None:
    """Return the labels that a model decides about one by one; None for one decision a row."""
    last = last_step(model)
    classes = getattr(last, "classes_", None)
    if isinstance(classes, list):
        return list(range(len(classes)))
    if classes is None or np.ndim(classes) != 1:
        return None
    is_mlp = type(last).__name__ == "MLPClassifier"
    apart = len(classes) > 2 and is_mlp and last.out_activation_ == "logistic"
    if apart or getattr(last, "multilabel_", False) is True:
        return list(np.asarray(classes).tolist())
    return None


def last_step(model: Any) -> Any:
    """Return the estimator that decides, at the end of pipelines and within parameter searches."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif type(model).__name__ == "FrozenEstimator":
            model = model.estimator
        else:
            return model


def _of_label(model: Any, index: int, label: Any) -> Any:
    """Return a model whose decider is that of one label, behind the same steps."""
    for inner in ("best_estimator_", "estimator"):
        if hasattr(model, inner) and last_step(model) is not model:
            return _of_label(getattr(model, inner), index, label)
    if hasattr(model, "steps"):
        outer = copy(model)
        name, last = model.steps[-1]
        outer.steps = [*model.steps[:-1], (name, _of_label(last, index, label))]
        return outer
    if type(model).__name__ in ("OneVsRestClassifier", "MultiOutputClassifier"):
        own = model.estimators_[index]
        if hasattr(own, "classes_") and len(own.classes_) > 1:
            return own
    return OneLabel(model, index)


@dataclass(frozen=True)
class OneLabel:
    """One label of a model, as a classifier."""

    model: Any
    index: int

    def __getattr__(self, name: str) -> Any:
        if name in ("n_features_in_", "feature_names_in_"):
            return getattr(self.model, name)
        if name in ("predict_proba", "decision_function") and hasattr(self.model, name):
            return self._proba if name == "predict_proba" else self._decision
        raise AttributeError(name)

    @property
    def classes_(self) -> Any:
        """The classes of this label."""
        own = self.model.classes_
        return own[self.index] if isinstance(own, list) else np.array([0, 1])

    def predict(self, X: Any) -> Any:
        """Return the decisions about this label."""
        predicted = self.model.predict(X)
        predicted = predicted.toarray() if hasattr(predicted, "toarray") else np.asarray(predicted)
        return predicted[:, self.index]

    def _proba(self, X: Any) -> Any:
        probabilities = self.model.predict_proba(X)
        if isinstance(probabilities, list):
            return probabilities[self.index]
        positive = np.asarray(probabilities)[:, self.index]
        return np.column_stack([1 - positive, positive])

    def _decision(self, X: Any) -> Any:
        return np.asarray(self.model.decision_function(X))[:, self.index]


def _listed(labels: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, labels[:10]))
    return shown if len(labels) <= 10 else f"{shown}, … ({len(labels):,} in all)"
