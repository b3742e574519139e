"""The arguments of an Explainer, read and checked."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, get_args

import numpy as np

from butfor._engine.model import EngineModel
from butfor._engine.record_arguments import named_costs, named_groups, record_reader
from butfor._engine.settings import name_of
from butfor._readers import Reader, RecordReader, RowReader, TextReader
from butfor._readers.costs import costs_of_columns, costs_of_groups, costs_of_words
from butfor._readers.groups import as_groups
from butfor._readers.names import Names
from butfor.errors import InputError, UnknownNameWarning, nearest
from butfor.models import (
    AdaptedModel,
    Calls,
    RecordModel,
    Scorer,
    TextModel,
    as_rest,
    as_scorer,
    called_by,
    encoded,
    split_record_model,
    split_text_model,
    tokens_of,
)
from butfor.models.records import native_record_model
from butfor.models.text import require_unit
from butfor.rankings import RANKINGS, Ranking
from butfor.results.explanation import Removal
from butfor.searches import SEARCHES, Search

REMOVALS = get_args(Removal)


def as_engine_model(
    model: Any,
    *,
    class_names: Sequence[str] | None,
    threshold: float | None,
    label: Any,
    target: Any,
    removal: str | None,
    unit: str | None,
    mask_token: str | None,
    encoder: Any = None,
    kinds: Any = None,
    absent: Any = None,
    reference: Any = None,
    varies: bool = False,
    calls: Calls | None = None,
    **others: Any,
) -> tuple[EngineModel, Reader]:
    """Return the model as an engine uses it, and the reader of its rows."""
    if removal is not None and removal not in REMOVALS:
        raise InputError(f"removal must be one of {', '.join(REMOVALS)}, got {removal!r}.")
    if unit is not None and unit != "column":
        require_unit(unit)
    if not (mask_token is None or isinstance(mask_token, str)):
        raise InputError(f"mask_token must be a string, such as '[MASK]', got {mask_token!r}.")
    if encoder is not None:
        model = encoded(model, encoder)
    classes = () if class_names is None else tuple(class_names)
    scorer = as_scorer(model, threshold, classes=classes, label=label)
    own = scorer.model if isinstance(scorer.model, AdaptedModel) else None
    if varies:
        scorer = replace(scorer, varies=True, predict=None)
    if calls is not None and not isinstance(calls, Calls):
        raise InputError(f"calls must be a Calls, such as Calls(batch_size=32), got {calls!r}.")
    scorer = called_by(scorer, calls)
    names = names_of_classes(class_names, scorer, label)
    scorer = replace(scorer, target=target_of(target, scorer, names))
    reads_texts = encoder is not None or (own is not None and own.takes_texts)
    mask_token = _mask_of(own, removal, mask_token)
    about_texts = dict[str, Any](removal=removal, unit=unit, mask_token=mask_token)
    about_records = dict[str, Any](kinds=kinds, absent=absent, reference=reference)
    told = [argument for argument, value in about_records.items() if value is not None]
    known = None if reads_texts else split_record_model(scorer.model)
    if known is None and told:
        known = _told_to_be_records(scorer)
    if known is not None:
        return _of_records(scorer, names, known, about_texts | about_records, others)
    text_model = split_text_model(scorer.model)
    if text_model is None and reads_texts and removal == "zero":
        raise InputError(
            f'removal must be "delete" or "mask" for {scorer.name}, which reads the text itself, got "zero".'
        )
    if text_model is None and not reads_texts and removal in (None, "zero"):
        if unit is not None:
            raise InputError(
                f"unit must not be given for rows of numbers, got {unit!r}. For a model that reads texts add "
                'removal="delete" or removal="mask".'
            )
        rows = _rows(scorer, **others)
        besides = _records_besides(scorer, others)
        known = None if besides is None else besides.model
        return EngineModel(scorer, None, names, record_model=known), replace(rows, records=besides)
    if unit == "column":
        raise InputError('unit must not be "column" for a model that reads texts: it has no columns.')
    tokens = tokens_of(encoder) if own is None else own.tokens
    texts = _texts(text_model, tokens, removal or "delete", unit or "word", mask_token, **others)
    if text_model is None or texts.reads_again:
        return EngineModel(scorer, scorer, names, text_model, texts.reads_again), texts
    rest = replace(as_rest(scorer, text_model.rest), target=scorer.target)
    return EngineModel(rest, scorer, names, text_model), texts


def _of_records(
    scorer: Scorer,
    names: tuple[str, ...],
    known: RecordModel,
    about: dict[str, Any],
    others: dict[str, Any],
) -> tuple[EngineModel, Reader]:
    """Return the engine's model and the reader of a model that takes records."""
    reader = record_reader(known, **about, **others)
    own = None
    if known.model is not scorer.model:
        own, scorer = scorer, replace(as_rest(scorer, known.model), target=scorer.target)
    return EngineModel(scorer, None, names, None, True, record_model=known, record_scorer=own), reader


