"""The user's model behind one checked interface: scores of rows, and decisions on them."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from butfor.errors import InputError, ModelError, abridged
from butfor.models.arrays import FloatArray, IntArray
from butfor.models.calling.returned import as_outputs
from butfor.models.labels import require_one_decision
from butfor.models.margin import Margin
from butfor.models.row_kind import RowKind
from butfor.models.rows import MAX_VALUES, n_rows_in, some_rows

DOUBT = 1e-6
"""How close to the threshold, in relation to its size, a score leaves doubt, if nothing else is known."""

ABOUT_ONE = 1e-2
"""How far the probabilities of two classes may be from 1 together."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """Scores and decisions of the model for some rows."""

    outputs: FloatArray
    """One score a row; with more than two classes, one a row and class."""
    classes: IntArray
    """The index of the class that the model decides for, one a row."""
    seconds_a_row: float = 0.0
    """Seconds that scoring one row took."""

    def __len__(self) -> int:
        return len(self.classes)

    def shown(self) -> str:
        """Return the scores as text, for messages."""
        return ", ".join(f"{score:.4g}" for score in np.ravel(self.outputs))

    def __getitem__(self, which: Any) -> "Decisions":
        return Decisions(self.outputs[which], self.classes[which], self.seconds_a_row)


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
    takes_missing: bool = False
    """Whether the model takes NaN for a missing value."""
    kind: RowKind | None = None
    """The kind of table in which the model is handed rows of CSR; None: as they are."""
    predict: Callable[[Any], Any] | None = None
    """The model's own decisions; None where the threshold is the user's, or the model has none."""
    is_open: bool = False
    """Whether it is unknown, until a function returns its first scores, what their columns stand for."""
    has_threshold: bool = True
    """Whether the threshold is known; else one score a row says nothing of the decision."""
    method: str = ""
    """The method of the model that scores; empty for a function of which nothing more is known."""
    positive: int = 1
    """The index of the class whose score it is."""
    classes: tuple[Any, ...] = ()
    """The classes that the model tells apart; empty where it does not say."""
    target: int | None = None
    """The index of the class to which a decision must flip, if not just any other."""
    varies: bool = False
    """Whether the model gives the same row another score each time, as its user says."""
    doubt: float = DOUBT
    """How close to the threshold, in relation to its size, a score leaves the decision in doubt."""
    margin: Margin | None = None
    """With more than two classes: how scores of all classes become one number. See `at`."""
    _by_kind: "dict[RowKind | None, Scorer]" = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """The same scorer for other kinds of rows, made once."""

    def at(self, decisions: Decisions) -> "Scorer":
        """Return the scorer of one row on which the model decided so.

        With more than two classes its scores are margins of the class that the model decided for.
        """
        if not self.has_many_classes:
            return self
        return replace(self, margin=Margin(int(decisions.classes[0]), self.target))

    def handing(self, kind: RowKind | None) -> "Scorer":
        """Return the scorer that hands the model rows of this kind."""
        if kind == self.kind:
            return self
        if kind not in self._by_kind:
            self._by_kind[kind] = replace(self, kind=kind)
        return self._by_kind[kind]

    @property
    def has_many_classes(self) -> bool:
        """Whether the model tells apart more than two classes."""
        return len(self.classes) > 2

    def scores(self, X: Any) -> FloatArray:
        """Return a score for each row; raise `ModelError` unless the model gives one finite number a row.

        A score that leaves doubt is moved to the side of the threshold on which the model decides.
        """
        return self.turned(self.decide(X))

    def decide(self, X: Any, *, by_predict: bool = False, alone: bool = False) -> Decisions:
        """Return the model's scores of rows, and its decisions on them.

        Rows whose scores leave the decision in doubt are decided by the model's own `predict`; with
        `by_predict` all rows are. The last bit of a score may depend on the rows beside it. So with `alone`
        the model scores rows in doubt one by one, as users do, and these scores count.
        """
        began = time.monotonic()
        outputs = self.outputs(X)
        seconds = time.monotonic() - began
        decisions = self.by_score(outputs, seconds / max(1, len(outputs)))
        in_doubt = self.in_doubt(outputs)
        if by_predict or in_doubt.size:
            self._ask_again(X, decisions, in_doubt, by_predict=by_predict, alone=alone)
        return decisions

    def _ask_again(
        self, X: Any, decisions: Decisions, in_doubt: IntArray, *, by_predict: bool, alone: bool
    ) -> None:
        """Put the model's own decisions on rows that are in doubt, or on all, in place of their scores'."""
        outputs, classes = decisions.outputs, decisions.classes
        everything = np.arange(len(classes))
        one_by_one = in_doubt if alone and len(classes) > 1 else everything[:0]
        which = np.setdiff1d(everything if by_predict else in_doubt, one_by_one, assume_unique=True)
        if self.predict is not None and which.size:
            predicted = self._predicted(X if which.size == len(classes) else some_rows(X, which))
            classes[which] = np.where(predicted < 0, classes[which], predicted)
        for i in one_by_one:
            by_itself = self.decide(some_rows(X, np.array([i])))
            outputs[i], classes[i] = by_itself.outputs[0], by_itself.classes[0]

    def by_score(self, outputs: FloatArray, seconds_a_row: float = 0.0) -> Decisions:
        """Return the decisions that follow from scores alone."""
        if self.has_many_classes:
            return Decisions(outputs, outputs.argmax(axis=1), seconds_a_row)
        classes = np.where(outputs >= self.threshold, self.positive, 1 - self.positive)
        return Decisions(outputs, classes, seconds_a_row)

    def turned(self, decisions: Decisions) -> FloatArray:
        """Return one score a row; a score in doubt is moved to the side on which the model decided."""
        if self.margin is not None:
            return self.margin.turned(decisions.outputs, decisions.classes)
        below = np.nextafter(self.threshold, -np.inf)
        is_positive = decisions.classes == self.positive
        return np.where(
            is_positive, np.maximum(decisions.outputs, self.threshold), np.minimum(decisions.outputs, below)
        )

    def require_consistency(self, decisions: Decisions) -> None:
        """Raise where the decision on the first row contradicts its score, beyond doubt."""
        if self.in_doubt(decisions.outputs[:1]).size:
            return
        if self.by_score(decisions.outputs).classes[0] == decisions.classes[0]:
            return
        by_threshold = f" and the threshold {self.threshold:g}"
        remedy = "Give threshold to explain what the score says, whatever predict says."
        if self.has_many_classes:
            by_threshold, remedy = "", "Pass the scores that it decides by, as a function."
        raise ModelError(
            f"{self.name} and predict of the model contradict each other: predict decides otherwise than "
            f"the score {decisions.shown()}{by_threshold} say. {remedy}"
        )

    def in_doubt(self, outputs: FloatArray) -> IntArray:
        """Return the numbers of rows whose scores are too close to another decision to be sure."""
        if not self.has_many_classes:
            near = np.abs(outputs - self.threshold) <= self.doubt * max(1.0, abs(self.threshold))
            return near.nonzero()[0]
        ordered = np.sort(outputs, axis=1)
        ahead, size = ordered[:, -1] - ordered[:, -2], np.abs(ordered[:, -1])
        return np.flatnonzero(ahead <= self.doubt * np.maximum(1.0, size))

    def _predicted(self, X: Any) -> IntArray:
        """Return the index of the class that `predict` returns for each row; -1 for an unknown class."""
        assert self.predict is not None
        labels = self.called(self.predict, X, f"{type(self.model).__name__}.predict")
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
        """Return the model's scores: one finite number a row; with many classes, one a row and class."""
        n_rows = n_rows_in(X)
        scores = self.called(self.function, X, self.name)
        if scores.shape == (n_rows, 1):
            scores = scores[:, 0]
        elif scores.shape == (n_rows, 2) and not self.method and len(self.classes) in (0, 2):
            self._require_probabilities(scores)
            scores = scores[:, 1]  # a function's probabilities of two classes
        self._check(scores, n_rows)
        return np.array(scores, dtype=np.float64)

    def called(self, function: Callable[[Any], Any], X: Any, name: str) -> Any:
        """Call the model on rows, in the kind of table that it takes, as many at once as memory allows."""
        n_rows = n_rows_in(X)
        if self.kind is not None:
            step = n_rows if self.kind.is_sparse else max(1, MAX_VALUES // max(1, X.shape[1]))
            if n_rows > step:
                pieces = [X[i : i + step] for i in range(0, n_rows, step)]
                return np.concatenate([self.called(function, piece, name) for piece in pieces])
            X = self.kind.of(X)
        try:
            with nullcontext() if self.feature_names is None else without_name_warnings():
                returned = function(X)
                return as_outputs(returned)
        except InputError:
            raise
        except Exception as error:
            message = abridged(str(error), texts=X if isinstance(X, list) else ())
            raise ModelError(f"{name} raised {type(error).__name__} on {n_rows:,} rows: {message}") from error

    def _require_probabilities(self, scores: Any) -> None:
        """Raise where two columns are no probabilities, so that the second does not tell the decision."""
        if self.has_threshold or scores.dtype.kind not in "biuf" or not np.isfinite(scores).all():
            return
        within = (scores >= -ABOUT_ONE) & (scores <= 1 + ABOUT_ONE)
        sums = scores.sum(axis=1, dtype=np.float64)
        bad = np.flatnonzero(~(within.all(axis=1) & (np.abs(sums - 1) <= ABOUT_ONE)))
        if bad.size:
            first, second = scores[bad[0]]
            raise ModelError(
                f"{self.name} must return the probabilities of two classes, which add up to 1, got "
                f"{first:.4g} and {second:.4g}. Make probabilities of logits by a softmax; or give "
                "threshold, which the second column is compared with."
            )

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
        if not np.isfinite(scores).all():
            bad = ~np.isfinite(scores)
            raise ModelError(
                f"{self.name} must return finite scores, got {scores[bad][0]} for {bad.sum():,} of "
                f"{n_rows:,} rows. Clip or mend the model's output."
            )


@contextmanager
def without_name_warnings() -> Iterator[None]:
    """Silence scikit-learn's warnings about missing feature names: our rows have the right columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X .* valid feature names")
        yield
