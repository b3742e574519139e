"""Rows and texts one by one, each with its number and a label: all of an input, or those that are picked."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.base import BLOCK_ROWS, Input, InputRows
from butfor._files.opening import not_utf8
from butfor.errors import InputError

STDIN = "-"
BY_ID = "id="
"""How a pick begins that names a row by its id, not by its number."""


@dataclass(frozen=True)
class NumberedRow:
    """One row or text to explain."""

    number: int
    label: str
    """What it is called when it is printed."""
    row: Any
    """The row or the text; or the error that stands in its place."""


def rows_of(data: Input, picks: Sequence[str] = ()) -> Iterator[NumberedRow]:
    """Yield the rows that are picked, in the order of the picks; without any, all rows.

    A pick is the number of a row, from 0, or "id=" and its id. No more of the input is held in memory than a
    block of rows and those that are picked.
    """
    if picks:
        yield from _picked(data, [_number_or_id(pick) for pick in picks])
        return
    for first, rows in data.blocks():
        for position in range(len(rows.ids)):
            yield _numbered(data, rows, position, first + position)


def texts_of_options(texts: Sequence[str]) -> Iterator[NumberedRow]:
    """Yield the texts that stand on the command line, or on standard input."""
    for number, text in enumerate(texts):
        yield NumberedRow(number, f"text {number}", _standard_input() if text == STDIN else text)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"--text - must read UTF-8 text, got standard input which {not_utf8(error)}"
        ) from error


def _number_or_id(pick: str) -> int | str:
    """Return the number of a row as an int, its id as a str."""
    if pick.startswith(BY_ID):
        return pick.removeprefix(BY_ID)
    try:
        return int(pick)
    except ValueError:
        raise InputError(f"--row must be the number of a row, or id=ID, got {pick!r}.") from None


def _picked(data: Input, picks: Sequence[int | str]) -> Iterator[NumberedRow]:
    wanted = set(picks)
    has_ids = any(isinstance(pick, str) for pick in wanted)  # which may be anywhere
    found: dict[int | str, NumberedRow] = {}
    blocks = data.blocks(None if has_ids else [pick for pick in wanted if isinstance(pick, int)])
    for first, rows in blocks:
        for pick, position in _places(rows, first, wanted - found.keys()):
            found[pick] = _numbered(data, rows, position, first + position, pick)
        if len(found) == len(wanted):
            break
    for pick in picks:
        if pick not in found:
            raise _no_such_row(data, pick)
    for pick in picks:
        yield found[pick]


def _places(rows: InputRows, first: int, wanted: set[int | str]) -> Iterator[tuple[int | str, int]]:
    """Find the positions of wanted rows in a block."""
    numbers = range(first, first + len(rows.ids))
    by_id = {pick for pick in wanted if isinstance(pick, str)}
    for pick in wanted - by_id:
        if pick in numbers:
            yield pick, int(pick) - first
    if by_id:
        # Of several rows with one id, the first one counts.
        positions = {str(id): position for position, id in reversed(list(enumerate(rows.ids)))}
        for id in by_id & positions.keys():
            yield id, positions[str(id)]


def _numbered(
    data: Input, rows: InputRows, position: int, number: int, pick: int | str | None = None
) -> NumberedRow:
    label = f"row {pick if isinstance(pick, str) else number}"
    if data.kind == "text files":
        label = str(rows.ids[position])
    if position in rows.errors:
        return NumberedRow(number, label, InputError(rows.errors[position]))
    content = rows.content
    if data.kind == "table":
        return NumberedRow(number, label, content[position : position + 1])
    return NumberedRow(number, label, content[position] if data.holds_texts else content[[position]])


def _no_such_row(data: Input, pick: int | str) -> InputError:
    if isinstance(pick, str):
        return InputError(f"--row must be the id of a row of DATA, got {BY_ID}{pick}, which no row has.")
    n_rows = sum(chunk.n_rows for chunk in data.chunks(BLOCK_ROWS))
    return InputError(f"--row must be from 0 to {n_rows - 1:,}, the rows of DATA, got {pick:,}.")
