"""Outcomes as an Arrow table: the columns of every part."""

from collections.abc import Callable, Sequence
from typing import Any

from butfor import ButforError, Explanation
from butfor._extras import optional
from butfor._files.inputs.base import IdType
from butfor.errors import storable

Outcome = Explanation | ButforError | str | None
"""The outcome of a row: its explanation, its error, or None for a row that is left out."""


_FIELDS: dict[str, tuple[str, Callable[[Explanation], Any]]] = {
    "features": ("list<string>", lambda why: why.features),
    "columns": ("list<int32>", lambda why: why.columns),
    "instead": ("list<string>", lambda why: why.instead),
    "size": ("int32", lambda why: len(why.features)),
    "lower_bound": ("float64", lambda why: why.lower_bound),
    "proven": ("bool", lambda why: why.proven_minimum),
    "cost": ("float64", lambda why: why.cost),
    "score": ("float64", lambda why: why.score),
    "score_without": ("float64", lambda why: why.score_without),
    "threshold": ("float64", lambda why: why.threshold),
    "decision": ("string", lambda why: why.decision),
    "decision_without": ("string", lambda why: why.decision_without),
    "survives_deletion": ("bool", lambda why: why.survives_deletion),
    "n_active": ("int32", lambda why: why.n_active),
    "n_protected": ("int32", lambda why: why.n_protected),
    "n_unread": ("int32", lambda why: why.n_unread),
    "max_size": ("int64", lambda why: why.max_size),
    "n_scored": ("int64", lambda why: why.n_scored),
    "n_asked": ("int64", lambda why: why.n_asked),
    "spent": ("float64", lambda why: why.spent),
    "confidence": ("float64", lambda why: why.confidence),
    "seconds": ("float64", lambda why: why.seconds),
    "reason": ("string", lambda why: why.reason),
}
"""The columns of an explained row, with their types. All are null for a row with an error."""


def schema(id_type: IdType) -> Any:
    """Return the Arrow schema of a part.

    >>> schema("int").names[:4]
    ['id', 'status', 'features', 'columns']
    """
    pa = arrow()
    return pa.schema(
        [
            ("id", pa.int64() if id_type == "int" else pa.string()),
            ("status", pa.string()),
            *((name, _type(pa, kind)) for name, (kind, _) in _FIELDS.items()),
            ("error", pa.string()),
        ]
    )


def table(ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType) -> Any:
    """Return an Arrow table of outcomes, with a record for each row that is not left out.

    >>> table([7, 8], ["the row must be finite.", None], "int").to_pylist()[0]["error"]
    'the row must be finite.'
    """
    pa = arrow()
    written = [(each, outcome) for each, outcome in zip(ids, outcomes, strict=True) if outcome is not None]
    whys = [outcome if isinstance(outcome, Explanation) else None for _, outcome in written]
    values: dict[str, list[Any]] = {
        "id": [each for each, _ in written],
        "status": ["error" if why is None else why.status for why in whys],
        "error": [
            None if isinstance(outcome, Explanation) else storable(str(outcome)) for _, outcome in written
        ],
    }
    for name, (_, value) in _FIELDS.items():
        values[name] = [None if why is None else value(why) for why in whys]
    return pa.table(
        [_array(pa, values[field.name], field.type) for field in schema(id_type)], schema(id_type)
    )


def arrow() -> Any:
    """Return pyarrow, or raise an InputError that says how to install it."""
    return optional("pyarrow", extra="batch")


def _type(pa: Any, kind: str) -> Any:
    if kind.startswith("list<"):
        return pa.list_(_type(pa, kind[5:-1]))
    return pa.type_for_alias(kind)


def _array(pa: Any, values: list[Any], kind: Any) -> Any:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # a name or a text with a lone surrogate
        return pa.array([_mended(value) for value in values], kind)


def _mended(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_mended, value))
    return storable(value) if isinstance(value, str) else value
