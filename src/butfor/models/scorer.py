"""What decides: the user's model behind one checked door."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.checks import require_finite
from butfor.errors import InputError, ModelError, abridged
from butfor.models.base import FloatArray, IntArray
from butfor.models.labels import last_step, of_one_label, require_one_decision
from butfor.models.lead import Lead
from butfor.models.row_kind import RowKind

MAX_VALUES = 2_000_000
"""How many values one call carries where the model is handed dense rows."""
DOUBT = 1e-6
"""How close to the threshold, in relation to its size, a score leaves doubt about what `predict` says."""


@dataclass(frozen=True, eq=False)
class Said:
    """What the model said of some rows."""

    outputs: FloatArray
    """The score of each row; with more than two classes one for each of them."""
    classes: IntArray
    """The indices of the classes that it decides for."""
    seconds_a_row: float = 0.0
    """How long it took to score a row."""

    def __len__(self) -> int:
        return len(self.classes)

    def shown(self) -> str:
        """Return the scores in words."""
        return ", ".join(f"{score:.4g}" for score in np.ravel(self.outputs))

    def __getitem__(self, which: Any) -> "Said":
        return Said(self.outputs[which], self.classes[which], self.seconds_a_row)


@dataclass(frozen=True)
class Scorer:
    """The user's model as a function from rows to scores, and the threshold of its decision."""

    model: Any
    function: Callable[[Any], Any]
    threshold: float
    name: str
    """What the model is called in messages, for example "LogisticRegression.predict_proba"."""
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    kind: RowKind | None = None
    """The kind of table in which the model is handed rows of CSR; None: as they are."""
    predict: Callable[[Any], Any] | None = None
    """The model's own decisions; None where the threshold is the user's, or the model has none."""
    is_open: bool = False
    """Whether it is a function of which only its first scores tell how many classes there are."""
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

    def at(self, row: Any, said: Said | None = None) -> tuple["Scorer", Said | None]:
        """Settle what is asked of this row: with more than two classes, whether its own class keeps the lead.

        `said` is what the model said of the row, if it was asked; with more than two classes it is asked now.
        """
        scorer = self.handing(getattr(row, "kind", None))
        if not self.has_many_classes:
            return scorer, said
        said = scorer.said(row.whole()) if said is None else said
        return replace(scorer, lead=Lead(int(said.classes[0]), self.target)), said

    def handing(self, kind: RowKind | None) -> "Scorer":
        """Return the scorer that hands the model rows of this kind."""
        return self if kind == self.kind else replace(self, kind=kind)

    @property
    def has_many_classes(self) -> bool:
        """Whether the model tells apart more than two classes."""
        return len(self.classes) > 2

    def scores(self, X: Any) -> FloatArray:
        """Return a score for each row; raise `ModelError` unless the model gives one finite number a row."""
        return self.decided(X)[0]

    def decided(self, X: Any) -> tuple[FloatArray, IntArray]:
        """Return the scores of rows, and the indices of the classes that the model decides for.

        A score that leaves doubt is moved to the side of the threshold on which the model decides.
        """
        said = self.said(X)
        return self.turned(said), said.classes

    def said(self, X: Any, *, by_predict: bool = False, alone: bool = False) -> Said:
        """Have the model score rows and decide on them.

        What the scores leave in doubt is decided by the model's own `predict`; with `by_predict` everything.
        The last bit of a score may depend on the rows beside it. With `alone` the model is asked about rows
        in doubt one by one, as users do, and that counts.
        """
        began = time.monotonic()
        outputs = self.outputs(X)
        seconds = time.monotonic() - began
        if self.has_many_classes:
            classes = outputs.argmax(axis=1)
        else:
            classes = np.where(outputs >= self.threshold, self.positive, 1 - self.positive)
        asked = np.arange(len(classes)) if by_predict else self.in_doubt(outputs)
        if self.predict is not None and asked.size:
            rows = X if asked.size == len(classes) else _some(X, asked)
            predicted = self._predicted(rows)
            classes[asked] = np.where(predicted < 0, classes[asked], predicted)
        if alone and len(classes) > 1:
            for i in self.in_doubt(outputs):
                by_itself = self.said(_some(X, np.array([i])))
                outputs[i], classes[i] = by_itself.outputs[0], by_itself.classes[0]
        return Said(outputs, classes, seconds / max(1, len(classes)))

    def reported(self, said: Said) -> FloatArray:
        """Return the scores as users see them: the model's own, or leads among many classes."""
        return said.outputs if self.lead is None else self.lead.of(said.outputs)

    def turned(self, said: Said) -> FloatArray:
        """Return the scores, those in doubt moved to the side on which the model decides."""
        if self.lead is not None:
            return self.lead.turned(said.outputs, said.classes)
        below = np.nextafter(self.threshold, -np.inf)
        is_positive = said.classes == self.positive
        return np.where(
            is_positive, np.maximum(said.outputs, self.threshold), np.minimum(said.outputs, below)
        )

    def require_consistency(self, said: Said) -> None:
        """Raise where the model decides on a row otherwise than its score says, beyond all doubt."""
        if self.in_doubt(said.outputs[:1]).size:
            return
        if self.has_many_classes:
            decided, by_threshold = int(said.outputs[0].argmax()), ""
            remedy = "Pass the scores that it decides by, as a function."
        else:
            decided = self.positive if said.outputs[0] >= self.threshold else 1 - self.positive
            by_threshold = f" and the threshold {self.threshold:g}"
            remedy = "Give threshold to explain what the score says, whatever predict says."
        if decided != said.classes[0]:
            raise ModelError(
                f"{self.name} and predict of the model contradict each other: predict decides otherwise than "
                f"the score {said.shown()}{by_threshold} say. {remedy}"
            )

    def in_doubt(self, outputs: FloatArray) -> IntArray:
        """Return the numbers of rows so close to another decision that their scores do not tell."""
        if self.has_many_classes:
            ordered = np.sort(outputs, axis=1)
            ahead, size = ordered[:, -1] - ordered[:, -2], np.abs(ordered[:, -1])
        else:
            ahead, size = np.abs(outputs - self.threshold), np.full(len(outputs), abs(self.threshold))
        return np.flatnonzero(ahead <= DOUBT * np.maximum(1.0, size))

    def _predicted(self, X: Any) -> IntArray:
        """Return the indices of the classes that `predict` gives; -1 where it gives none that is known."""
        assert self.predict is not None
        labels = self._called(self.predict, X, f"{type(self.model).__name__}.predict")
        n_rows = n_rows_in(X)
        require_one_decision(labels, n_rows, type(self.model).__name__)
        classes = self.classes or (0, 1)
        index_of = {label: i for i, label in enumerate(classes)}
        by_name = {str(label): i for i, label in enumerate(classes)}
        found = [
            index_of.get(label, by_name.get(str(label), -1)) for label in labels.reshape(n_rows).tolist()
        ]
        return np.array(found, dtype=np.intp)

    def is_positive(self, score: float) -> bool:
        """Return whether a score means a positive decision: whether it is at least the threshold."""
        return score >= self.threshold

    def outputs(self, X: Any) -> FloatArray:
        """Have the model score rows: one finite number a row, or with many classes one for each of them."""
        n_rows = n_rows_in(X)
        scores = self._called(self.function, X, self.name)
        if scores.shape == (n_rows, 1):
            scores = scores[:, 0]
        elif scores.shape == (n_rows, 2) and not self.method and len(self.classes) in (0, 2):
            scores = scores[:, 1]  # a function's probabilities of two classes
        self._check(scores, n_rows)
        return np.array(scores, dtype=np.float64)

    def _called(self, function: Callable[[Any], Any], X: Any, name: str) -> Any:
        """Call the model on rows of the kind that it is handed, as many at once as memory allows."""
        n_rows = n_rows_in(X)
        if self.kind is not None:
            step = n_rows if self.kind.is_sparse else max(1, MAX_VALUES // max(1, X.shape[1]))
            if n_rows > step:
                pieces = [X[i : i + step] for i in range(0, n_rows, step)]
                return np.concatenate([self._called(function, piece, name) for piece in pieces])
            X = self.kind.of(X)
        try:
            with nullcontext() if self.feature_names is None else without_name_warnings():
                returned = function(X)
                return returned.toarray() if hasattr(returned, "toarray") else np.asarray(returned)
        except Exception as error:
            message = abridged(str(error), texts=X if isinstance(X, list) else ())
            raise ModelError(f"{name} raised {type(error).__name__} on {n_rows:,} rows: {message}") from error

    def _check(self, scores: Any, n_rows: int) -> None:
        expected = (n_rows, len(self.classes)) if self.has_many_classes else (n_rows,)
        if scores.shape != expected:
            hint = ""
            if len(scores.shape) == 2 and not self.method:
                hint = f" Give class_names, one for each of its {scores.shape[1]:,} columns."
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


def n_rows_in(X: Any) -> int:
    """Return how many rows, or texts, there are."""
    return len(X) if isinstance(X, list) else int(X.shape[0])


def _some(X: Any, which: IntArray) -> Any:
    """Return some rows, or texts."""
    return [X[i] for i in which] if isinstance(X, list) else X[which]


def as_scorer(
    model: Any, threshold: float | None = None, *, classes: Sequence[Any] = (), label: Any = None
) -> Scorer:
    """Return the scorer of a fitted classifier or pipeline, or of a callable from rows to scores.

    A callable with more than two `classes` gives a score for each of them. Of a model that decides about
    several labels at once, `label` is the one in question.
    """
    if threshold is not None:
        require_finite("threshold", threshold)
        threshold = float(threshold)
    if isinstance(model, type):
        raise InputError(f"model must be a fitted object, got the class {model.__name__}.")
    if hasattr(model, "fit") or hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return _of_classifier(model, threshold, label)
    if not callable(model):
        raise InputError(
            "model must be a fitted classifier or a callable from rows to scores, got "
            f"{type(model).__name__}."
        )
    if label is not None:
        raise InputError(
            f"label must not be given for a function, got {label!r}: have it return the scores of that label."
        )
    owner = getattr(model, "__self__", None)
    if hasattr(owner, "classes_"):
        for method in ("decision_function", "predict_proba"):
            if model == getattr(owner, method, None):
                return _of_own_method(owner, method, threshold)
    _require_no_threshold(threshold, classes)
    name = getattr(model, "__qualname__", type(model).__name__)
    own = (0.0 if len(classes) > 2 else 0.5) if threshold is None else threshold
    is_open = threshold is None and len(classes) <= 2
    return Scorer(model, model, own, name, classes=tuple(classes), is_open=is_open)


def closed(scorer: Scorer, X: Any) -> Scorer:
    """Return the scorer of a function, now that it can be seen how many classes it scores.

    Two columns are the probabilities of two classes, more are a score for each class. One score a row says
    nothing of the decision without a threshold.
    """
    columns = scorer._called(scorer.function, X, scorer.name)
    n_columns = columns.shape[1] if columns.ndim == 2 else 1
    if n_columns == 1:
        raise InputError(
            f"threshold must be given, as {scorer.name} returns one score a row and does not say from which "
            "score on the decision is positive."
        )
    if n_columns == 2:
        return replace(scorer, is_open=False)
    if scorer.classes:
        raise InputError(
            f"class_names must have {n_columns:,} names, as {scorer.name} returns so many columns, got "
            f"{len(scorer.classes)}."
        )
    names = tuple(f"class {i}" for i in range(n_columns))
    return replace(scorer, is_open=False, classes=names, threshold=0.0)


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
        if method == "predict_proba" and not 0 <= threshold <= 1:
            raise InputError(
                f"threshold must be between 0 and 1, as {type(model).__name__} scores by probabilities, got "
                f"{threshold:g}. For decision values pass model.decision_function."
            )
        return replace(_of_method(model, method, positive, threshold, classes), predict=None)
    return _of_method(model, method, positive, _own_threshold(tuned, method), classes)


def _of_own_method(model: Any, method: str, threshold: float | None) -> Scorer:
    """Return the scorer of a method of a classifier."""
    classes = _classes(model)
    _require_no_threshold(threshold, classes)
    own = 0.0 if len(classes) > 2 or method == "decision_function" else 0.5
    scorer = _of_method(model, method, 1, own if threshold is None else threshold, classes)
    return replace(scorer, predict=None)


def _of_method(model: Any, method: str, positive: int, threshold: float, classes: Sequence[Any]) -> Scorer:
    names = _feature_names(model)
    return Scorer(
        model=model,
        function=_score_function(model, method, positive, classes),
        threshold=threshold,
        name=f"{type(model).__name__}.{method}",
        n_features=_n_features(model),
        feature_names=names,
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
    """Give the index of the positive class: 1, unless the estimator carries a `pos_label` of its own."""
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


def _feature_names(model: Any) -> tuple[str, ...] | None:
    """Return the names that the model was fitted with; None where it made them up, or has none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "feature_names_", None)  # CatBoost's
    if names is None or [str(name) for name in names] == [str(i) for i in range(len(names))]:
        return None
    return tuple(map(str, names))
