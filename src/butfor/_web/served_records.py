"""DATA that holds records, held by the server: each found by its number, as plain values by column."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from butfor._render.words import shortened
from butfor._web.served_rows import LONGEST_PREVIEW, BoolArray, Kind, row_id
from butfor.errors import ButforError

Record = Any
"""A dict of values by column, or a list of items."""


class ServedRecords:
    """Records, with those that could not be read as errors in their places.

    >>> rows = ServedRecords([{"country": "US", "text": "Refund, please"}, {"country": "AT"}])
    >>> rows.preview(0), rows.matching("refund").tolist()
    ('US · Refund, please', [True, False])
    """

    kind: Kind = "records"

    def __init__(
        self,
        records: Sequence[Record],
        ids: Sequence[int | str | None] | None = None,
        errors: Mapping[int, ButforError] | None = None,
    ) -> None:
        self._records = records
        self._ids = ids
        self._errors = dict(errors or {})

    def __len__(self) -> int:
        return len(self._records)

    def at(self, number: int) -> Record:
        """Return a record; raise what is wrong with it."""
        if number in self._errors:
            raise self._errors[number]
        return self._records[number]

    def some(self, numbers: Sequence[int]) -> list[Record]:
        """Return several records that can be read."""
        return [self.at(number) for number in numbers]

    def errors(self) -> dict[int, ButforError]:
        """Return what is wrong with the records that could not be read."""
        return dict(self._errors)

    def id(self, number: int) -> int | str:
        """Return what a record is called."""
        return row_id(self._ids, number)

    def text(self, number: int) -> str | None:
        """Return nothing: a record is more than a text."""
        return None

    def record(self, number: int) -> Record:
        """Return a record as plain values, or None if it could not be read."""
        return None if number in self._errors else self._records[number]

    def preview(self, number: int) -> str:
        """Return the beginning of a record, in one line."""
        values = [
            " ".join(written[: 2 * LONGEST_PREVIEW].split()) for written in _written(self._records[number])
        ]
        return shortened(" · ".join(value for value in values if value), LONGEST_PREVIEW)

    def matching(self, query: str) -> BoolArray:
        """Return for each record whether a cell contains the query, be it in small letters or capitals."""
        wanted = query.casefold()
        return np.array(
            [any(wanted in cell.casefold() for cell in _written(record)) for record in self._records],
            dtype=bool,
        )


def plain_records(content: Any) -> list[Record]:
    """Return the rows of a frame, or records as they are, as plain values."""
    if isinstance(content, list):
        return content
    rows = content.to_dict("records") if hasattr(content, "iloc") else content.to_dicts()
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; a missing one is None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if value is None or isinstance(value, str | bool | int | list | dict):
        return value
    if isinstance(value, float):
        return value if value == value else None
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def _written(record: Record) -> list[str]:
    """Return the cells of a record as they are shown."""
    if not isinstance(record, dict):
        return [", ".join(map(str, record))]
    return list(map(_written_cell, record.values()))


def _written_cell(value: Any) -> str:
    if isinstance(value, list | dict):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
