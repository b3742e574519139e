"""Texts in a column of a CSV, TSV or Parquet file, read in batches: a file may be larger than memory."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from butfor.errors import InputError
from butfor.files.opening import not_utf8, opened, require_file

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
BATCH = 1_000
"""Rows that are read at a time."""
LONGEST_CELL = 2**31 - 1
"""The csv module's own limit is far below the length of a book."""

Cell = str | InputError
"""A text, or what is wrong with it; the other rows are not lost."""


def is_table(path: Path) -> bool:
    """Tell by its name whether a file is a table of texts."""
    return path.suffix.lower() in (*DELIMITERS, *PARQUET)


def texts_of_table(path: Path, column: str | None) -> Iterator[Cell]:
    """Read the texts of one column, row by row; without a name it must be the only one that holds texts."""
    if path.suffix.lower() in PARQUET:
        return _texts_of_parquet(path, column)
    return _texts_of_csv(path, column, DELIMITERS[path.suffix.lower()])


def _texts_of_csv(path: Path, column: str | None, delimiter: str) -> Iterator[Cell]:
    csv.field_size_limit(LONGEST_CELL)
    with opened("DATA", path, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            names = next(reader, [])
            rows = (cells for cells in reader if cells)
            first = list(islice(rows, BATCH))
            with_texts = [name for i, name in enumerate(names) if any(map(_is_text, _cells(first, i)))]
            place = names.index(_chosen(column, names, with_texts))
            for cells in chain(first, rows):
                yield _cell(cells, place, names)
        except csv.Error as error:
            raise InputError(
                f"DATA must be {path.suffix[1:].upper()}, got {path}: line {reader.line_num:,}: {error}. "
                "A cell that holds quotes must stand in quotes, and each quote in it be doubled."
            ) from error


def _cells(rows: Sequence[Sequence[str]], place: int) -> Iterator[str]:
    return (cells[place] for cells in rows if place < len(cells))


def _is_text(cell: str) -> bool:
    """Tell a text from a number or nothing."""
    try:
        float(cell or 0)
    except ValueError:
        return True
    return False


def _cell(cells: Sequence[str], place: int, names: Sequence[str]) -> Cell:
    if len(cells) > len(names):
        return InputError(
            f"the row must have {len(names)} cells, as the first line of DATA, got {len(cells)}: quote a "
            "cell that holds the delimiter."
        )
    return cells[place] if place < len(cells) else _missing(names[place])


def _texts_of_parquet(path: Path, column: str | None) -> Iterator[Cell]:
    require_file("DATA", path)
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            'DATA is a Parquet file, and reading it needs: pip install "butfor[parquet]"'
        ) from error
    try:
        with parquet.ParquetFile(path) as file:
            types = list(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
            with_texts = [name for name, kind in types if _holds_texts(kind, pa.types)]
            name = _chosen(column, [name for name, _ in types], with_texts)
            if name not in with_texts:
                raise InputError(f"--text-column must hold texts, got {name!r} of {dict(types)[name]}.")
            for batch in file.iter_batches(batch_size=BATCH, columns=[name]):
                for text in batch.column(0).to_pylist():
                    yield _missing(name) if text is None else text
    except UnicodeDecodeError as error:
        raise InputError(f"DATA must hold UTF-8 texts, got {path}, which {not_utf8(error)}") from error
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"DATA must be a Parquet file, got {path}: {error}") from error


def _holds_texts(kind: Any, types: Any) -> bool:
    if types.is_dictionary(kind):
        return _holds_texts(kind.value_type, types)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _missing(name: str) -> InputError:
    return InputError(f"the row must have a text in the column {name!r}, got none.")


def _chosen(column: str | None, names: Sequence[str], with_texts: Sequence[str]) -> str:
    """Choose the column: the one that was asked for, or the only one that holds texts."""
    known = ", ".join(map(repr, names)) or "none"
    if column is None:
        if len(with_texts) != 1:
            raise InputError(
                f"--text-column must name the column of DATA that holds the texts, got no name where "
                f"{len(with_texts)} do. Its columns are {known}."
            )
        (column,) = with_texts
    if names.count(column) != 1:
        raise InputError(f"--text-column must name one column of DATA ({known}), got {column!r}.")
    return column
