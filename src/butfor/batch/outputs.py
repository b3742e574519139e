"""Outcomes as a table: the columns of every part, whoever writes it."""

from collections.abc import Callable, Sequence
from typing import Any

from butfor import ButforError, Explanation
from butfor.batch.inputs.base import IdType
from butfor.errors import storable
from butfor.render.extras import optional

Outcome = Explanation | ButforError | str | None
"""What became of a row: its explanation, what went wrong with it, or None where it is left out."""


_FIELDS: dict[str, tuple[str, Callable[[Explanation], Any]]] = {
    "features": ("list<string>", lambda why: why.features),
    "columns": ("list<int32>", lambda why: why.columns),
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
    "max_size": ("int64", lambda why: why.max_size),
    "n_scored": ("int64", lambda why: why.n_scored),
    "seconds": ("float64", lambda why: why.seconds),
    "reason": ("string", lambda why: why.reason),
}
"""What is said of an explained row; all of it is null where the row has an error."""


def schema(id_type: IdType) -> Any:
    """Give the Arrow schema of a part.

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
    """Make an Arrow table of outcomes: a line for each row but those that are left out.

    >>> table([7, 8], ["the row must be finite.", None], "int").to_pylist()[0]["error"]
    'the row must be finite.'
    """
    pa = arrow()
    kept = [(each, outcome) for each, outcome in zip(ids, outcomes, strict=True) if outcome is not None]
    whys = [outcome if isinstance(outcome, Explanation) else None for _, outcome in kept]
    values: dict[str, list[Any]] = {
        "id": [each for each, _ in kept],
        "status": ["error" if why is None else why.status for why in whys],
        "error": [
            None if isinstance(outcome, Explanation) else storable(str(outcome)) for _, outcome in kept
        ],
    }
    for name, (_, value) in _FIELDS.items():
        values[name] = [None if why is None else value(why) for why in whys]
    return pa.table(
        [_array(pa, values[field.name], field.type) for field in schema(id_type)], schema(id_type)
    )


def arrow() -> Any:
    """Give what makes tables and Parquet of them, or say how to get it."""
    return optional("pyarrow", extra="batch")


def _type(pa: Any, kind: str) -> Any:
    if kind.startswith("list<"):
        return pa.list_(_type(pa, kind[5:-1]))
    return pa.type_for_alias(kind)


def _array(pa: Any, values: list[Any], kind: Any) -> Any:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # a name or a text that holds half a character
        return pa.array([_mended(value) for value in values], kind)


def _mended(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_mended, value))
    return storable(value) if isinstance(value, str) else value
