"""All formats that DATA may have, in one table, and the function that opens any of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from butfor._files.inputs.base import ColumnNames, Input, ModelNeeds
from butfor._files.inputs.csv_texts import open_csv_texts
from butfor._files.inputs.csv_wide import no_texts_here, open_csv_wide
from butfor._files.inputs.json_features import open_json_features
from butfor._files.inputs.json_texts import open_json_texts
from butfor._files.inputs.locations import Files, find_files
from butfor._files.inputs.npy import open_npy
from butfor._files.inputs.npz import open_npz
from butfor._files.inputs.parquet import open_parquet_rows
from butfor._files.inputs.parquet_texts import open_parquet_texts
from butfor._files.inputs.suffixes import DELIMITERS, JSON_LINES, PARQUET, TEXT_FILE
from butfor._files.inputs.text_files import open_text_files
from butfor.errors import InputError

Opener = Callable[[Files, ColumnNames, ModelNeeds], Input]


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str
    suffixes: tuple[str, ...]
    holds_texts: bool
    """Whether it is for models that read texts, not for models that take rows of numbers."""
    columns: tuple[str, ...]
    """The columns that options may name: --id-column, …"""
    extra: str | None
    """What must be installed to read it, besides butfor itself."""
    open: Opener


RECORDS = ("id", "feature", "value")
FORMATS = (
    Format("sparse matrix", (".npz",), False, (), None, open_npz),
    Format("dense matrix", (".npy",), False, (), None, open_npy),
    Format("wide table, CSV", tuple(DELIMITERS), False, ("id",), None, open_csv_wide),
    Format("wide table, Parquet", PARQUET, False, ("id", "feature"), "parquet", open_parquet_rows),
    Format("long table, Parquet", PARQUET, False, RECORDS, "parquet", open_parquet_rows),
    Format("lists, Parquet", PARQUET, False, RECORDS, "parquet", open_parquet_rows),
    Format("features, JSON lines", JSON_LINES, False, RECORDS, None, open_json_features),
    Format("texts, CSV", tuple(DELIMITERS), True, ("id", "text"), None, open_csv_texts),
    Format("texts, Parquet", PARQUET, True, ("id", "text"), "parquet", open_parquet_texts),
    Format("texts, JSON lines", JSON_LINES, True, ("id", "text"), None, open_json_texts),
    Format("text files", (TEXT_FILE,), True, (), None, open_text_files),
)


def open_input(
    data: Sequence[str],
    columns: ColumnNames | None = None,
    *,
    takes_texts: bool,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
) -> Input:
    """Find out what files hold, and how to read them.

    Parameters
    ----------
    data : sequence of str
        Files, folders and patterns; paths are local, or whatever fsspec knows.
    columns : ColumnNames, optional
        The columns that the user names.
    takes_texts : bool
        Whether the model reads texts, not rows of numbers.
    n_features : int, optional
        How many columns the model has, as far as that is known.
    names : sequence of str, optional
        What the columns are called, as far as that is known.

    Raises
    ------
    InputError
        Where a file is none of `FORMATS`, or not what the model reads.
    """
    files, columns = find_files(data), columns or ColumnNames()
    needs = ModelNeeds(takes_texts, n_features, None if names is None else tuple(names))
    formats = [each for each in FORMATS if files.suffix in each.suffixes and each.holds_texts == takes_texts]
    if not formats:
        raise _unfit(files, takes_texts)
    _require_columns_in_use(formats, columns, takes_texts)
    return formats[0].open(files, columns, needs)


class RowsOfModel(Protocol):
    """What an Explainer tells of the rows that its model takes."""

    @property
    def takes_texts(self) -> bool:
        """Whether the model reads texts."""
        ...

    @property
    def n_features(self) -> int | None:
        """The number of columns, if known."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if known."""
        ...


def open_rows(explainer: RowsOfModel, data: Sequence[str], columns: ColumnNames | None = None) -> Input:
    """Open DATA as the model of an Explainer reads it; see `open_input`."""
    return open_input(
        data,
        columns,
        takes_texts=explainer.takes_texts,
        n_features=explainer.n_features,
        names=explainer.feature_names,
    )


def _unfit(files: Files, takes_texts: bool) -> InputError:
    """Return the error for files that the model cannot read."""
    if not takes_texts:
        return no_texts_here(f"the text {files.names[0]}")
    with_texts = dict.fromkeys(suffix for each in FORMATS if each.holds_texts for suffix in each.suffixes)
    return InputError(
        f"DATA must hold texts, as the model reads texts, got a matrix, {files.names[0]}: give --text, or a "
        f"file that ends in {', '.join(with_texts)}; or, to explain rows of a matrix, save the classifier "
        "without its vectoriser."
    )


def _require_columns_in_use(formats: Sequence[Format], columns: ColumnNames, takes_texts: bool) -> None:
    """Raise where a column is named that would not be read."""
    used = {role for each in formats for role in each.columns}
    for role in ("text", "feature", "value", "id"):
        if getattr(columns, role) is not None and role not in used:
            what = f"holds {'texts' if takes_texts else 'no texts'}"
            if not used:
                what = "is a matrix" if not takes_texts else "is text files"
            elif role in ("feature", "value") and not takes_texts:
                what = "has a column for each feature"
            raise InputError(f"--{role}-column must be left out where DATA {what}.")
