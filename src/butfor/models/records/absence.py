"""What stands in a cell once its value is removed: an unknown category, nothing, or a value."""

import math
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.models.records.record_table import GONE, is_missing

UNKNOWN = "(unknown)"
"""A category that no encoder knows; signs are added to it until that is so."""


@dataclass(frozen=True)
class Absence:
    """What stands in a cell in the place of a removed value."""

    value: Any
    in_words: str
    """"unknown", "missing", or the value."""


MISSING, MISSING_NUMBER = Absence(None, "missing"), Absence(math.nan, "missing")
LEFT_OUT = Absence(GONE, "left out")


def as_absence(value: Any) -> Absence:
    """Return a value that the user says stands for absence.

    >>> as_absence(40).in_words, as_absence("AT").in_words, as_absence(None).in_words
    ('40', '"AT"', 'missing')
    """
    if is_missing(value):
        return MISSING if value is None else MISSING_NUMBER
    return Absence(value, shown_value(value))


def is_same(value: Any, absent: Any) -> bool:
    """Return whether a cell holds already what stands for absence.

    >>> is_same(0, 0.0), is_same("AT", "AT"), is_same(False, "no")
    (True, True, False)
    """
    numbers = isinstance(value, int | float) and isinstance(absent, int | float)
    return bool((numbers or type(value) is type(absent)) and value == absent)


def shown_value(value: Any) -> str:
    """Return a value of a cell as names of units show it.

    >>> shown_value("US"), shown_value(40.0), shown_value(True)
    ('"US"', '40', 'True')
    """
    if isinstance(value, str):
        return f'"{value}"'
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{int(number)}" if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"


def absences_of(encoder: Any) -> list[Absence | None] | None:
    """Return, for each column of an encoder of categories, what stands for absence; None for other steps.

    Of a column: None where the encoder has nothing that stands for it, so that its category must stay. Where
    it has learned what a missing category means, absence is a missing one. Otherwise it is an unknown one,
    but not where the encoder has dropped a category: there unknown would be that category.
    """
    name = type(encoder).__name__
    if name not in ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"):
        return None
    return [_of_column(encoder, name, number) for number in range(len(encoder.categories_))]


def _of_column(encoder: Any, name: str, number: int) -> Absence | None:
    categories = encoder.categories_[number]
    missing = [value for value in categories.tolist() if is_missing(value)]
    if missing:
        return MISSING if missing[0] is None else MISSING_NUMBER
    if name == "OneHotEncoder":
        dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[number]
        if dropped is not None:
            value = categories[dropped]
            value = value.item() if isinstance(value, np.generic) else value
            return Absence(value, shown_value(value))
    if name == "OrdinalEncoder" and encoder.handle_unknown == "error":
        return None
    return unknown_to(categories)


def unknown_to(categories: Any) -> Absence | None:
    """Return a value that is none of these categories; None where there is none of their type."""
    known = set(categories.tolist())
    if categories.dtype.kind == "b":
        return None
    if categories.dtype.kind in "iuf":
        value = math.floor(max(map(float, known))) + 1
        return Absence(value if categories.dtype.kind != "f" else float(value), "unknown")
    if not all(isinstance(value, str) for value in known):
        return None
    unknown = UNKNOWN
    while unknown in known:
        unknown += "?"
    return Absence(unknown, "unknown")


def relaxed(model: Any) -> Any:
    """Return a fitted model in which encoders take unknown categories for none, where they would raise.

    The model itself is returned where there is nothing to relax. What both return for known categories is the
    same. Only what holds an encoder that raises is copied, and nothing is fitted.
    """
    name, module = type(model).__name__, type(model).__module__
    if not module.startswith("sklearn."):
        return model
    if name == "OneHotEncoder" and model.handle_unknown == "error":
        return _with(model, handle_unknown="ignore")
    if name == "Pipeline":
        return _with_steps(model, "steps")
    if name == "FeatureUnion":
        return _with_steps(model, "transformer_list")
    if name == "ColumnTransformer":
        inner = [(key, _inside(step), columns) for key, step, columns in model.transformers_]
        changed = any(
            new is not old for (_, new, _), (_, old, _) in zip(inner, model.transformers_, strict=True)
        )
        return _with(model, transformers_=inner) if changed else model
    for attribute in ("best_estimator_", "estimator_"):
        if hasattr(model, attribute) and attribute in vars(model):
            inside = relaxed(getattr(model, attribute))
            return model if inside is getattr(model, attribute) else _with(model, **{attribute: inside})
    return model


def _with_steps(model: Any, attribute: str) -> Any:
    steps = getattr(model, attribute)
    inner = [(name, _inside(step)) for name, step in steps]
    if all(new is old for (_, new), (_, old) in zip(inner, steps, strict=True)):
        return model
    return _with(model, **{attribute: inner})


def _inside(step: Any) -> Any:
    return step if isinstance(step, str) or step is None else relaxed(step)


def _with(model: Any, **attributes: Any) -> Any:
    other = copy(model)
    for name, value in attributes.items():
        setattr(other, name, value)
    return other
