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
            place = names.index(text_column_of_cells(column, names, first))
            for cells in chain(first, rows):
                yield text_of_cells(cells, place, names)
        except csv.Error as error:
            raise not_csv(str(path), reader.line_num, error) from error


def not_csv(path: str, line: int, error: csv.Error) -> InputError:
    """Say where a file is no CSV, and what to do about it."""
    return InputError(
        f"DATA must be {path.rpartition('.')[2].upper()}, got {path}: line {line:,}: {error}. "
        "A cell that holds quotes must stand in quotes, and each quote in it be doubled."
    )


def text_column_of_cells(
    column: str | None, names: Sequence[str], rows: Sequence[Sequence[str]], besides: str | None = None
) -> str:
    """Choose the column of texts by the first rows; `besides` is the column of ids, if there is one."""
    with_texts = [
        name for i, name in enumerate(names) if name != besides and any(map(_is_text, _cells_at(rows, i)))
    ]
    return chosen_text_column(column, names, with_texts)


def _cells_at(rows: Sequence[Sequence[str]], place: int) -> Iterator[str]:
    return (cells[place] for cells in rows if place < len(cells))


def _is_text(cell: str) -> bool:
    """Tell a text from a number or nothing."""
    try:
        float(cell or 0)
    except ValueError:
        return True
    return False


def text_of_cells(cells: Sequence[str], place: int, names: Sequence[str]) -> Cell:
    """Give the text of a row of a CSV file, or what is wrong with the row."""
    if len(cells) > len(names):
        return InputError(
            f"the row must have {len(names)} cells, as the first line of DATA, got {len(cells)}: quote a "
            "cell that holds the delimiter."
        )
    return cells[place] if place < len(cells) else missing_text(names[place])


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
            name = text_column_of_schema(column, file.schema_arrow)
            for batch in file.iter_batches(batch_size=BATCH, columns=[name]):
                for text in batch.column(0).to_pylist():
                    yield missing_text(name) if text is None else text
    except UnicodeDecodeError as error:
        raise InputError(f"DATA must hold UTF-8 texts, got {path}, which {not_utf8(error)}") from error
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"DATA must be a Parquet file, got {path}: {error}") from error


def text_column_of_schema(column: str | None, schema: Any, besides: str | None = None) -> str:
    """Choose the column of texts by the types of the columns; `besides` is that of ids, if there is one."""
    with_texts = [field.name for field in schema if holds_texts(field.type)]
    name = chosen_text_column(column, schema.names, [name for name in with_texts if name != besides])
    if name not in with_texts:
        raise InputError(f"--text-column must hold texts, got {name!r} of {schema.field(name).type}.")
    return name


def holds_texts(kind: Any) -> bool:
    """Tell by its Arrow type whether a column holds texts."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return holds_texts(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def missing_text(name: str) -> InputError:
    """Say that a row has no text."""
    return InputError(f"the row must have a text in the column {name!r}, got none.")


def chosen_text_column(column: str | None, names: Sequence[str], with_texts: Sequence[str]) -> str:
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
