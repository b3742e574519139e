"""Lines of JSON files, with the byte at which each begins."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from butfor._files.inputs.base import ColumnNames, IdType
from butfor._files.inputs.columns import known_id
from butfor._files.inputs.ids import missing_id
from butfor._files.inputs.locations import Files
from butfor._files.inputs.sequential import ParsedRow
from butfor._files.opening import is_utf8, not_utf8
from butfor.errors import InputError, abridged

FIRST_LINES = 1_000
"""Lines that are looked at to find out what the keys of objects hold."""
LARGEST_ID = 2**63


class JsonLines:
    """The lines of a file from a byte on, blank ones left out, not parsed."""

    def __init__(self, file: Any, byte: int = 0, line: int = 0) -> None:
        file.seek(byte)
        self._file = file
        self._byte = byte
        self.line = line
        """How many lines have been read."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line with the byte at which it begins."""
        for line in self._file:
            byte = self._byte
            self._byte += len(line)
            self.line += 1
            if line.strip():
                yield byte, line


@contextmanager
def json_lines(files: Files, file: int, byte: int = 0, line: int = 0) -> Iterator[JsonLines]:
    """Open a file from a byte on."""
    with files.opened(file) as raw:
        yield JsonLines(raw, byte, line)


def parsed_line(line: bytes) -> Any:
    """Parse a line; raise an InputError that says what is wrong with the row."""
    try:
        return json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"the row must be UTF-8, got a line which {not_utf8(error)}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"the row must be a line of JSON, got one that is not: {error}.") from error


def first_lines(files: Files) -> list[Any]:
    """Return what the first lines hold, but for those that are no JSON."""
    found = []
    with json_lines(files, 0) as lines:
        for _, line in islice(lines, FIRST_LINES):
            try:
                found.append(parsed_line(line))
            except InputError:  # it is the error of its row
                continue
    return found


def keys_of_lines(lines: list[Any]) -> list[str]:
    """Return the keys of all objects, in the order in which they come."""
    return list(dict.fromkeys(key for line in lines if isinstance(line, dict) for key in line))


def json_id(
    columns: ColumnNames, lines: list[Any], keys: list[str], besides: list[str]
) -> tuple[str | None, IdType]:
    """Choose the key of ids, the one that the user named or the only well-known one, and their type."""
    id = known_id(keys, besides) if columns.id is None else columns.id
    if id is None:
        return None, "int"
    require_key("id", id, keys)
    ids = [line[id] for line in lines if isinstance(line, dict) and line.get(id) is not None]
    return id, "int" if ids and all(map(_is_whole, ids)) else "string"


def require_key(role: str, name: str, keys: list[str]) -> None:
    """Raise unless objects have a key that the user named."""
    if name not in keys:
        known = ", ".join(map(repr, keys)) or "none"
        raise InputError(f"--{role}-column must name a key of the objects in DATA ({known}), got {name!r}.")


def parsed_row(
    line: bytes, number: int, *, id: str | None, id_type: IdType, content_of: Callable[[Any], Any]
) -> ParsedRow:
    """Parse a line; `content_of` returns the text or the numbers in it, or raises what is wrong with them."""
    own_id: int | str | None = None if id else number
    try:
        held, error = parsed_line(line), None
        if id is not None:
            own_id, error = id_of_object(held, id, id_type)
        content = content_of(held)
        return own_id, content if error is None else None, error
    except InputError as fault:
        return own_id, None, str(fault)


def id_of_object(content: Any, id: str, id_type: IdType) -> tuple[int | str | None, str | None]:
    """Return the id of an object, or what is wrong with it."""
    found = content.get(id) if isinstance(content, dict) else None
    if id_type == "int":
        if found is None or _is_whole(found):
            return found, None if found is not None else missing_id(id)
        return (
            None,
            f"the row must have a whole number as its id in {id!r}, as other rows, got {shown(found)}.",
        )
    if isinstance(found, str | int | float) and not isinstance(found, bool) and is_utf8(str(found)):
        return str(found), None
    return None, missing_id(id)


def shown(content: Any) -> str:
    """Return how an error quotes a piece of JSON."""
    return abridged(repr(content), at_most=60)


def _is_whole(id: Any) -> bool:
    return isinstance(id, int) and not isinstance(id, bool) and -LARGEST_ID <= id < LARGEST_ID
