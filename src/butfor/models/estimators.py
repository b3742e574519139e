"""Scorers of what users pass as a model: classifiers, pipelines, methods and functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor._checks import require_finite
from butfor.errors import InputError
from butfor.models.calling.caller import Caller, is_async
from butfor.models.calling.calls import Calls
from butfor.models.calling.returned import labels_in
from butfor.models.labels import last_step, of_one_label
from butfor.models.objects import AdaptedModel, NativeBooster, adapted, unwrapped
from butfor.models.scorer import Scorer

LIBRARIES_OF_TREES = ("lightgbm", "xgboost", "catboost")
"""Libraries whose models take NaN for a missing value."""
SCORED_APART = {"SGDClassifier", "OneVsRestClassifier", "SVC", "NuSVC"}
"""Classifiers of many classes whose probabilities are not what they decide by."""


def as_scorer(
    model: Any, threshold: float | None = None, *, classes: Sequence[Any] = (), label: Any = None
) -> Scorer:
    """Return the scorer of a fitted classifier, pipeline or booster, or of a callable from rows to scores.

    A callable with more than two `classes` gives a score for each of them. Of a model that decides about
    several labels at once, `label` is the one in question.
    """
    if threshold is not None:
        require_finite("threshold", threshold)
        threshold = float(threshold)
    if isinstance(model, type):
        raise InputError(f"model must be a fitted object, got the class {model.__name__}.")
    model = unwrapped(model)
    known = adapted(model)
    if known is not None:
        return _of_adapted(known, threshold, classes, label)
    if hasattr(model, "fit") or hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return _of_classifier(model, threshold, label)
    if not callable(model):
        raise InputError(
            "model must be a fitted classifier or a callable from rows to scores, got "
            f"{type(model).__name__}."
        )
    owner = getattr(model, "__self__", None)
    if hasattr(owner, "classes_"):
        for method in ("decision_function", "predict_proba"):
            if model == getattr(owner, method, None):
                return _of_own_method(of_one_label(owner, label), method, threshold)
    if label is not None:
        raise InputError(
            f"label must not be given for a function, got {label!r}: have it return the scores of that label."
        )
    name = getattr(model, "__qualname__", type(model).__name__)
    return _of_function(model, model, name, threshold, classes)


def _of_function(
    model: Any, function: Callable[[Any], Any], name: str, threshold: float | None, classes: Sequence[Any]
) -> Scorer:
    """Return the scorer of a function of which is not known yet how many classes it scores."""
    _require_no_threshold(threshold, classes)
    own = (0.0 if len(classes) > 2 else 0.5) if threshold is None else threshold
    given = threshold is not None
    is_open = not given or len(classes) > 0
    return Scorer(model, function, own, name, classes=tuple(classes), is_open=is_open, has_threshold=given)


def called_by(scorer: Scorer, calls: Calls | None) -> Scorer:
    """Return the scorer whose model is called as its user says, and awaited if it is async."""
    if calls is None and not is_async(scorer.function):
        return scorer
    caller = Caller(scorer.function, Calls() if calls is None else calls, varies=scorer.varies)
    return replace(scorer, function=caller)


def closed(scorer: Scorer, X: Any) -> Scorer:
    """Return the scorer of a function, now that it can be seen how many classes it scores.

    Two columns are the probabilities of two classes, more are a score for each class. One score a row says
    nothing of the decision without a threshold.
    """
    labels: tuple[str, ...] = ()

    def noting_labels(rows: Any) -> Any:
        nonlocal labels
        returned = scorer.function(rows)
        labels = getattr(scorer.function, "labels", ()) or labels_in(returned)
        return returned

    columns = scorer.called(noting_labels, X, scorer.name)
    n_columns = columns.shape[1] if columns.ndim == 2 else 1
    _require_order_of_labels(scorer, labels)
    if n_columns == 1 and not scorer.has_threshold and len(scorer.classes) <= 2:
        raise InputError(
            f"threshold must be given, as {scorer.name} returns one score a row and does not say from which "
            "score on the decision is positive."
        )
    if n_columns <= 2 or n_columns == len(scorer.classes):  # what does not fit is seen when it scores
        return replace(scorer, is_open=False, classes=scorer.classes or labels)
    if scorer.classes:
        raise InputError(
            f"class_names must have {n_columns:,} names, as {scorer.name} returns so many columns, got "
            f"{len(scorer.classes)}."
        )
    names = labels or tuple(f"class {i}" for i in range(n_columns))
    return replace(scorer, is_open=False, classes=names, threshold=0.0)


def _require_order_of_labels(scorer: Scorer, labels: tuple[str, ...]) -> None:
    """Raise where class names that a user gave are the model's own labels in another order."""
    given = tuple(map(str, scorer.classes))
    if given != labels and sorted(given) == sorted(labels):
        raise InputError(
            f"class_names must be {', '.join(map(repr, labels))}, in this order, as {scorer.name} returns "
            f"these labels, got {', '.join(map(repr, given))}."
        )


