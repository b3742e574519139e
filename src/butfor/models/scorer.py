"""What decides: the user's model behind one checked door."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.checks import require_finite
from butfor.errors import InputError, ModelError
from butfor.models.base import FloatArray, IntArray
from butfor.models.lead import Lead

MAX_VALUES = 2_000_000
"""How many values one call carries where the model must be handed dense rows."""


@dataclass(frozen=True)
class Scorer:
    """The user's model as a function from sparse rows to scores, and the threshold of its decision."""

    model: Any
    function: Callable[[Any], Any]
    threshold: float
    name: str
    """What the model is called in messages, for example "LogisticRegression.predict_proba"."""
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    dense: bool = False
    """Whether the model refuses sparse rows, so that it must be handed dense ones."""
    method: str = ""
    """The method of the model that scores; empty for a function of which nothing more is known."""
    positive: int = 1
    """The index of the class whose score it is."""
    classes: tuple[Any, ...] = ()
    """The classes that the model tells apart; empty where it does not say."""
    target: int | None = None
    """The index of the class to which a decision must flip, if not just any other."""
    lead: Lead | None = None
    """With more than two classes, what the score of a row is made of: see `at`."""

    def at(self, row: Any, outputs: FloatArray | None = None) -> tuple["Scorer", float | None]:
        """Settle what is asked of this row: with more than two classes, whether its own class keeps the lead.

        Where the model was asked, be it before (then `outputs` is what it said) or now, the row's score comes
        with it.
        """
        if not self.has_many_classes:
            return self, None if outputs is None else float(outputs[0])
        outputs = self.outputs(row.whole()) if outputs is None else outputs
        lead = Lead(int(outputs[0].argmax()), self.target)
        return replace(self, lead=lead), float(lead.of(outputs)[0])

    @property
    def has_many_classes(self) -> bool:
        """Whether the model tells apart more than two classes."""
        return len(self.classes) > 2

    def scores(self, X: Any) -> FloatArray:
        """Have the model score rows; raise `ModelError` unless it gives one finite number a row."""
        return self.decided(X)[0]

    def decided(self, X: Any) -> tuple[FloatArray, IntArray]:
        """Have the model score rows; give the scores, and the indices of the classes that it decides for."""
        return self.judged(self.outputs(X))

    def judged(self, outputs: FloatArray) -> tuple[FloatArray, IntArray]:
        """Give the same for what the model said."""
        if self.lead is not None:
            return self.lead.decided(outputs)
        return outputs, np.where(outputs >= self.threshold, self.positive, 1 - self.positive)

    def is_positive(self, score: float) -> bool:
        """Decide: a positive has a score of at least the threshold."""
        return score >= self.threshold

    def outputs(self, X: Any) -> FloatArray:
        """Have the model score rows: one finite number a row, or with many classes one for each of them."""
        n_rows = len(X) if isinstance(X, list) else X.shape[0]
        if self.dense:
            step = max(1, MAX_VALUES // max(1, X.shape[1]))
            if n_rows > step:
                return np.concatenate([self.outputs(X[i : i + step]) for i in range(0, n_rows, step)])
            X = X.toarray()
        try:
            with nullcontext() if self.feature_names is None else without_name_warnings():
                scores = np.asarray(self.function(X))
        except Exception as error:
            raise ModelError(
                f"{self.name} raised {type(error).__name__} on {n_rows:,} rows: {error}"
            ) from error
        if scores.shape == (n_rows, 1):
            scores = scores[:, 0]
        self._check(scores, n_rows)
        return scores.astype(np.float64, copy=False)

    def _check(self, scores: Any, n_rows: int) -> None:
        expected = (n_rows, len(self.classes)) if self.has_many_classes else (n_rows,)
        if scores.shape != expected:
            hint = ""
            if scores.shape == (n_rows, 2):
                hint = " For class probabilities pass lambda X: model.predict_proba(X)[:, 1]."
            elif self.has_many_classes and self.method == "decision_function":
                hint = ' If it scores pairs of classes, set decision_function_shape="ovr".'
            each = "a row and class" if self.has_many_classes else "a row"
            raise ModelError(
                f"{self.name} must return one score {each}, shape {expected}, got {scores.shape}.{hint}"
            )
        if scores.dtype.kind not in "biuf":
            raise ModelError(f"{self.name} must return real numbers, got dtype {scores.dtype}.")
        bad = ~np.isfinite(scores)
        if bad.any():
            raise ModelError(
                f"{self.name} must return finite scores, got {scores[bad][0]} for {bad.sum():,} of "
                f"{n_rows:,} rows. Clip or mend the model's output."
            )


SCORED_APART = {"SGDClassifier", "OneVsRestClassifier", "SVC", "NuSVC"}
"""Classifiers of many classes whose probabilities are not what they decide by."""


@contextmanager
def without_name_warnings() -> Iterator[None]:
    """Silence what scikit-learn says of a model fitted on a data frame: our rows have its columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X .* valid feature names")
        yield


def as_scorer(model: Any, threshold: float | None = None, *, classes: Sequence[Any] = ()) -> Scorer:
    """Make a scorer of a fitted classifier or pipeline, or of a callable from rows to scores.

    A callable with more than two `classes` gives a score for each of them.
    """
    if threshold is not None:
        require_finite("threshold", threshold)
        threshold = float(threshold)
    if isinstance(model, type):
        raise InputError(f"model must be a fitted object, got the class {model.__name__}.")
    if hasattr(model, "fit") or hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return _of_classifier(model, threshold)
    if not callable(model):
        raise InputError(
            "model must be a fitted classifier or a callable from a CSR matrix to scores, "
            f"got {type(model).__name__}."
        )
    owner = getattr(model, "__self__", None)
    if hasattr(owner, "classes_") and model == getattr(owner, "decision_function", None):
        known = _classes(owner)
        _require_no_threshold(threshold, known)
        return _of_method(owner, "decision_function", 1, 0.0 if threshold is None else threshold, known)
    name = getattr(model, "__qualname__", type(model).__name__)
    _require_no_threshold(threshold, classes)
    if threshold is None and len(classes) > 2:
        threshold = 0.0
    if threshold is None:
        raise InputError(
            f"threshold must be given for a callable: {name} does not say from which score on it is positive."
        )
    return Scorer(model, model, threshold, name, classes=tuple(classes))


def as_rest(whole: Scorer, rest: Any, *, dense: bool) -> Scorer:
    """Make a scorer of the later steps of a pipeline, which decides as the scorer of the whole does.

    It is handed what the earlier steps hand it: sparse rows, or dense ones.
    """
    scorer = _of_method(rest, whole.method, whole.positive, whole.threshold, whole.classes)
    return replace(scorer, dense=dense)


def _of_classifier(model: Any, threshold: float | None) -> Scorer:
    _require_fitted(model)
    classes = _classes(model)
    _require_no_threshold(threshold, classes)
    if len(classes) > 2:
        return _of_method(model, _response_of_many(model), 1, 0.0, classes)
    tuned = _threshold_classifier(model)
    method = _response_method(model, tuned)
    positive = _positive_class(tuned, classes)
    threshold = _own_threshold(tuned, method) if threshold is None else threshold
    return _of_method(model, method, positive, threshold, classes)


def _of_method(model: Any, method: str, positive: int, threshold: float, classes: Sequence[Any]) -> Scorer:
    names = getattr(model, "feature_names_in_", None)
    return Scorer(
        model=model,
        function=_score_function(model, method, positive, classes),
        threshold=threshold,
        name=f"{type(model).__name__}.{method}",
        n_features=_n_features(model),
        feature_names=None if names is None else tuple(map(str, names)),
        dense=not _takes_sparse(model),
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

    last = _last_step(model)
    return last if isinstance(last, FixedThresholdClassifier | TunedThresholdClassifierCV) else None


def _last_step(model: Any) -> Any:
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        else:
            return model


def _response_method(model: Any, tuned: Any) -> str:
    methods = [m for m in ("predict_proba", "decision_function") if hasattr(model, m)]
    wanted = getattr(tuned, "response_method", "auto")
    if wanted in methods:
        return str(wanted)
    if not methods:
        raise InputError(
            f"model must have predict_proba or decision_function, got {type(model).__name__} with neither. "
            "Pass a callable that scores rows, and its threshold."
        )
    return methods[0]


def _response_of_many(model: Any) -> str:
    """Choose the method that scores many classes: the one by which the model itself compares them."""
    apart = type(_last_step(model)).__name__ in SCORED_APART
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
    """Give the index of the positive class: 1, unless the estimator carries a `pos_label` of its own."""
    pos_label = getattr(tuned, "pos_label", None)
    return 0 if pos_label is not None and len(classes) and pos_label == classes[0] else 1


def _score_function(model: Any, method: str, positive: int, classes: Sequence[Any]) -> Callable[[Any], Any]:
    respond = getattr(model, method)
    if len(classes) > 2:
        last = _last_step(model)
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
    return None if n_features is None else int(n_features)


def _takes_sparse(model: Any) -> bool:
    from sklearn.base import BaseEstimator
    from sklearn.utils import get_tags

    if not isinstance(model, BaseEstimator):
        return True
    # A libsvm model that was fitted on dense rows refuses sparse ones, whatever its tags say.
    return bool(get_tags(model).input_tags.sparse) and getattr(_last_step(model), "_sparse", True)
