"""The parts of a cell: the words of a text, the items of a list, or the value as a whole."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from butfor.errors import InputError
from butfor.models.records import (
    Absence,
    Column,
    Kind,
    RecordCell,
    is_list,
    is_missing,
    is_same,
    items_of,
    shown_value,
)
from butfor.models.text import CutText, Span, TextModel, units_of_text

BETWEEN = ", "
"""Stands between items."""


class CellPart(NamedTuple):
    """What may be removed of a cell at a time."""

    name: str
    """Its name in the record: 'refund' in subject, visited: shop.example, country = "US"."""
    marks: tuple[Span, ...]
    """Its places in the cell as it is shown."""
    item: Any = None
    """The item, of a list."""


class CellParts(NamedTuple):
    """A cell as it is shown, and its parts."""

    shown: str
    parts: Sequence[CellPart]


def parts_of(
    column: str, kind: Kind, value: Any, absence: Absence | None, texts: TextModel | None, unit: str
) -> CellParts:
    """Return the parts of a cell; none if it is missing or absent, or nothing stands for its absence."""
    shown = shown_cell(value)
    if is_missing(value):
        return CellParts(shown, ())
    if kind == "text":
        return _words(column, value, texts, unit)
    if kind == "items":
        return CellParts(shown, _items(column, value))
    if absence is None or is_same(value, absence.value):
        return CellParts(shown, ())
    return CellParts(shown, [CellPart(part_name(column, kind, value), ((0, len(shown)),))])


def part_name(column: str, kind: Kind, part: Any) -> str:
    """Return the name of a part of a record.

    >>> part_name("subject", "text", "refund"), part_name("visited", "items", "shop.example")
    ("'refund' in subject", 'visited: shop.example')
    >>> part_name("country", "category", "US"), part_name("age", "number", 40)
    ('country = "US"', 'age = 40')
    """
    if kind == "text":
        return f"'{part}' in {column}"
    if kind == "items":
        return f"{column}: {part}" if column else str(part)
    return f"{column} = {shown_value(part)}"


def shown_cell(value: Any) -> str:
    """Return a cell as it is shown.

    >>> shown_cell("US"), shown_cell(["a", "b"]), shown_cell({"a": 2}), shown_cell(None)
    ('US', 'a, b', 'a × 2', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and value == value:
        return shown_value(value)
    if is_list(value):
        return BETWEEN.join(_shown_items(value))
    return "" if is_missing(value) else shown_value(value)


def _shown_items(value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        return list(map(str, items_of(value)))
    return [str(item) if count == 1 else f"{item} × {shown_value(count)}" for item, count in value.items()]


def _words(column: str, value: Any, texts: TextModel | None, unit: str) -> CellParts:
    if not isinstance(value, str):
        return CellParts(str(value), ())
    units = units_of_text(value, unit) if texts is None else texts.units(value, unit, active_only=False)
    for name, spans in zip(units.names, units.spans, strict=True):
        if not spans:
            raise InputError(
                f"words must have places to be cut out: where {name!r} stands in the column {column!r} "
                "cannot be told, as the tokenizer changes its words too much. Take the column as a whole, "
                f"with absent={{{column!r}: ''}}."
            )
    named = zip(units.names, units.spans, strict=True)
    return CellParts(value, [CellPart(part_name(column, "text", name), spans) for name, spans in named])


def _items(column: str, value: Any) -> list[CellPart]:
    parts, end = [], 0
    for item, written in zip(items_of(value), _shown_items(value), strict=True):
        parts.append(CellPart(part_name(column, "items", item), ((end, end + len(written)),), item))
        end += len(written) + len(BETWEEN)
    return parts


def cell_of(
    column: Column,
    kind: Kind,
    value: Any,
    absence: Absence | None,
    parts: Sequence[tuple[int, CellPart]],
    mask: str | None,
) -> RecordCell:
    """Return a cell, of which parts belong to units."""
    numbers = np.array([unit for unit, _ in parts], dtype=np.intp)
    if kind == "items":
        return RecordCell(column, kind, value, numbers, items=tuple(part.item for _, part in parts))
    if kind != "text":
        return RecordCell(column, kind, value, numbers, absence)
    places: dict[int, list[Span]] = {}
    for unit, part in parts:
        places.setdefault(unit, []).extend(part.marks)
    text = CutText(value, [sorted(spans) for spans in places.values()], mask)
    return RecordCell(column, kind, value, np.array(list(places), dtype=np.intp), text=text)
