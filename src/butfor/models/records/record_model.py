"""A classifier of records split in two: from cells to rows of numbers, and from rows to decisions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from butfor.errors import ButforError
from butfor.models.formula.families.steps import is_idle, steps_through, works_feature_by_feature
from butfor.models.formula.families.wrappers import INNER
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.records.absence import MISSING, Absence, absences_of, relaxed
from butfor.models.records.cells import Kind
from butfor.models.records.record_table import WHOLE, Column, is_missing
from butfor.models.records.sources import CellSource, DictSource, ItemSource, Source, TextSource
from butfor.models.text.front import of_vectoriser, steps_of_texts
from butfor.models.text.layout import PROBE, holds_vectoriser, is_vectoriser, leaves_of
from butfor.models.text.pipelines import TextModel, flat_steps, with_threshold_of

Form = Literal["frame", "dicts", "lists", "array"]
"""In which form a model takes records."""

COLUMN_BY_COLUMN = {
    "KBinsDiscretizer",
    "MissingIndicator",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PowerTransformer",
    "QuantileTransformer",
    "SimpleImputer",
    "SplineTransformer",
    "TargetEncoder",
}
"""Transformers each of whose outputs depends on one column, besides those that make one of each."""
MOST_AHEAD = 2_000
"""So many categories are encoded at once, at the first record."""
ENCODERS = {"OneHotEncoder", "OrdinalEncoder", "TargetEncoder"}


@dataclass(frozen=True, eq=False)
class RecordModel:
    """A fitted classifier of records: what each column is to it, and its steps up to the one that decides.

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> frame = pd.DataFrame({"country": ["US", "AT"], "age": [30, 40]})
    >>> encode = make_column_transformer((OneHotEncoder(), ["country"]), remainder="passthrough")
    >>> model = split_record_model(make_pipeline(encode, LogisticRegression()).fit(frame, [1, 0]))
    >>> model.kinds, model.absences["country"].in_words
    ({'country': 'category', 'age': 'number'}, 'unknown')
    """

    model: Any
    """The user's model; encoders that would raise at an unknown category take it for none."""
    form: Form | None = None
    """The form of records; None where the model does not tell."""
    columns: tuple[Column, ...] | None = None
    """The columns that it reads; None where it does not tell."""
    kinds: Mapping[Column, Kind] = field(default_factory=dict)
    absences: Mapping[Column, Absence | None] = field(default_factory=dict)
    """What stands for absence in columns of categories; None where nothing does."""
    texts: Mapping[Column, TextModel] = field(default_factory=dict)
    """The vectorisers that read each column of texts."""
    sources: tuple[Source, ...] = ()
    steps: Preprocessing | None = None
    """The steps from the sources to the rows on which `rest` decides; None where they are not known."""
    rest: Any = None
    codes: frozenset[Column] = frozenset()
    """The columns of categories that are numbers."""
    categories: Mapping[Column, tuple[Any, ...]] = field(default_factory=dict)
    """The categories that encoders know, but for missing ones."""
    is_sparse: bool = True
    """Whether `rest` gets sparse rows."""
    default_absence: Absence = MISSING
    """What stands for absence in other columns of categories."""

    def knows(self, column: Column, value: Any) -> bool:
        """Return whether an encoder knows a category, or has learned from missing ones."""
        if not is_missing(value):
            return value in self.categories[column]
        absence = self.absences.get(column)
        return absence is not None and absence.in_words == "missing"


def split_record_model(model: Any, *, of_numbers: bool = False) -> RecordModel | None:
    """Split a fitted classifier of records; return None for a model that does not say that it takes records.

    With `of_numbers` any model is one whose first step keeps columns apart: its rows are records of numbers.
    """
    own = relaxed(model)
    split = _split(own)
    takes_numbers = type(own).__module__.startswith("sklearn.") and hasattr(own, "n_features_in_")
    if split is None and of_numbers and takes_numbers:
        split = [None], own
    if split is None:
        return None
    transformers, rest = split
    reading = _FrontReading(of_numbers)
    try:
        steps = reading.through(transformers, rest)
    except ButforError:
        raise
    except Exception:  # a step of own making
        steps = None
    if reading.form is None:
        return None
    return RecordModel(
        own,
        reading.form,
        _in_order(reading.columns, transformers[0]),
        reading.kinds,
        reading.absences,
        reading.texts,
        tuple(reading.sources) if steps is not None else (),
        steps,
        rest,
        frozenset(reading.codes),
        reading.categories,
        _returns_sparse(transformers[0]),
    )