def as_rest(whole: Scorer, rest: Any) -> Scorer:
    """Return the scorer of the later steps of a pipeline, which decides as the scorer of the whole does."""
    scorer = _of_method(rest, whole.method, whole.positive, whole.threshold, whole.classes)
    return scorer if whole.predict is not None else replace(scorer, predict=None)


def _of_classifier(model: Any, threshold: float | None, label: Any) -> Scorer:
    _require_fitted(model)
    model = of_one_label(model, label)
    classes = _classes(model)
    _require_no_threshold(threshold, classes)
    if len(classes) > 2:
        return _of_method(model, _response_of_many(model), 1, 0.0, classes)
    tuned = _threshold_classifier(model)
    method = _response_method(model, tuned, own=threshold is None)
    positive = _positive_class(tuned, classes)
    if threshold is not None:
        return replace(_of_method(model, method, positive, threshold, classes), predict=None)
    return _of_method(model, method, positive, _own_threshold(tuned, method), classes)


def _of_adapted(model: AdaptedModel, threshold: float | None, classes: Sequence[Any], label: Any) -> Scorer:
    """Return the scorer of a model of another library."""
    model = model.of_label(label)
    if len(model.classes_):
        scorer = _of_own_method(model, "predict_proba", threshold)
    else:
        scorer = _of_function(model, model.predict_proba, model.name, threshold, classes)
        scorer = replace(scorer, n_features=_n_features(model), method="forward" if model.chain else "")
    if threshold is None and model.ties_to_first and len(model.classes_) == 2:
        scorer = replace(scorer, function=_FirstOfEquals(model.predict_proba))
    predict = model.predict if threshold is None else None
    return replace(scorer, name=model.name, doubt=model.doubt, predict=predict)


def _of_own_method(model: Any, method: str, threshold: float | None) -> Scorer:
    """Return the scorer of a method of a classifier."""
    classes = _classes(model)
    _require_no_threshold(threshold, classes)
    own = 0.0 if len(classes) > 2 or method == "decision_function" else 0.5
    scorer = _of_method(model, method, 1, own if threshold is None else threshold, classes)
    return replace(scorer, predict=None)


def _of_method(model: Any, method: str, positive: int, threshold: float, classes: Sequence[Any]) -> Scorer:
    if method == "predict_proba" and not 0 <= threshold <= 1:
        hint = " For decision values pass model.decision_function."
        raise InputError(
            f"threshold must be between 0 and 1, as {type(model).__name__} scores by probabilities, got "
            f"{threshold:g}.{hint if hasattr(model, 'decision_function') else ''}"
        )
    return Scorer(
        model=model,
        function=_score_function(model, method, positive, classes),
        threshold=threshold,
        name=f"{type(model).__name__}.{method}",
        n_features=_n_features(model),
        feature_names=_feature_names(model),
        takes_missing=_takes_missing(model),
        predict=getattr(model, "predict", None),
        method=method,
        positive=positive,
        classes=tuple(classes),
    )


def _require_fitted(model: Any) -> None:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, BaseEstimator):
        try:
            check_is_fitted(model)
        except NotFittedError as error:
            name = type(model).__name__
            raise InputError(f"model must be fitted, got an unfitted {name}. Call fit first.") from error


def _threshold_classifier(model: Any) -> Any:
    """Look through pipelines and parameter searches for an estimator that carries a threshold, or None."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    last = last_step(model)
    return last if isinstance(last, FixedThresholdClassifier | TunedThresholdClassifierCV) else None


def _response_method(model: Any, tuned: Any, *, own: bool = False) -> str:
    """Choose the method that scores; for the model's own decision the one that `predict` goes by."""
    methods = [m for m in ("predict_proba", "decision_function") if hasattr(model, m)]
    if own and _decides_apart(last_step(model)):
        methods.reverse()
    wanted = getattr(tuned, "response_method", "auto")
    if wanted in methods:
        return str(wanted)
    if not methods:
        raise InputError(
            f"model must have predict_proba or decision_function, got {type(model).__name__} with neither. "
            "Pass a callable that scores rows, and its threshold."
        )
    return methods[0]


def _decides_apart(model: Any) -> bool:
    """Return whether a classifier of two classes does not decide by its own probabilities."""
    inner = getattr(model, "estimators_", None) if type(model).__name__ == "OneVsRestClassifier" else None
    return any(type(each).__name__ in ("SVC", "NuSVC") for each in (inner or [model]))


def _response_of_many(model: Any) -> str:
    """Choose the method that scores many classes: the one by which the model itself compares them."""
    apart = type(last_step(model)).__name__ in SCORED_APART
    if hasattr(model, "decision_function") and (apart or not hasattr(model, "predict_proba")):
        return "decision_function"
    return _response_method(model, None)


