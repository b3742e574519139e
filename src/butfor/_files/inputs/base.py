"""What all inputs share: columns that the user names, what the model reads, chunks of rows, the rows."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

import numpy as np

from butfor._files.inputs.locations import Files
from butfor.errors import InputError

IdType = Literal["int", "string"]
BLOCK_ROWS = 1_000
"""Rows that are held at a time where rows are read one after the other."""


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a table, as far as the user names them; the others are found by name and type.

    Parameters
    ----------
    id : str, optional
        The column of row ids.
    feature : str, optional
        The column that holds a feature, or a list of them. An empty name says that there is no such column:
        each column of numbers is a feature.
    value : str, optional
        The column that holds the values of features. An empty name says that there are no values: each
        feature that is listed is 1.
    text : str, optional
        The column of texts.
    """

    id: str | None = None
    feature: str | None = None
    value: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class RecordNeeds:
    """What a model reads that takes records."""

    form: str = "frame"
    """In which form it takes them: "frame", "dicts" or "lists"; "array" is a frame without names."""
    columns: tuple[tuple[str, str | None], ...] | None = None
    """Its columns, by name, and what they hold: "text", "items", "category", "code" (a category that is a
    number) or "number"; None where the model does not tell."""


@dataclass(frozen=True)
class ModelNeeds:
    """What a model reads, as far as that is known."""

    takes_texts: bool
    n_features: int | None = None
    names: tuple[str, ...] | None = None
    """The names of its features, in the order of the columns."""
    records: RecordNeeds | None = None
    """What it reads of records, if it takes those."""

    @property
    def holds(self) -> str:
        """What DATA must hold for it: "texts", "records" or "numbers"."""
        return "records" if self.records is not None else "texts" if self.takes_texts else "numbers"

    @property
    def n_columns(self) -> int | None:
        """How many columns a row has, by the model or by the names; None where nobody knows."""
        return len(self.names) if self.n_features is None and self.names is not None else self.n_features


@dataclass(frozen=True)
class Chunk:
    """Some rows that are one task of a batch."""

    number: int
    n_rows: int
    place: tuple[int, ...]
    """Where its rows are, in the terms of its input."""


@dataclass(frozen=True, eq=False)
class InputRows:
    """Rows that were read."""

    ids: list[Any]
    """An int or a str for each row, or None for a row that has no id."""
    content: Any
    """A CSR matrix, a dense matrix, a list of texts, or records. A row that could not be read is empty."""
    errors: dict[int, str] = field(default_factory=dict)
    """What is wrong with a row, by its position among these rows."""


class Input(Protocol):
    """Rows in files. An input is small, can be pickled, and opens its files in the process that reads."""

    @property
    def holds_texts(self) -> bool:
        """Whether the rows are texts, not numbers."""
        ...

    @property
    def kind(self) -> str:
        """What the files hold, in a word or two."""
        ...

    @property
    def id_type(self) -> IdType:
        """The type of the ids; those that are neither whole numbers nor strings become strings."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names that the files have for the columns of the matrix; None where they have none."""
        ...

    @property
    def files(self) -> Files:
        """The files that hold the rows."""
        ...

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks, always the same ones, of `chunk_rows` rows each but for the last."""
        ...

    def read(self, chunk: Chunk) -> InputRows:
        """Read the rows of a chunk. It is cheapest to read chunks in ascending order."""
        ...

    def blocks(self, wanted: Collection[int] | None = None) -> Iterator[tuple[int, InputRows]]:
        """Yield all rows, some at a time, each block with the number of its first row.

        Blocks without a `wanted` row may be left out. What is wrong with the end of a file may be raised
        only after the rows before it.
        """
        ...

    def fingerprint(self) -> str:
        """Return a hash of the content: the same for the same rows, another one when they change."""
        ...

    def repeated_ids(self) -> list[Any]:
        """Return ids that come more than once, where the files can tell without being read as a whole."""
        ...

    def prepared(self, folder: str) -> "Input":
        """Unpack what cannot be read in place, and return the input that reads from there.

        The folder is a local one that the caller removes in the end. What is there already is used:
        processes may share the folder.
        """
        ...


class ChunkedInput(ABC):
    """What inputs share that are read in place and find any chunk without reading those before it."""

    @abstractmethod
    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""

    @abstractmethod
    def read(self, chunk: Chunk) -> InputRows:
        """Read the rows of a chunk."""

    def blocks(self, wanted: Collection[int] | None = None) -> Iterator[tuple[int, InputRows]]:
        """Yield all rows, some at a time; only the chunks that hold wanted rows are read."""
        for chunk in self.chunks(BLOCK_ROWS):
            numbers = range(chunk.number * BLOCK_ROWS, chunk.number * BLOCK_ROWS + chunk.n_rows)
            if wanted is None or any(number in numbers for number in wanted):
                yield numbers.start, self.read(chunk)

    def repeated_ids(self) -> list[Any]:
        """Return none: ids are row numbers, or are looked at as rows are read."""
        return []

    def prepared(self, folder: str) -> Self:
        """Return itself: the files are read in place."""
        return self


def joined_matrices(blocks: Sequence[Any]) -> Any:
    """Return the rows of several matrices, all of CSR or all dense, as one matrix."""
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    from scipy import sparse

    return sparse.vstack(blocks, format="csr")


def require_rows(n_rows: int) -> None:
    """Raise unless there is anything to explain."""
    if not n_rows:
        raise InputError("DATA must have at least one row, got none.")