def _split(model: Any) -> tuple[list[Any], Any] | None:
    """Return the steps before the one that decides, and that one."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        steps = [step for _, step in flat_steps(model)]
        before = [step for step in steps[:-1] if hasattr(step, "transform")]  # samplers only fit
        return (before, steps[-1]) if before else None
    names = ("best_estimator_", *INNER.get(type(model).__name__, ()))
    inner = next((getattr(model, name) for name in names if hasattr(model, name)), None)
    split = None if inner is None else _split(inner)
    return None if split is None else (split[0], with_threshold_of(model, split[1]))


@dataclass(eq=False)
class _FrontReading:
    """What is learned of a model's first steps, one after the other."""

    of_numbers: bool = False
    """Whether rows of numbers are records."""
    form: Form | None = None
    columns: list[Column] = field(default_factory=list)
    kinds: dict[Column, Kind] = field(default_factory=dict)
    absences: dict[Column, Absence | None] = field(default_factory=dict)
    codes: set[Column] = field(default_factory=set)
    categories: dict[Column, tuple[Any, ...]] = field(default_factory=dict)
    texts: dict[Column, TextModel] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)

    def through(self, transformers: Sequence[Any], rest: Any = None) -> Preprocessing | None:
        """Read steps that follow each other, of which the first takes records."""
        first, *others = transformers
        front = self._first(first)
        if front is None and self.form is None and self.of_numbers:
            front = self._of_numbers(first, [*others, rest])
        return None if front is None else steps_through(front, others)

    def _of_numbers(self, first: Any, others: Sequence[Any]) -> Preprocessing | None:
        """Read a step that takes numbers in columns."""
        knows = first if first is not None else next(iter(others), None)
        if not getattr(knows, "n_features_in_", 0) or not _keeps_apart(first):
            return None
        return self._of_all_columns([] if is_idle(first) else [first], knows)

    def _of_all_columns(self, steps: Sequence[Any], knows: Any) -> Preprocessing | None:
        """Read a step, or none, that takes all columns; `knows` was fitted on them."""
        names, n_columns = getattr(knows, "feature_names_in_", None), knows.n_features_in_
        self.form = "array" if names is None else "frame"
        own = list(range(n_columns)) if names is None else names.tolist()
        take = identity if names is None else partial(_taken, columns=own)
        width = _width_of(steps[-1]) if steps else n_columns
        return self._of_cells(steps, own, take, width) if width else None

    def _first(self, step: Any) -> Preprocessing | None:
        """Read a step that takes whole records."""
        name, library = type(step).__name__, type(step).__module__.split(".")[0]
        if name == "ColumnTransformer" and library == "sklearn":
            return self._of_columns(step)
        if name == "DictVectorizer" and library == "sklearn":
            self.form = "dicts"
            return self._add(
                DictSource((), identity, (step,), len(step.vocabulary_), apart=True, dtype=step.dtype)
            )
        if is_vectoriser(step) and reads_items(step):
            self.form, self.kinds[WHOLE] = "lists", "items"
            self.columns.append(WHOLE)
            return self._of_items(step, WHOLE)
        if name == "FeatureUnion" and library == "sklearn":
            return self._of_union(step)
        return self._of_all_columns([step], step) if name in ENCODERS and library == "sklearn" else None

    def _of_union(self, union: Any) -> Preprocessing | None:
        """Read steps side by side, each of which takes whole records."""
        weights, branches = union.transformer_weights or {}, []
        known = True
        for name, member in union.transformer_list:
            if isinstance(member, str) and member == "drop":
                continue
            inner = [step for _, step in flat_steps(member)] if hasattr(member, "steps") else [member]
            first = self._first(inner[0])
            branch = None if first is None else steps_through(first, inner[1:])
            width = _width_of(inner[-1])
            if branch is None or not width:
                known = False
                continue
            branches.append(branch.as_branch(width, weights.get(name, 1)))
        return Preprocessing(branches=tuple(branches)) if known and branches else None

    def _of_columns(self, transformer: Any) -> Preprocessing | None:
        """Read a ColumnTransformer: a branch for each of its members."""
        names = getattr(transformer, "feature_names_in_", None)
        if names is None and not _takes_objects(transformer):
            return None  # rows of numbers, whose zeros are absent
        self.form = "array" if names is None else "frame"
        weights, branches, known = transformer.transformer_weights or {}, [], True
        for name, member, asked, own in _members(transformer, names):
            stretch = transformer.output_indices_[name]
            width = stretch.stop - stretch.start
            branch = self._member(member, own, width, alone=_is_one(asked))
            if branch is None:
                known = False
            elif width:
                branches.append(branch.as_branch(width, weights.get(name, 1)))
        return Preprocessing(branches=tuple(branches)) if known and branches else None

    def _member(self, member: Any, own: list[Column], width: int, *, alone: bool) -> Preprocessing | None:
        """Read what a ColumnTransformer does with some of its columns; `alone`: with one, as a series."""
        steps = [] if is_idle(member) else [member]
        if hasattr(member, "steps"):
            steps = [step for _, step in flat_steps(member)]
        if alone and holds_vectoriser(steps[0] if len(steps) == 1 else member):
            first = steps[0]
            if is_vectoriser(first) and reads_items(first):
                self._note(own[0], "items")
                front = self._of_items(first, own[0])
                return None if front is None else steps_through(front, steps[1:])
            return self._of_text(steps, own[0])
        take = partial(_taken, columns=own[0] if alone else own)
        return self._of_cells(steps, own, take, width)

    def _of_text(self, transformers: Sequence[Any], column: Column) -> Preprocessing | None:
        """Read the vectorisers of one column of texts, and the steps behind them."""
        self._note(column, "text")
        end = 1 + next(at for at, step in enumerate(transformers) if holds_vectoriser(step))
        leaves, n_features = leaves_of(transformers[:end])
        text_model = TextModel(None, tuple(transformers[:end]), None, n_features, tuple(leaves))
        known = self.texts.get(column)
        if known is not None:
            both = (*known.leaves, *leaves)
            self.texts[column] = replace(known, leaves=both)
        else:
            self.texts[column] = text_model
        steps = steps_of_texts(text_model) if leaves else None
        if steps is None:
            return None
        first = len(self.sources)
        self.sources += [TextSource(column, leaf) for leaf in leaves]
        return steps_through(steps.with_sources_from(first), list(transformers[end:]))

    def _of_items(self, vectoriser: Any, column: Column) -> Preprocessing | None:
        """Read a vectoriser that counts the items of lists."""
        if not hasattr(vectoriser, "vocabulary_"):
            return None
        self.sources.append(ItemSource(column, vectoriser, vectoriser.build_analyzer()))
        return of_vectoriser(vectoriser, len(self.sources) - 1)

    def _of_cells(
        self, steps: Sequence[Any], own: list[Column], take: Callable[[Any], Any], width: int
    ) -> Preprocessing | None:
        """Read steps that make numbers of whole cells: first those that keep columns apart, then others."""
        absences = self._absences(steps, own)
        for column in own:
            self._note(column, "category" if column in absences else "number")
        for column, absence in absences.items():
            known = self.absences.get(column, absence)
            self.absences[column] = known if known == absence else None
        n_apart = next((at for at, step in enumerate(steps) if not _keeps_apart(step)), len(steps))
        if n_apart == len(steps):
            cells = [(column, value) for column in own for value in self.categories.get(column, ())]
            ahead = tuple(cells) if len(cells) <= MOST_AHEAD else ()
            return self._add(CellSource(tuple(own), take, tuple(steps), width, apart=True, ahead=ahead))
        before, behind = list(steps[:n_apart]), list(steps[n_apart:])
        n_before = len(own) if not before else _width_of(before[-1])
        front = self._add(CellSource(tuple(own), take, tuple(before), n_before, apart=True))
        followed = steps_through(front, behind) if n_before else None
        if followed is not None:
            return followed
        # A step of own making: what it makes is known where one unit at most may be removed.
        self.sources[-1] = CellSource(tuple(own), take, tuple(steps), width, apart=len(own) == 1)
        return Preprocessing(source=len(self.sources) - 1)

    def _absences(self, steps: Sequence[Any], own: list[Column]) -> dict[Column, Absence | None]:
        """Return what stands for absence in the columns of an encoder behind steps that keep their places."""
        columns: list[Column] = list(own)
        for step in steps:
            absences = absences_of(step)
            if absences is not None:
                if len(absences) != len(columns):
                    return {}
                for column, values in zip(columns, step.categories_, strict=True):
                    self.categories[column] = tuple(
                        value for value in values.tolist() if not is_missing(value)
                    )
                    if values.dtype.kind in "biuf":
                        self.codes.add(column)
                return dict(zip(columns, absences, strict=True))
            if not _keeps_places(step):
                return {}
        return {}

    def _add(self, source: Source) -> Preprocessing:
        self.sources.append(source)
        return Preprocessing(source=len(self.sources) - 1)

    def _note(self, column: Column, kind: Kind) -> None:
        """Note what a column is; where several steps read it, texts come before categories and numbers."""
        self.columns.append(column)
        order = ("text", "items", "category", "number")
        known = self.kinds.get(column, kind)
        self.kinds[column] = min(known, kind, key=order.index)