def _classes(model: Any) -> Sequence[Any]:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ()  # not scikit-learn: two columns are checked when it scores
    if isinstance(classes, list) or np.ndim(classes) != 1 or len(classes) < 2:
        n = f"{len(classes)} outputs" if isinstance(classes, list) else f"{len(classes)} class"
        raise InputError(
            f"model must decide between two or more classes, got {type(model).__name__} with {n}. "
            "Pass a callable that gives the score of the class in question, and its threshold."
        )
    return list(classes)


def _require_no_threshold(threshold: float | None, classes: Sequence[Any]) -> None:
    if threshold is not None and len(classes) > 2:
        raise InputError(
            f"threshold must not be given for {len(classes)} classes, where the highest score decides, got "
            f"{threshold:g}. For one class against all others pass a callable that gives its score."
        )


def _own_threshold(tuned: Any, method: str) -> float:
    threshold = getattr(tuned, "best_threshold_", getattr(tuned, "threshold", "auto"))
    if threshold != "auto":
        return float(threshold)
    return 0.5 if method == "predict_proba" else 0.0


def _positive_class(tuned: Any, classes: Any) -> int:
    """Return the index of the positive class: 1, unless the estimator carries a `pos_label` of its own."""
    pos_label = getattr(tuned, "pos_label", None)
    return 0 if pos_label is not None and len(classes) and pos_label == classes[0] else 1


def _score_function(model: Any, method: str, positive: int, classes: Sequence[Any]) -> Callable[[Any], Any]:
    respond = getattr(model, method)
    if len(classes) > 2:
        last = last_step(model)
        by_votes = type(last).__name__ in ("SVC", "NuSVC") and not last.break_ties
        return _Voted(model, tuple(classes)) if by_votes else respond
    if method == "predict_proba":
        return _Probability(respond, positive)
    return respond if positive == 1 else _Negated(respond)


@dataclass(frozen=True)
class _Probability:
    """The probability of one class out of two."""

    respond: Callable[[Any], Any]
    positive: int

    def __call__(self, X: Any) -> Any:
        probabilities = np.asarray(self.respond(X))
        if probabilities.ndim == 2 and probabilities.shape[1] == 2:
            return probabilities[:, self.positive]
        raise ValueError(f"two columns of class probabilities expected, got shape {probabilities.shape}")


@dataclass(frozen=True)
class _FirstOfEquals:
    """The probability of the second of two classes, which is below a half where both are equal."""

    respond: Callable[[Any], Any]

    def __call__(self, X: Any) -> Any:
        first, second = np.asarray(self.respond(X), dtype=np.float64).T
        return np.where(second > first, np.maximum(second, 0.5), np.minimum(second, np.nextafter(0.5, 0)))


@dataclass(frozen=True)
class _Negated:
    """Decision values for the first class."""

    respond: Callable[[Any], Any]

    def __call__(self, X: Any) -> Any:
        return -np.asarray(self.respond(X))


@dataclass(frozen=True)
class _Voted:
    """Decision values of a model that counts votes and gives a tie to the first class, whatever they say."""

    model: Any
    classes: tuple[Any, ...]

    def __call__(self, X: Any) -> Any:
        values = np.array(self.model.decision_function(X), dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.classes):
            return values
        number = {label: i for i, label in enumerate(self.classes)}
        decided = np.array([number[label] for label in self.model.predict(X)])
        lines = np.arange(len(values))
        values[lines, decided] = np.maximum(values[lines, decided], np.nextafter(values.max(axis=1), np.inf))
        return values


def _n_features(model: Any) -> int | None:
    n_features = getattr(model, "n_features_in_", None)
    if n_features == 0:  # CatBoost forgets the number in a file or a pickle, but not the names
        n_features = len(getattr(model, "feature_names_", ())) or None
    return None if n_features is None else int(n_features)


def _takes_missing(model: Any) -> bool:
    """Return whether a model takes NaN for a missing value, as far as it says so."""
    from sklearn.utils import get_tags

    if isinstance(model, NativeBooster) or type(model).__module__.split(".")[0] in LIBRARIES_OF_TREES:
        return True
    if hasattr(model, "best_estimator_"):
        return _takes_missing(model.best_estimator_)
    if type(model).__name__ == "Pipeline":  # up to the step that fills them in
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        until = next((at for at, step in enumerate(steps) if "Imputer" in type(step).__name__), len(steps))
        return all(map(_takes_missing, steps[: until + 1]))
    try:
        return bool(get_tags(model).input_tags.allow_nan)
    except Exception:  # not of scikit-learn
        return False


def _feature_names(model: Any) -> tuple[str, ...] | None:
    """Return the names that the model was fitted with; None where it made them up, or has none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "feature_names_", None)  # CatBoost's
    if names is None or [str(name) for name in names] == [str(i) for i in range(len(names))]:
        return None
    return tuple(map(str, names))
