"""Outcomes as an Arrow table: the columns of every part."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from butfor import ButforError, Explanation, Outcomes
from butfor._extras import optional
from butfor._files.inputs.base import IdType
from butfor.errors import storable
from butfor.results.columns import Coded, Column, Columns, Lists, Same, objects

Outcome = Explanation | ButforError | str | None
"""The outcome of a row: its explanation, its error, or None for a row that is left out."""


_FIELDS = {
    "features": "list<string>",
    "columns": "list<int32>",
    "instead": "list<string>",
    "size": "int32",
    "lower_bound": "float64",
    "proven": "bool",
    "cost": "float64",
    "score": "float64",
    "score_without": "float64",
    "threshold": "float64",
    "decision": "string",
    "decision_without": "string",
    "survives_deletion": "bool",
    "n_active": "int32",
    "n_protected": "int32",
    "n_unread": "int32",
    "max_size": "int64",
    "n_scored": "int64",
    "n_asked": "int64",
    "spent": "float64",
    "confidence": "float64",
    "seconds": "float64",
    "reason": "string",
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
            *((name, _type(pa, kind)) for name, kind in _FIELDS.items()),
            ("error", pa.string()),
        ]
    )


def table(ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType) -> Any:
    """Return an Arrow table of outcomes, with a record for each row that is not left out.

    >>> table([7, 8], ["the row must be finite.", None], "int").to_pylist()[0]["error"]
    'the row must be finite.'
    """
    in_columns = outcomes.columns if isinstance(outcomes, Outcomes) else ()
    others = outcomes.others if isinstance(outcomes, Outcomes) else dict(enumerate(outcomes))
    made = {row: each for row, each in others.items() if isinstance(each, Explanation)}
    failed = {row: each for row, each in others.items() if not isinstance(each, Explanation | None)}
    pieces = [(rows.tolist(), _of_explanations(some)) for rows, some in in_columns]
    if made:
        pieces.append((list(made), _of_explanations(Columns.of(list(made.values())))))
    if failed or not pieces:
        pieces.append((list(failed), _of_errors(failed.values())))
    return _in_order(ids, pieces, schema(id_type))


def _of_explanations(columns: Columns) -> dict[str, Column]:
    """Return the columns of explained rows."""
    derived = {"size": columns.sizes, "proven": columns.proven}
    return {name: derived[name] if name in derived else columns[name] for name in ("status", *_FIELDS)}


def _of_errors(errors: Iterable[Any]) -> dict[str, Column]:
    """Return the columns of rows with an error."""
    texts = objects([str(error) for error in errors])
    return {"status": Same("error", len(texts)), "error": texts}


def _in_order(
    ids: Sequence[Any], pieces: Sequence[tuple[list[int], Mapping[str, Column]]], fields: Any
) -> Any:
    """Return the Arrow table of some rows and some others, in the order of their numbers."""
    pa = arrow()
    tables = []
    for rows, columns in pieces:
        known = {"id": objects([ids[row] for row in rows]), **columns}
        missing = Same(None, len(rows))
        tables.append(
            pa.table([_array(pa, known.get(each.name, missing), each.type) for each in fields], fields)
        )
    numbers = np.array([row for rows, _ in pieces for row in rows], dtype=np.intp)
    records = pa.concat_tables(tables)
    return records if (numbers[1:] > numbers[:-1]).all() else records.take(np.argsort(numbers))


def arrow() -> Any:
    """Return pyarrow, or raise an InputError that says how to install it."""
    return optional("pyarrow", extra="batch")


def _type(pa: Any, kind: str) -> Any:
    if kind.startswith("list<"):
        return pa.list_(_type(pa, kind[5:-1]))
    return pa.type_for_alias(kind)


def _array(pa: Any, column: Column, kind: Any) -> Any:
    """Return a column as an Arrow array."""
    if isinstance(column, Same):
        return pa.repeat(_plain(pa, [column.value], kind)[0], len(column))
    if isinstance(column, Coded):
        places, names = column.used()
        return _plain(pa, names, kind).take(pa.array(places))
    if isinstance(column, Lists):
        packed = column.packed()
        offsets = pa.array(np.concatenate([[0], packed.ends]), pa.int32())
        return pa.ListArray.from_arrays(offsets, _array(pa, packed.values, kind.value_type), type=kind)
    return _plain(pa, column.tolist(), kind) if column.dtype == object else pa.array(column, kind)


def _plain(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # a name or a text with a lone surrogate
        return pa.array([_mended(value) for value in values], kind)


def _mended(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_mended, value))
    return storable(value) if isinstance(value, str) else value
