"""All formats that DATA may have, in one table, and the function that opens any of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from butfor._files.inputs.base import ColumnNames, Input, ModelNeeds, RecordNeeds
from butfor._files.inputs.csv_table import open_csv_table
from butfor._files.inputs.csv_texts import open_csv_texts
from butfor._files.inputs.csv_wide import no_texts_here, open_csv_wide
from butfor._files.inputs.json_features import open_json_features
from butfor._files.inputs.json_table import open_json_table
from butfor._files.inputs.json_texts import open_json_texts
from butfor._files.inputs.locations import Files, find_files
from butfor._files.inputs.npy import open_npy
from butfor._files.inputs.npz import open_npz
from butfor._files.inputs.parquet import open_parquet_rows
from butfor._files.inputs.parquet_table import open_parquet_table
from butfor._files.inputs.parquet_texts import open_parquet_texts
from butfor._files.inputs.suffixes import DELIMITERS, JSON_LINES, PARQUET, TEXT_FILE
from butfor._files.inputs.text_files import open_text_files
from butfor._files.zips import MAX_UNPACKED
from butfor.errors import InputError

Opener = Callable[[Files, ColumnNames, ModelNeeds], Input]


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str
    suffixes: tuple[str, ...]
    holds: str
    """For which models it is: those that take rows of "numbers", "texts", or "records"."""
    columns: tuple[str, ...]
    """The columns that options may name: --id-column, …"""
    extra: str | None
    """What must be installed to read it, besides butfor itself."""
    open: Opener


RECORDS = ("id", "feature", "value")
FORMATS = (
    Format("sparse matrix", (".npz",), "numbers", (), None, open_npz),
    Format("dense matrix", (".npy",), "numbers", (), None, open_npy),
    Format("wide table, CSV", tuple(DELIMITERS), "numbers", ("id",), None, open_csv_wide),
    Format("wide table, Parquet", PARQUET, "numbers", ("id", "feature"), "parquet", open_parquet_rows),
    Format("long table, Parquet", PARQUET, "numbers", RECORDS, "parquet", open_parquet_rows),
    Format("lists, Parquet", PARQUET, "numbers", RECORDS, "parquet", open_parquet_rows),
    Format("features, JSON lines", JSON_LINES, "numbers", RECORDS, None, open_json_features),
    Format("texts, CSV", tuple(DELIMITERS), "texts", ("id", "text"), None, open_csv_texts),
    Format("texts, Parquet", PARQUET, "texts", ("id", "text"), "parquet", open_parquet_texts),
    Format("texts, JSON lines", JSON_LINES, "texts", ("id", "text"), None, open_json_texts),
    Format("text files", (TEXT_FILE,), "texts", (), None, open_text_files),
    Format("records, CSV", tuple(DELIMITERS), "records", ("id", "feature"), None, open_csv_table),
    Format("records, Parquet", PARQUET, "records", ("id", "feature"), "parquet", open_parquet_table),
    Format("records, JSON lines", JSON_LINES, "records", ("id", "feature"), None, open_json_table),
)


def open_input(
    data: Sequence[str],
    columns: ColumnNames | None = None,
    *,
    takes_texts: bool,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
    records: RecordNeeds | None = None,
    max_unpacked: float = MAX_UNPACKED,
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
    records : RecordNeeds, optional
        What the model reads of records, if it takes those.
    max_unpacked : float, default 16
        The most GiB that a compressed file may unpack to.

    Raises
    ------
    InputError
        Where a file is none of `FORMATS`, or not what the model reads.
    """
    files, columns = replace(find_files(data), max_unpacked=max_unpacked), columns or ColumnNames()
    needs = ModelNeeds(takes_texts, n_features, None if names is None else tuple(names), records)
    formats = [each for each in FORMATS if files.suffix in each.suffixes and each.holds == needs.holds]
    if not formats:
        raise _unfit(files, needs.holds)
    _require_columns_in_use(formats, columns, needs.holds)
    return formats[0].open(files, columns, needs)


class RowsOfModel(Protocol):
    """What an Explainer tells of the rows that its model takes."""

    @property
    def takes_texts(self) -> bool:
        """Whether the model reads texts."""
        ...

    @property
    def record_form(self) -> str | None:
        """In which form the model takes records; None where it takes none."""
        ...

    @property
    def record_columns(self) -> tuple[tuple[str, str | None], ...] | None:
        """The columns of records, and what they hold; None where the model does not tell."""
        ...

    @property
    def n_features(self) -> int | None:
        """The number of columns, if known."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if known."""
        ...


def needs_of(explainer: RowsOfModel) -> RecordNeeds | None:
    """Return what the model of an Explainer reads of records; None where it takes none."""
    form = explainer.record_form
    return None if form is None else RecordNeeds(form, explainer.record_columns)


def open_rows(
    explainer: RowsOfModel,
    data: Sequence[str],
    columns: ColumnNames | None = None,
    max_unpacked: float = MAX_UNPACKED,
) -> Input:
    """Open DATA as the model of an Explainer reads it; see `open_input`."""
    return open_input(
        data,
        columns,
        takes_texts=explainer.takes_texts,
        n_features=explainer.n_features,
        names=explainer.feature_names,
        records=needs_of(explainer),
        max_unpacked=max_unpacked,
    )


def _unfit(files: Files, holds: str) -> InputError:
    """Return the error for files that the model cannot read."""
    if holds == "numbers":
        return no_texts_here(f"the text {files.names[0]}")
    fitting = dict.fromkeys(suffix for each in FORMATS if each.holds == holds for suffix in each.suffixes)
    if holds == "records":
        return InputError(
            f"DATA must hold records, as the model takes columns of several kinds, got {files.names[0]}: "
            f"give a file that ends in {', '.join(fitting)}."
        )
    return InputError(
        f"DATA must hold texts, as the model reads texts, got a matrix, {files.names[0]}: give --text, or a "
        f"file that ends in {', '.join(fitting)}; or, to explain rows of a matrix, save the classifier "
        "without its vectoriser."
    )


def _require_columns_in_use(formats: Sequence[Format], columns: ColumnNames, holds: str) -> None:
    """Raise where a column is named that would not be read."""
    used = {role for each in formats for role in each.columns}
    for role in ("text", "feature", "value", "id"):
        if getattr(columns, role) is not None and role not in used:
            what = f"holds {'no texts' if holds == 'numbers' else holds}"
            if not used:
                what = "is a matrix" if holds == "numbers" else "is text files"
            elif role in ("feature", "value") and holds == "numbers":
                what = "has a column for each feature"
            raise InputError(f"--{role}-column must be left out where DATA {what}.")