def _in_order(columns: Sequence[Column], first: Any) -> tuple[Column, ...]:
    """Return columns once each, in the order in which the first step knows them, if it does."""
    known = [*getattr(first, "feature_names_in_", ()), *columns]
    return tuple(column for column in dict.fromkeys(known) if column in set(columns))


def _returns_sparse(step: Any) -> bool:
    """Return whether a fitted step returns sparse rows."""
    for attribute in ("sparse_output_", "sparse_output", "sparse"):
        if hasattr(step, attribute):
            return bool(getattr(step, attribute))
    return bool(is_vectoriser(step))


def _members(transformer: Any, names: Any) -> Iterator[tuple[str, Any, Any, list[Column]]]:
    """Yield the members of a fitted ColumnTransformer that are not dropped: name, step, columns as given."""
    for name, member, asked in transformer.transformers_:
        places = transformer._transformer_to_input_indices[name]
        if (isinstance(member, str) and member == "drop") or not len(places):
            continue
        yield name, member, asked, [place if names is None else names[place] for place in places]


def _is_one(asked: Any) -> bool:
    """Return whether a ColumnTransformer hands on one column as a series, not as a table."""
    return isinstance(asked, str | int | np.integer) and not isinstance(asked, bool)


def _takes_objects(transformer: Any) -> bool:
    """Return whether a ColumnTransformer that was fitted on an array reads texts or categories."""
    for _, member, _ in transformer.transformers_:
        steps = [step for _, step in flat_steps(member)] if hasattr(member, "steps") else [member]
        if any(is_vectoriser(step) or _has_words(step) for step in steps):
            return True
    return False


