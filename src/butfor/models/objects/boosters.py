"""Native boosters of LightGBM, XGBoost and CatBoost, seen as classifiers."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from butfor.errors import InputError
from butfor.models.objects.base import AdaptedModel
from butfor.models.row_kind import is_frame
from butfor.models.scorer import DOUBT

LIGHTGBM_OBJECTIVES = {"binary", "cross_entropy", "multiclass", "multiclassova"}
XGBOOST_OBJECTIVES = {"binary:logistic", "multi:softprob", "multi:softmax"}
CATBOOST_LOSSES = {"Logloss", "CrossEntropy", "Focal", "MultiClass", "MultiClassOneVsAll"}
MADE_UP = ("Column_{}", "f{}", "{}")
"""The names that the libraries make up for columns without one."""


@dataclass(frozen=True, eq=False)
class NativeBooster(AdaptedModel):
    """A booster as a classifier: its scores are those that its own `predict` returns."""

    booster: Any
    library: str
    classes_: Any
    n_features_in_: int
    names: tuple[str, ...] | None = None
    """The names of the columns; None where the library made them up."""

    doubt: float = DOUBT

    @property
    def name(self) -> str:  # type: ignore[override]
        """What the scores are called in messages."""
        return f"{type(self.booster).__name__}.predict"

    @property
    def feature_names_in_(self) -> tuple[str, ...]:
        """The names of the columns; missing where nobody gave any, as in scikit-learn."""
        if self.names is None:
            raise AttributeError("feature_names_in_")
        return self.names

    def predict_proba(self, X: Any) -> Any:
        """Return the score of each class, one row of them for each row."""
        if isinstance(X, sparse.sparray):
            X = sparse.csr_matrix(X)  # not every library takes arrays, and none reads them differently
        scores = np.asarray(_SCORED_BY[self.library](self, X))
        return scores if scores.ndim == 2 else np.column_stack([1 - scores, scores])


def of_lightgbm(booster: Any) -> NativeBooster:
    """Return a Booster of LightGBM as a classifier."""
    # The first iteration holds the header of the model, and as few trees as possible.
    header = booster.model_to_string(num_iteration=1).partition("\nTree=")[0]
    fields = dict(line.partition("=")[::2] for line in header.splitlines())
    objective = fields.get("objective", "custom").split(" ")[0]
    _require_classification(booster, objective, LIGHTGBM_OBJECTIVES)
    classes = np.arange(max(2, int(fields["num_class"])))
    names = _given_names(booster.feature_name())
    return NativeBooster(booster, "lightgbm", classes, booster.num_feature(), names)


def of_xgboost(booster: Any) -> NativeBooster:
    """Return a Booster of XGBoost as a classifier."""
    try:
        learner = json.loads(booster.save_config())["learner"]
    except Exception as error:
        raise InputError("model must be fitted, got an xgboost Booster without a model.") from error
    shape = learner["learner_model_param"]
    several = " of several targets" if int(shape.get("num_target", 1)) > 1 else ""
    _require_classification(booster, learner["objective"]["name"] + several, XGBOOST_OBJECTIVES)
    classes = np.arange(max(2, int(shape["num_class"])))
    names = _given_names(booster.feature_names)
    return NativeBooster(booster, "xgboost", classes, booster.num_features(), names)


def of_catboost(booster: Any) -> NativeBooster:
    """Return a CatBoost as a classifier."""
    if not booster.is_fitted():
        raise InputError("model must be fitted, got an unfitted CatBoost. Call fit first.")
    loss = str(booster.get_all_params().get("loss_function", "unknown")).partition(":")[0]
    _require_classification(booster, loss, CATBOOST_LOSSES)
    names = booster.feature_names_  # n_features_in_ gets lost in files and pickles
    return NativeBooster(booster, "catboost", booster.classes_, len(names), _given_names(names))


def _require_classification(booster: Any, objective: str, known: set[str]) -> None:
    if objective not in known:
        library = type(booster).__module__.partition(".")[0]
        raise InputError(
            f"model must be fitted for classification ({', '.join(sorted(known))}), got a "
            f"{type(booster).__name__} of {library} with the objective {objective}. Pass a function that "
            "scores rows, and a threshold."
        )


def _given_names(names: Sequence[Any] | None) -> tuple[str, ...] | None:
    """Return the names of columns; None where the library made them up."""
    own = tuple(map(str, names or ()))
    made_up = any(own == tuple(form.format(i) for i in range(len(own))) for form in MADE_UP)
    return None if made_up else own


def _by_lightgbm(model: NativeBooster, X: Any) -> Any:
    return model.booster.predict(X)


def _by_xgboost(model: NativeBooster, X: Any) -> Any:
    from xgboost import DMatrix

    booster = model.booster
    names = None if is_frame(X) else booster.feature_names  # columns of a matrix are in the booster's order
    rows = DMatrix(X, feature_names=names)
    scores = booster.predict(rows)
    if scores.ndim == 1 and len(model.classes_) > 2:  # multi:softmax, which returns the class alone
        return softmax(booster.predict(rows, output_margin=True).astype(np.float64), axis=1)
    return scores


def _by_catboost(model: NativeBooster, X: Any) -> Any:
    return model.booster.predict(X, prediction_type="Probability")


_SCORED_BY: dict[str, Callable[[NativeBooster, Any], Any]] = {
    "lightgbm": _by_lightgbm,
    "xgboost": _by_xgboost,
    "catboost": _by_catboost,
}
