"""A text classifier taken apart: from texts to rows, and from rows to decisions."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.errors import ButforError, ModelError
from butfor.models.families.wrappers import INNER
from butfor.models.text.layout import PROBE, holds_vectoriser, is_nothing, leaves_of
from butfor.models.text.leaves import Leaf
from butfor.models.text.readings import readings_of
from butfor.models.text.units import Units, gather, require_text, require_unit


@dataclass(frozen=True, eq=False)
class TextModel:
    """A fitted classifier of texts: what makes rows of them, what decides on rows, and how the two meet.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(["Free prize", "see you"], [1, 0])
    >>> text_model = split_text_model(model)
    >>> text_model.feature_names, text_model.rest
    (('free', 'prize', 'see', 'you'), MultinomialNB())
    >>> text_model.units("FREE, free!")
    Units(names=('free',), spans=(((0, 4), (6, 10)),), grams=((0, (0,)), (0, (0,))))
    """

    whole: Any
    """The estimator that takes texts, as the user gave it."""
    steps: tuple[Any, ...]
    """The transformers that make rows of texts."""
    rest: Any
    """The estimator that takes those rows, with the threshold of the whole if that carries one."""
    n_features: int
    leaves: tuple[Leaf, ...]
    """The vectorisers among the steps."""

    @cached_property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns; None where a step does not know them, as for hashing."""
        names = None
        try:
            for step in self.steps[_first_vectoriser(self.steps) :]:
                names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):
            return None
        return None if names is None else tuple(map(str, names))

    @cached_property
    def dense(self) -> bool:
        """Whether its transformers give dense rows."""
        return not sparse.issparse(self._transformed(list(PROBE)))

    def rows(self, texts: list[str]) -> Any:
        """Make CSR rows of texts, by the model's own transformers."""
        X = self._transformed(texts)
        return X.tocsr() if sparse.issparse(X) else sparse.csr_matrix(np.asarray(X))

    def unknown(self, words: list[str]) -> list[str]:
        """Return the words that mean nothing to the model, in whatever text they stand."""
        if not words:
            return []
        counts = np.diff(self.rows(words).indptr)
        return [
            word
            for word, n_columns in zip(words, counts, strict=True)
            if not n_columns and word.casefold() not in self.words
        ]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of which the columns' names are made."""
        return frozenset(word for name in self.feature_names or () for word in name.casefold().split())

    def _transformed(self, texts: list[str]) -> Any:
        X: Any = texts
        for step in self.steps:
            X = step.transform(X)
        return X

    def units(self, text: str, unit: str = "word", *, row: Any = None) -> Units:
        """Find the units of a text ("word", "occurrence" or "sentence") and the columns that they touch.

        A word is all its occurrences, by the vectoriser's own tokens; an n-gram touches every word that it
        contains, one of characters every word that it overlaps. Columns that do not come from the text's
        words, such as its length, are touched by none. Words that touch no column are left out. `row` is the
        text's row, if it is known already.
        """
        require_text(text)
        require_unit(unit)
        row = self.rows([text]) if row is None else row
        active = row.indices[row.data != 0]
        readings, columns = [], []
        for leaf in self.leaves:
            for reading in readings_of(leaf, text, by_sentence=unit == "sentence"):
                own = leaf.columns_of(reading.grams)
                columns.append(np.where(np.isin(own, active), own, -1))
                readings.append(reading)
        return gather(text, unit, readings, columns)


def split_text_model(model: Any) -> TextModel | None:
    """Take a fitted text classifier apart; None for any other model.

    That is a Pipeline that starts with a vectoriser or a FeatureUnion of them (steps that clean texts come
    first), or a parameter search or a threshold around one. TfidfTransformer and Normalizer directly behind
    the vectorisers count among what makes the rows: they mix columns, so a column is removed behind them.
    """
    from sklearn.exceptions import NotFittedError

    parts = _parts(model)
    if parts is None:
        return None
    steps, rest = parts
    try:
        leaves, n_features = leaves_of(steps)
    except NotFittedError:
        return None
    except ButforError:
        raise
    except Exception as error:
        raise ModelError(
            f"the steps of the model raised {type(error).__name__} on the text {PROBE[0]!r}: {error}"
        ) from error
    return TextModel(model, tuple(steps), rest, n_features, tuple(leaves)) if leaves else None


def _parts(model: Any) -> tuple[list[Any], Any] | None:
    """Give the steps that make rows, and the estimator that decides on them."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        return _parts_of_pipeline(model)
    names = ("best_estimator_", *INNER.get(type(model).__name__, ()))
    inner = next((getattr(model, name) for name in names if hasattr(model, name)), None)
    parts = None if inner is None else _parts(inner)
    if parts is None:
        return None
    steps, rest = parts
    return steps, _with_threshold_of(model, rest)


def _with_threshold_of(model: Any, rest: Any) -> Any:
    """Put the threshold of an estimator around what is left of the one inside it."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    if not isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return rest
    outer = copy(model)
    outer.estimator_ = rest
    if hasattr(rest, "n_features_in_"):
        outer.n_features_in_ = rest.n_features_in_
    return outer


def _parts_of_pipeline(pipeline: Any) -> tuple[list[Any], Any] | None:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import Normalizer

    steps = _flat(pipeline)
    end = _first_vectoriser([step for _, step in steps]) + 1
    while end < len(steps) and isinstance(steps[end][1], TfidfTransformer | Normalizer):
        end += 1
    if end >= len(steps):
        return None
    # Samplers, which some libraries put into pipelines, act in fitting alone.
    deciding = [pair for pair in steps[end:-1] if hasattr(pair[1], "transform")] + steps[-1:]
    rest = deciding[0][1] if len(deciding) == 1 else Pipeline(deciding)
    return [step for _, step in steps[:end]], rest


def _first_vectoriser(steps: Any) -> int:
    """Give the position of the first step with a vectoriser; behind the last if there is none."""
    return next((at for at, step in enumerate(steps) if holds_vectoriser(step)), len(steps))


def _flat(pipeline: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Give the steps of a pipeline, those of pipelines within it in their place."""
    steps: list[tuple[str, Any]] = []
    for name, step in pipeline.steps:
        if hasattr(step, "steps"):
            steps += _flat(step, f"{prefix}{name}-")
        elif not is_nothing(step):
            steps.append((prefix + name, step))
    return steps