def _told_to_be_records(scorer: Scorer) -> RecordModel:
    """Return what is known of a model that does not ask for records, where the user speaks of columns."""
    native = replace(native_record_model(scorer.model), columns=scorer.feature_names)
    if native.steps is not None:
        return native
    return split_record_model(scorer.model, of_numbers=True) or native


def _records_besides(scorer: Scorer, others: dict[str, Any]) -> RecordReader | None:
    """Return the reader of rows that no matrix can hold, for a model that does not ask for them."""
    groups, costs = others["groups"], others["costs"]
    if not all(each is None or isinstance(each, Mapping) or callable(each) for each in (groups, costs)):
        return None  # they go by the number of a column
    model = replace(native_record_model(scorer.model), columns=scorer.feature_names)
    return RecordReader(
        model,
        protected=frozenset(str(name).casefold() for name in others["protected"]),
        groups=named_groups(groups, None, model),
        costs=named_costs(costs),
    )


def _rows(
    scorer: Scorer,
    *,
    feature_names: Sequence[str] | None,
    protected: Collection[Any],
    groups: Any,
    costs: Any,
) -> RowReader:
    known = _names(feature_names, scorer)
    n_features = len(known) if scorer.n_features is None and known is not None else scorer.n_features
    names = Names(known, n_features)
    read_groups = as_groups(groups, names)
    read_costs = (
        costs_of_columns(costs, names) if read_groups is None else costs_of_groups(costs, read_groups)
    )
    fitted = scorer.feature_names or known
    reader = RowReader(
        names,
        fitted,
        groups=read_groups,
        costs=read_costs,
        takes_missing=scorer.takes_missing,
        as_matrix=scorer.model.rows if isinstance(scorer.model, AdaptedModel) else None,
    )
    return reader.protecting(protected)


def _mask_of(model: AdaptedModel | None, removal: str | None, mask_token: str | None) -> str:
    """Return what takes the place of a masked word: what the user says, or the model's own token."""
    if mask_token is not None:
        return mask_token
    if model is None or not model.takes_texts or removal != "mask":
        return "[MASK]"
    if model.mask_token is None:
        raise InputError(
            f'mask_token must be given with removal="mask", as {model.name} has no mask of its own. Or pass '
            'removal="delete".'
        )
    return model.mask_token


def _texts(
    model: TextModel | None,
    tokens: Any,
    removal: Any,
    unit: Any,
    mask_token: str,
    *,
    feature_names: Sequence[str] | None,
    protected: Collection[Any],
    groups: Any,
    costs: Any,
) -> TextReader:
    for argument, value in (("feature_names", feature_names), ("groups", groups)):
        if value is not None:
            raise InputError(
                f"{argument} must not be given for a model that reads texts: words are its units."
            )
    columns = Names(None if model is None else model.feature_names, None)
    reader = TextReader(model, removal, unit, mask_token, columns, costs=costs_of_words(costs), tokens=tokens)
    for argument, words in (("protected", protected), ("costs", costs or {})):
        _warn_of_unknown_words(argument, words, model)
    return reader.protecting(protected)


