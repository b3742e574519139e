"""Columns of records: which a table must have, and how a cell of each becomes a value."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from butfor._extras import install_line
from butfor._files.inputs.arrow_types import holds_texts, is_list, is_number
from butfor._files.inputs.base import ModelNeeds, RecordNeeds
from butfor._files.inputs.columns import WELL_KNOWN
from butfor._files.inputs.text_column import reads_as_number
from butfor._files.opening import is_utf8
from butfor.errors import InputError, abridged, name_differences

BOOLEANS = {"true": True, "false": False}
EXPECTED = {
    "text": "a text",
    "category": "a category, which is a string",
    "code": "a category, which is a number",
    "number": "a number",
    "items": 'a list of items, as JSON: ["a", "b"]',
}
"""What a cell of a column must be, by the kind of the column."""

Columns = tuple[tuple[str, str | None], ...]
"""The columns that are read, by name, and what they hold; None where the model does not tell."""


def record_needs(needs: ModelNeeds) -> RecordNeeds:
    """Return what a model of records needs."""
    assert needs.records is not None
    return needs.records


def columns_of_table(
    path: str, names: Sequence[str], id: str | None, needs: RecordNeeds, only: str | None
) -> Columns:
    """Return the columns that are read: those of the model, or all but that of ids.

    A model that takes lists of items reads one column; `only` names it where there are several.
    """
    if needs.form == "lists":
        return ((_column_of_items(names, id, only), "items"),)
    if needs.columns is None:
        return tuple((name, None) for name in names if name != id)
    wanted = [name for name, _ in needs.columns]
    if not set(wanted) <= set(names):
        there = [name for name in names if name in set(wanted)]
        raise InputError(
            f"DATA must have the columns that the model reads, {len(wanted):,} by name, got {path}, which "
            f"{name_differences(there, wanted)}."
        )
    return needs.columns


def _column_of_items(names: Sequence[str], id: str | None, only: str | None) -> str:
    if only is not None:
        if only not in names:
            raise InputError(
                f"--feature-column must name a column of DATA ({', '.join(names)}), got {only!r}."
            )
        return only
    left = [name for name in names if name != id]
    known = [name for name in left if name.lower() in WELL_KNOWN["feature"]]
    for some in (known, left):
        if len(some) == 1:
            return some[0]
    raise InputError(
        "--feature-column must name the column that holds the lists of items, got no name where DATA has "
        f"{', '.join(map(repr, left)) or 'none'}."
    )


def besides_ids(needs: RecordNeeds) -> Sequence[str]:
    """Return the columns that hold no ids, whatever their names are."""
    return [name for name, _ in needs.columns or ()]


def value_of_cell(cell: str, kind: str | None, name: str) -> Any:
    """Return the value of a cell of a CSV file; an empty one is missing, but for texts and lists.

    >>> value_of_cell("40", "number", "age"), value_of_cell("", "category", "plan")
    (40, None)
    """
    if not is_utf8(cell):
        raise InputError(f"the row must have UTF-8 text in the column {name!r}, got other bytes.")
    if kind == "text":
        return cell
    if kind == "items":
        return _list_of(cell, name)
    if not cell:
        return None
    if kind == "category":
        return cell
    if cell.lower() in BOOLEANS and kind is not None:
        return BOOLEANS[cell.lower()]
    if reads_as_number(cell):
        number = float(cell)
        is_whole = number.is_integer() and abs(number) < 2**53 and "." not in cell
        return int(number) if is_whole else number
    if kind is None:
        return cell
    raise _unfit(cell, kind, name)


def _list_of(cell: str, name: str) -> list[Any]:
    try:
        items = json.loads(cell) if cell else []
    except ValueError as error:
        raise _unfit(cell, "items", name) from error
    if not isinstance(items, list | dict):
        raise _unfit(cell, "items", name)
    return items if isinstance(items, list) else list(items)


def checked_value(value: Any, kind: str | None, name: str) -> Any:
    """Return a value of a JSON object, if it is what the column holds."""
    fits: Mapping[str | None, Any] = {
        "text": str,
        "category": str,
        "code": int | float | bool,
        "number": int | float | bool,
        "items": list | dict,
    }
    if value is None and kind == "items":
        return []
    if value is None or kind is None or isinstance(value, fits[kind]):
        return value
    raise _unfit(value, kind, name)


def _unfit(value: Any, kind: str, name: str) -> InputError:
    shown = abridged(repr(value), at_most=40)
    return InputError(f"the row must have {EXPECTED[kind]} in the column {name!r}, got {shown}.")


def require_types(path: str, schema: Any, columns: Columns) -> None:
    """Raise where a column of a Parquet file has not the type that the model needs."""
    fits = {
        "text": holds_texts,
        "category": holds_texts,
        "code": is_number,
        "number": is_number,
        "items": is_list,
    }
    for name, kind in columns:
        own = schema.field(name).type
        if kind is not None and not fits[kind](own) and str(own) != "null":
            raise InputError(
                f"DATA must hold {EXPECTED[kind]} in the column {name!r}, as the model reads it, got {path} "
                f"with {own}. Cast it."
            )


def as_table(content: Sequence[Mapping[str, Any] | None], columns: Columns, form: str) -> Any:
    """Return records in the form that the model takes; one that could not be read is empty."""
    names = [name for name, _ in columns]
    if form == "lists":
        return [[] if record is None else list(record[names[0]] or []) for record in content]
    if form == "dicts":
        return [
            {name: value for name, value in (record or {}).items() if value is not None} for record in content
        ]
    empty: dict[str, Any] = {
        name: "" if kind == "text" else [] if kind == "items" else None for name, kind in columns
    }
    rows = [empty if record is None else record for record in content]
    return frame_of({name: [row.get(name) for row in rows] for name in names}, dict(columns))


def frame_of(values: dict[str, list[Any]], kinds: Mapping[str, str | None]) -> Any:
    """Return a frame of columns: of pandas if it is installed, else of polars; numbers are never objects."""
    numbers = {name for name, kind in kinds.items() if kind in ("number", "code")}
    try:
        import pandas as pd

        dtypes = {name: "float64" for name in numbers if None in values[name]}
        for name, own in values.items():
            if kinds[name] in ("category", None):  # as pandas reads a file: what is missing is NaN
                values[name] = [math.nan if value is None else value for value in own]
                dtypes |= {name: "object"} if kinds[name] == "category" else {}
        return pd.DataFrame({name: pd.Series(own, dtype=dtypes.get(name)) for name, own in values.items()})
    except ModuleNotFoundError:
        pass
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise InputError(
            f"the model takes a frame, which needs pandas or polars: {install_line('frame')}"
        ) from error
    return pl.DataFrame({name: pl.Series(name, own, strict=False) for name, own in values.items()})
