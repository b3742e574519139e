"""A text classifier split in two: from texts to rows, and from rows to decisions."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.errors import ButforError, ModelError
from butfor.models.counted import Counted
from butfor.models.formula.families.wrappers import INNER
from butfor.models.text.contributions import counted
from butfor.models.text.cutting import CutText
from butfor.models.text.layout import PROBE, holds_vectoriser, is_nothing, leaves_of
from butfor.models.text.leaves import Leaf
from butfor.models.text.readings import readings_of
from butfor.models.text.text_units import TextUnits, gather, require_text, require_unit


@dataclass(frozen=True, eq=False)
class TextModel:
    """A fitted classifier of texts: the steps that make rows of them, and the estimator that decides on rows.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(["Free prize", "see you"], [1, 0])
    >>> text_model = split_text_model(model)
    >>> text_model.feature_names, text_model.rest
    (('free', 'prize', 'see', 'you'), MultinomialNB())
    >>> text_model.units("FREE, free!")
    TextUnits(names=('free',), spans=(((0, 4), (6, 10)),), grams=((0, (0,)), (0, (0,))))
    """

    whole: Any
    """The user's estimator, which takes texts."""
    steps: tuple[Any, ...]
    """The transformers that make rows of texts."""
    rest: Any
    """The estimator that takes those rows, with the threshold of the whole if it has one."""
    n_features: int
    leaves: tuple[Leaf, ...]
    """The vectorisers among the steps."""

    @cached_property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns; None if a step does not know them, as for hashing."""
        names = None
        try:
            for step in self.steps[_first_vectoriser(self.steps) :]:
                names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):
            return None
        return None if names is None else tuple(map(str, names))

    @cached_property
    def dense(self) -> bool:
        """Whether its transformers return dense rows."""
        return not sparse.issparse(self._transformed(list(PROBE)))

    def rows(self, texts: list[str]) -> Any:
        """Return CSR rows of texts, made by the model's own transformers."""
        X = self._transformed(texts)
        return X.tocsr() if sparse.issparse(X) else sparse.csr_matrix(np.asarray(X))

    def unknown(self, words: list[str]) -> list[str]:
        """Return the words that have no column in the model, in any text."""
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
        """The words in the names of the columns."""
        return frozenset(word for name in self.feature_names or () for word in name.casefold().split())

    def _transformed(self, texts: list[str]) -> Any:
        X: Any = texts
        for step in self.steps:
            X = step.transform(X)
        return X

    def units(self, text: str, unit: str = "word", *, row: Any = None, active_only: bool = True) -> TextUnits:
        """Return the units of a text and the columns that they touch.

        A word is all its occurrences, by the vectoriser's own tokens. An n-gram of words touches each word
        that it contains; one of characters touches each word that it overlaps. Columns that do not come from
        the text's words, such as its length, are touched by no unit. Words that touch no column are left out.

        Parameters
        ----------
        text : str
            The text.
        unit : {"word", "occurrence", "sentence"}, default="word"
            What is removed at a time.
        row : CSR matrix of one row, optional
            The text's row, if it is known already.
        active_only : bool, default=True
            Whether a column must have a value in the row to be touched. Words of opposite signs that share a
            column may leave none, where words are hashed.

        Returns
        -------
        TextUnits
            Names, places and columns of the units.

        Raises
        ------
        InputError
            If the text is not a string, or the unit is unknown.
        """
        require_text(text)
        require_unit(unit)
        readings, columns = [], []
        for leaf in self.leaves:
            for reading in readings_of(leaf, text, by_sentence=unit == "sentence"):
                columns.append(leaf.columns_of(reading.grams))
                readings.append(reading)
        if active_only:
            row = self.rows([text]) if row is None else row
            active = row.indices[row.data != 0]
            columns = [np.where(np.isin(own, active), own, -1) for own in columns]
        return gather(text, unit, readings, columns)

    def cut(self, text: CutText, window: int) -> tuple[list[Counted], int | None] | None:
        """Return what each vectoriser counts in a text of which units may be cut; None if that is not known.

        With the counts comes up to how many removed units they hold in any case; None: there is no limit.
        N-grams are looked for across at most `window` removed words in a row.
        """
        n_units = len(text.unit_spans)
        counts, has_phrases = [], False
        for leaf in self.leaves:
            has_phrases = has_phrases or leaf.reaches_over_words
            contributions = text.contributions(leaf, window)
            if contributions is None:
                return None
            n_columns = leaf.vectoriser.n_features if leaf.vocabulary is None else len(leaf.vocabulary)
            counts.append(counted(contributions, n_units, n_columns, leaf.vectoriser.dtype))
        return counts, window if has_phrases and n_units > window else None


def split_text_model(model: Any) -> TextModel | None:
    """Split a fitted text classifier into the steps that make rows and the estimator that decides on them.

    A text classifier is a Pipeline that starts with a vectoriser or a FeatureUnion of them, or a parameter
    search or a threshold around one. Steps that clean texts may come first. TfidfTransformer and Normalizer
    directly behind the vectorisers count as steps that make rows: they mix columns, so a column is removed
    behind them.

    Parameters
    ----------
    model : estimator
        A fitted model of scikit-learn.

    Returns
    -------
    TextModel or None
        None for any other model.

    Raises
    ------
    ModelError
        If a step fails on a short text.
    """
    from sklearn.exceptions import NotFittedError

    split = _split(model)
    if split is None:
        return None
    steps, rest = split
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


def _split(model: Any) -> tuple[list[Any], Any] | None:
    """Return the steps that make rows, and the estimator that decides on them."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        return _split_pipeline(model)
    names = ("best_estimator_", *INNER.get(type(model).__name__, ()))
    inner = next((getattr(model, name) for name in names if hasattr(model, name)), None)
    split = None if inner is None else _split(inner)
    if split is None:
        return None
    steps, rest = split
    return steps, with_threshold_of(model, rest)


def with_threshold_of(model: Any, rest: Any) -> Any:
    """Put the threshold of an estimator around the rest of the one inside it."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    if not isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return rest
    outer = copy(model)
    outer.estimator_ = rest
    if hasattr(rest, "n_features_in_"):
        outer.n_features_in_ = rest.n_features_in_
    return outer


def _split_pipeline(pipeline: Any) -> tuple[list[Any], Any] | None:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import Normalizer

    steps = flat_steps(pipeline)
    end = _first_vectoriser([step for _, step in steps]) + 1
    while end < len(steps) and isinstance(steps[end][1], TfidfTransformer | Normalizer):
        end += 1
    if end >= len(steps):
        return None
    # Samplers, which some libraries put into pipelines, do nothing but in fitting.
    deciding = [pair for pair in steps[end:-1] if hasattr(pair[1], "transform")] + steps[-1:]
    rest = deciding[0][1] if len(deciding) == 1 else Pipeline(deciding)
    return [step for _, step in steps[:end]], rest


def _first_vectoriser(steps: Any) -> int:
    """Return the position of the first step with a vectoriser; the number of steps if there is none."""
    return next((at for at, step in enumerate(steps) if holds_vectoriser(step)), len(steps))


def flat_steps(pipeline: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Return the steps of a pipeline, with the steps of nested pipelines in their place."""
    steps: list[tuple[str, Any]] = []
    for name, step in pipeline.steps:
        if hasattr(step, "steps"):
            steps += flat_steps(step, f"{prefix}{name}-")
        elif not is_nothing(step):
            steps.append((prefix + name, step))
    return steps
