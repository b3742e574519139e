"""JSON lines with a text in each: an object, or the text itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from butfor._files.inputs.base import ColumnNames, ModelNeeds
from butfor._files.inputs.columns import require_distinct
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
from butfor._files.inputs.sequential import Parse, SequentialInput, stacked_texts
from butfor._files.inputs.text_column import chosen_text_column, missing_text
from butfor._files.opening import is_utf8
from butfor.errors import InputError


def open_json_texts(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "JsonTexts":
    """Choose the key of texts by what the first lines hold."""
    lines = first_lines(files)
    keys = keys_of_lines(lines)
    id, id_type = json_id(columns, lines, keys, besides=[columns.text] if columns.text else [])
    if any(isinstance(line, str) for line in lines) and columns.text is None:
        return JsonTexts(files, id, id_type, None)
    with_texts = [
        key
        for key in keys
        if key != id and any(isinstance(line, dict) and isinstance(line.get(key), str) for line in lines)
    ]
    if not lines or not keys:
        raise InputError(
            'DATA must hold a JSON object a line, such as {"text": "…"}, or a string, as the model reads '
            f"texts, got {files.paths[0]} with {shown(lines[0]) if lines else 'none'}."
        )
    text = chosen_text_column(columns.text, keys, with_texts)
    require_distinct({"id": id, "text": text})
    return JsonTexts(files, id, id_type, text)


@dataclass(frozen=True)
class JsonTexts(SequentialInput):
    """Lines such as {"id": 1, "text": "…"}, or "…" alone."""

    text: str | None
    """The key of the texts; None where each line is a text."""
    holds_texts = True
    kind = "texts"
    feature_names = None

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.text)

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[JsonLines, Parse]]:
        with json_lines(self.files, file, byte, line) as lines:
            yield lines, partial(parsed_row, id=self.id, id_type=self.id_type, content_of=self._text)

    def _text(self, content: Any) -> str:
        text = content
        if self.text is not None:
            if not isinstance(content, dict):
                raise InputError(f"the row must be an object with {self.text!r}, got {shown(content)}.")
            text = content.get(self.text)
            if text is None:
                raise missing_text(self.text)
        if not isinstance(text, str):
            raise InputError(f"the row must be a text, got {shown(text)}.")
        if not is_utf8(text):
            raise InputError("the row must have a text that UTF-8 can hold, got one with half a character.")
        return text

    def _stacked(self, content: list[Any]) -> list[str]:
        return stacked_texts(content)