def _has_words(step: Any) -> bool:
    categories = getattr(step, "categories_", ()) if type(step).__name__ in ENCODERS else ()
    return any(each.dtype.kind in "OUS" for each in categories)


def reads_items(vectoriser: Any) -> bool:
    """Return whether a vectoriser has an analyzer of own making that takes lists of items, not texts.

    Such an analyzer, which often returns what it is given, makes single signs of a text, or fails on it.
    """
    known = getattr(vectoriser, "vocabulary_", {})
    if " " in known and all(len(str(each)) == 1 for each in known):
        return False  # it counts the characters of texts
    own = callable(vectoriser.analyzer) or (
        vectoriser.tokenizer is not None and vectoriser.analyzer == "word"
    )
    if not own:
        return False
    try:
        tokens = vectoriser.build_analyzer()(PROBE[0])
        return isinstance(tokens, str) or len(list(tokens)) >= len(PROBE[0].replace(" ", ""))
    except Exception:
        return True


def _keeps_apart(step: Any) -> bool:
    """Return whether each output of a step depends on one column."""
    if is_idle(step):
        return True
    if not type(step).__module__.startswith("sklearn.") or "transform" in vars(step):
        return False
    name = type(step).__name__
    if name == "OneHotEncoder" or name in COLUMN_BY_COLUMN:
        return True
    return name != "TfidfTransformer" and works_feature_by_feature(step)


def _keeps_places(step: Any) -> bool:
    """Return whether a step makes one column of each, in their order, so that an encoder may follow."""
    if is_idle(step):
        return True
    name = type(step).__name__
    if name == "SimpleImputer":
        n_kept = (
            int(np.sum([not _is_nan(value) for value in step.statistics_]))
            if hasattr(step, "statistics_")
            else 0
        )
        return not step.add_indicator and (step.keep_empty_features or n_kept == len(step.statistics_))
    return name == "FunctionTransformer" and step.func is None


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _width_of(step: Any) -> int:
    """Return how many columns a fitted step makes; 0 if it does not say."""
    try:
        return len(step.get_feature_names_out())
    except Exception:
        return 0


def identity(X: Any) -> Any:
    """Return records as they are."""
    return X


def _taken(X: Any, columns: Any) -> Any:
    """Return some columns of a frame or an array; one column by its name alone is a series."""
    if hasattr(X, "columns"):
        return X[columns]
    return X[:, columns]