def _warn_of_unknown_words(argument: str, words: Collection[Any], model: TextModel | None) -> None:
    """Warn of words that the model does not know: they may be typing errors."""
    if model is None or model.feature_names is None or isinstance(words, str):
        return
    unknown = model.unknown([str(word) for word in words])
    if unknown:
        listed = "; ".join(f"{word!r}{nearest(word.casefold(), model.words)}" for word in unknown[:5])
        more = f"; and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        warnings.warn(
            f"{argument} names what the model does not know: {listed}{more}.",
            UnknownNameWarning,
            stacklevel=6,
        )


def names_of_classes(class_names: Sequence[str] | None, scorer: Scorer, label: Any) -> tuple[str, ...]:
    """Return the names of the classes: the user's, or the model's own; for a label, "not x" and "x"."""
    if class_names is None and label is not None and scorer.classes == (0, 1):
        name = f"label {label}" if str(label).isdigit() else str(label)
        return f"not {name}", name
    if class_names is None:
        return tuple(map(str, scorer.classes))
    if isinstance(class_names, str):
        raise InputError(f"class_names must be a sequence of names, got the string {class_names!r}.")
    names = tuple(map(str, class_names))
    n_classes = len(scorer.classes) or 2
    if len(names) != n_classes:
        raise InputError(
            f"class_names must have {n_classes} names, in the order of the model's classes, got {len(names)}."
        )
    return names


def target_of(target: Any, scorer: Scorer, names: tuple[str, ...]) -> int | None:
    """Return the index of the class to which a decision must flip, by its label or its name."""
    if target is None:
        return None
    if not np.isscalar(target):
        raise InputError(f"target must be a class, got {target!r}.")
    for known in (scorer.classes, names):
        for index, label in enumerate(known):
            if label == target:
                return index
    listed = ", ".join(map(repr, names)) or "none, as the model does not name them: give class_names"
    raise InputError(f"target must be one of the classes ({listed}), got {target!r}.")


def _names(feature_names: Sequence[str] | None, scorer: Scorer) -> tuple[str, ...] | None:
    if feature_names is None:
        return scorer.feature_names
    if isinstance(feature_names, str):
        raise InputError(f"feature_names must be a sequence of names, got the string {feature_names!r}.")
    names = tuple(map(str, feature_names))
    if scorer.n_features is not None and len(names) != scorer.n_features:
        raise InputError(
            f"feature_names must have {scorer.n_features:,} names, one for each feature that the model was "
            f"fitted on, got {len(names):,}."
        )
    return names


def as_ranking(by: str | Ranking, parameters: dict[str, Any]) -> Ranking:
    """Return the ranking of this name, with its parameters set."""
    ranking = RANKINGS.get(by) if isinstance(by, str) else by
    if isinstance(ranking, type) or not callable(ranking):
        raise InputError(f"by must be one of {', '.join(RANKINGS)}, or a callable, got {by!r}.")
    if not parameters:
        return ranking
    own = [name for name in signature(ranking).parameters if name not in ("local", "seed")]
    for name in parameters:
        if name not in own:
            takes = ", ".join(own) or "none"
            raise InputError(f"parameters of by={by!r} must be among its own ({takes}), got {name!r}.")
    return partial(ranking, **parameters)


def as_search(search: str | Search, *, costs: bool) -> Search:
    """Return the search of this name, or the search itself; with costs it must be able to use them."""
    if isinstance(search, str):
        if search not in SEARCHES:
            raise InputError(f"search must be one of {', '.join(SEARCHES)}, or a callable, got {search!r}.")
        search = SEARCHES[search]
    if isinstance(search, type) or not callable(search):
        raise InputError(
            f"search must be a name or a search object such as SEDC(max_iterations=500), got {search!r}."
        )
    if costs and not getattr(search, "minimises_cost", False):
        able = " or ".join(name for name, each in SEARCHES.items() if hasattr(each, "minimises_cost"))
        raise InputError(
            f"search must be {able} where costs are given, or a callable that reads local.costs and has the "
            f"attribute minimises_cost = True, got {name_of(search)!r}."
        )
    return search
