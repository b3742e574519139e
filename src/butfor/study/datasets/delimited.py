"""Columns of large delimited text files."""

from pathlib import Path
from typing import Any

import numpy as np

from butfor.errors import InputError


def read_columns(
    path: Path, names: list[str], wanted: list[str], *, delimiter: str = ",", header: bool = False
) -> list[Any]:
    r"""Return some columns of a file, gzipped or not, as arrays of stripped strings; `\N` becomes ""."""
    from pyarrow import ArrowInvalid, csv, dictionary, int32, string

    try:
        table = csv.read_csv(
            path,
            # Latin-1 reads any bytes: the wanted columns are ASCII, but a header may hold anything.
            csv.ReadOptions(column_names=names, skip_rows=int(header), encoding="latin-1"),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                include_columns=wanted, column_types={name: dictionary(int32(), string()) for name in wanted}
            ),
        )
    except ArrowInvalid as error:
        layout = delimiter.join(names)
        raise InputError(f"{path} must have the columns {layout}, got something else: {error}") from error
    return [_strings(table.column(name).unify_dictionaries().combine_chunks()) for name in wanted]


def _strings(column: Any) -> Any:
    """Return a dictionary-encoded column as an array that shares its few distinct strings."""
    distinct = [value.strip() for value in column.dictionary.to_pylist()]
    values = np.array(["" if value == r"\N" else value for value in distinct], dtype=object)
    return values[column.indices.to_numpy()]
