"""CSV and TSV of numbers: a column for each feature."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.base import ColumnNames, ModelNeeds
from butfor._files.inputs.columns import require_columns
from butfor._files.inputs.csv_records import (
    CsvRecords,
    CsvSample,
    csv_id,
    named_records,
    sample_of,
)
from butfor._files.inputs.csv_texts import id_of_record
from butfor._files.inputs.locations import Files
from butfor._files.inputs.sequential import Parse, ParsedRow, SequentialInput, stacked_numbers
from butfor._files.inputs.text_column import columns_with_texts, reads_as_number
from butfor._files.inputs.wide import besides_ids, features_of_header
from butfor.errors import InputError

BOOLEANS = {"true": 1.0, "false": 0.0}


def open_csv_wide(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "CsvWide":
    """Match the first line of a CSV or TSV file with the features of the model."""
    sample = sample_of(files)
    _require_header(sample)
    id = csv_id(columns, sample.names, besides_ids(sample.names, needs))
    try:
        features = features_of_header(sample.path, sample.names, id, needs)
    except InputError:
        _require_no_texts(sample, id)
        raise
    require_columns(sample.path, sample.names, features)
    _require_numbers(sample, features)
    return CsvWide(files, id, "int" if id is None else "string", features)


@dataclass(frozen=True)
class CsvWide(SequentialInput):
    """Records of numbers below a line of names, and perhaps an id, which is a string."""

    features: tuple[str, ...]
    """The columns of features, in the order of the model's."""
    holds_texts = False
    kind = "wide table"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names in the first line."""
        return self.features

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.features)

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[CsvRecords, Parse]]:
        columns = [*self.features] if self.id is None else [self.id, *self.features]
        with named_records(self.files, columns, file, byte, line) as (names, records):
            places = {name: place for place, name in enumerate(names)}
            id = None if self.id is None else places[self.id]
            yield records, _NumbersOfCells(names, id, [places[name] for name in self.features])

    def _stacked(self, content: list[Any]) -> Any:
        return stacked_numbers(content, len(self.features))


@dataclass(frozen=True)
class _NumbersOfCells:
    """Parses the records of a file whose columns have these names and places."""

    names: list[str]
    id: int | None
    places: list[int]

    def __call__(self, cells: Sequence[str], number: int) -> ParsedRow:
        id, error = id_of_record(cells, self.id, self.names, number)
        if error is not None:
            return id, None, error
        try:
            return id, [float(cells[place]) for place in self.places], None
        except (ValueError, IndexError):
            return self._one_by_one(id, cells)

    def _one_by_one(self, id: int | str | None, cells: Sequence[str]) -> ParsedRow:
        """Parse a record with cells that Python does not read as numbers, and name the first bad one."""
        values = []
        for place in self.places:
            cell = cells[place].strip() if place < len(cells) else ""
            if not reads_as_number(cell) and cell.lower() not in BOOLEANS:
                got = repr(cell[:40]) if cell else "none"
                name = self.names[place]
                return id, None, f"the row must have a number in the column {name!r}, got {got}."
            values.append(BOOLEANS[cell.lower()] if cell.lower() in BOOLEANS else float(cell))
        return id, values, None


def _require_header(sample: CsvSample) -> None:
    """Raise unless the first line can be names."""
    if not sample.names:
        raise InputError(
            f"DATA must start with a line of names, one for each column of numbers, got {sample.path}, "
            "which is empty."
        )
    is_made_up = sample.names == [str(place) for place in range(len(sample.names))]
    if all(map(reads_as_number, sample.names)) and not is_made_up:
        raise InputError(
            f"DATA must start with a line of names, got {sample.path}, whose first line holds numbers. Add a "
            "line with the names of the features, or save the matrix with numpy.save (.npy)."
        )


def _require_no_texts(sample: CsvSample, id: str | None) -> None:
    """Raise the error that helps most where the columns are not the model's because they are texts."""
    with_texts = columns_with_texts(sample.names, sample.rows, besides=id)
    if with_texts:
        raise no_texts_here(f"{sample.path} with texts in the column {with_texts[0]!r}")


def no_texts_here(what: str) -> InputError:
    """Return the error for texts that the model does not read."""
    return InputError(
        "MODEL must read texts to explain texts, got one that takes rows of numbers, and "
        f"{what}: save it as a pipeline with its vectoriser; or, if it reads texts in its own way, add "
        "--removal delete."
    )


def _require_numbers(sample: CsvSample, features: Sequence[str]) -> None:
    """Raise where a column holds no number in the first rows: no row could be read."""
    for name in features:
        place = sample.names.index(name)
        cells = [cells[place].strip() for cells in sample.rows if place < len(cells)]
        cells = [cell for cell in cells if cell]
        if cells and not any(reads_as_number(cell) or cell.lower() in BOOLEANS for cell in cells):
            raise InputError(
                f"DATA must hold numbers, as the model takes rows of numbers, got {sample.path} with "
                f"{cells[0][:40]!r} in the column {name!r}. Encode it as columns of zeros and ones."
            )
