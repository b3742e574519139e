"""What to explain: rows of a matrix, or texts from the command line, from text files or from a table."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butfor.errors import InputError
from butfor.files.opening import not_utf8, opened, require_file
from butfor.files.tables import Cell, is_table, texts_of_table

STDIN = "-"


@dataclass(frozen=True)
class Item:
    """One row or text to explain."""

    number: int
    label: str
    """What it is called when it is printed."""
    given: Any
    """The row or the text; or the error that stands in its place."""


@dataclass(frozen=True)
class Source:
    """Where rows or texts come from, one after the other."""

    items: Iterator[Item]
    holds_texts: bool
    n_columns: int | None = None
    """How many columns a matrix has."""
    matrix: Any = None
    """All rows of DATA together, where it is a matrix."""


def open_source(
    data: Sequence[Path], texts: Sequence[str], *, text_column: str | None, rows: Sequence[int]
) -> Source:
    """Find out by the names of the files what they hold, and open them."""
    if bool(data) == bool(texts):
        both = "both" if data else "neither"
        raise InputError(f"DATA must be given, or texts with --text, and not both: got {both}.")
    is_one_text_each = bool(texts) or all(path.suffix.lower() == ".txt" for path in data)
    if is_one_text_each and rows:
        raise InputError("--row must be left out where DATA has no rows: each text is one of its own.")
    if text_column is not None and not (data and is_table(data[0])):
        raise InputError("--text-column must be left out where DATA is no CSV, TSV or Parquet file.")
    if texts:
        return Source(_given(texts), holds_texts=True)
    if is_one_text_each:
        return Source(_text_files(data), holds_texts=True)
    if len(data) > 1:
        raise InputError(f"DATA must be one file, or several that end in .txt, got {len(data)} files.")
    (path,) = data
    if is_table(path):
        return Source(_picked(texts_of_table(path, text_column), rows), holds_texts=True)
    X = _load_matrix(path)
    return Source(_rows(X, rows), holds_texts=False, n_columns=X.shape[1], matrix=X)


def _given(texts: Sequence[str]) -> Iterator[Item]:
    for number, text in enumerate(texts):
        yield Item(number, f"text {number}", _standard_input() if text == STDIN else text)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"--text - must read UTF-8 text, got standard input which {not_utf8(error)}"
        ) from error


def _text_files(paths: Sequence[Path]) -> Iterator[Item]:
    for path in paths:
        require_file("DATA", path)
    for number, path in enumerate(paths):
        yield Item(number, str(path), _text_file(path))


def _text_file(path: Path) -> Cell:
    try:
        with opened("DATA", path) as file:
            return file.read()
    except InputError as error:  # this file's; the others are not lost
        return error


def _picked(texts: Iterable[Cell], rows: Sequence[int]) -> Iterator[Item]:
    """Pick rows, in the order in which they are asked for; without any, all of them."""
    n_rows, wanted, found = 0, set(rows), {}
    for number, text in enumerate(texts):
        n_rows = number + 1
        if not rows:
            yield _row(number, text)
        elif number in wanted:
            found[number] = text
            if len(found) == len(wanted):
                break
    _require_rows(n_rows)
    for number in rows:
        if number not in found:
            raise _no_such_row(number, n_rows)
    for number in rows:
        yield _row(number, found[number])


def _load_matrix(path: Path) -> Any:
    """Load a CSR matrix from a file that `scipy.sparse.save_npz` wrote."""
    from scipy import sparse

    require_file("DATA", path)
    try:
        return sparse.load_npz(path).tocsr()
    except Exception as error:
        raise InputError(
            f"DATA must be a sparse matrix as scipy.sparse.save_npz writes it (.npz), or texts (.txt, .csv, "
            f".tsv or .parquet), got {path}: {error}"
        ) from error


def _rows(X: Any, rows: Sequence[int]) -> Iterator[Item]:
    n_rows = X.shape[0]
    _require_rows(n_rows)
    for number in rows:
        if not 0 <= number < n_rows:
            raise _no_such_row(number, n_rows)
    for number in rows or range(n_rows):
        yield _row(number, X[[number]])


def _row(number: int, given: Any) -> Item:
    return Item(number, f"row {number}", given)


def _require_rows(n_rows: int) -> None:
    if not n_rows:
        raise InputError("DATA must have at least one row, got none.")


def _no_such_row(number: int, n_rows: int) -> InputError:
    return InputError(f"--row must be from 0 to {n_rows - 1:,}, the rows of DATA, got {number:,}.")
