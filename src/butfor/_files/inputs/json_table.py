"""JSON lines of records: an object with columns in each, or a list of items."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from butfor._files.inputs.base import ColumnNames, ModelNeeds
from butfor._files.inputs.json_records import (
    JsonLines,
    first_lines,
    json_id,
    json_lines,
    keys_of_lines,
    parsed_row,
    shown,
)
from butfor._files.inputs.locations import Files
from butfor._files.inputs.record_columns import (
    Columns,
    as_table,
    besides_ids,
    checked_value,
    columns_of_table,
    record_needs,
)
from butfor._files.inputs.sequential import Parse, SequentialInput
from butfor.errors import InputError

ONLY = "items"
"""What the column is called where each line is a list."""


def open_json_table(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "JsonTable":
    """Match the keys of objects with the columns that the model reads."""
    lines, known = first_lines(files), record_needs(needs)
    keys = keys_of_lines(lines)
    id, id_type = json_id(columns, lines, keys, besides=list(besides_ids(known)))
    if known.form == "lists" and any(isinstance(line, list) for line in lines):
        return JsonTable(files, id, id_type, ((ONLY, "items"),), known.form)
    if known.form == "dicts":  # its keys may differ from line to line
        return JsonTable(files, id, id_type, (), known.form)
    read = columns_of_table(files.paths[0], keys, id, known, columns.feature)
    return JsonTable(files, id, id_type, read, known.form)


@dataclass(frozen=True)
class JsonTable(SequentialInput):
    """Lines such as {"id": 1, "country": "US", "text": "…"}."""

    columns: Columns
    """The keys that are read; none: all."""
    form: str
    holds_texts = False
    kind = "table"

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The keys that are read."""
        return tuple(name for name, _ in self.columns) or None

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.columns)

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[JsonLines, Parse]]:
        with json_lines(self.files, file, byte, line) as lines:
            yield lines, partial(parsed_row, id=self.id, id_type=self.id_type, content_of=self._record)

    def _record(self, content: Any) -> dict[str, Any]:
        if isinstance(content, list) and self.form == "lists":
            return {ONLY: content}
        if not isinstance(content, dict):
            raise InputError(f"the row must be an object with columns, got {shown(content)}.")
        if not self.columns:
            return {key: value for key, value in content.items() if key != self.id}
        return {name: checked_value(content.get(name), kind, name) for name, kind in self.columns}

    def _stacked(self, content: list[Any]) -> Any:
        return as_table(content, self.columns, self.form)
