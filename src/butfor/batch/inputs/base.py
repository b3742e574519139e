"""What all inputs share: columns that the user names, chunks of rows, and the rows themselves."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from butfor.batch.inputs.locations import Files
from butfor.errors import InputError

IdType = Literal["int", "string"]


@dataclass(frozen=True)
class Columns:
    """The columns of a table, as far as the user names them; the others are found by name and type."""

    id: str | None = None
    feature: str | None = None
    value: str | None = None
    """An empty name says that there are no values: each feature that is listed is 1."""
    text: str | None = None


@dataclass(frozen=True)
class Chunk:
    """Some rows that are explained together."""

    number: int
    n_rows: int
    place: tuple[int, ...]
    """Where its rows stand, in the terms of its input."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a chunk."""

    ids: list[Any]
    """An int or a str each, or None for a row that has no id."""
    given: Any
    """A CSR matrix, or a list of texts; a row that could not be read is empty."""
    errors: dict[int, str] = field(default_factory=dict)
    """What is wrong with a row, by its position in the chunk."""


class Input(Protocol):
    """Rows in files: small, can be pickled, and opens its files in whichever process reads them."""

    @property
    def holds_texts(self) -> bool:
        """Tell texts from rows of a matrix."""
        ...

    @property
    def kind(self) -> Literal["matrix", "long table", "lists", "texts"]:
        """Say what the files hold."""
        ...

    @property
    def id_type(self) -> IdType:
        """Say what ids are; those that are neither whole numbers nor strings are written as strings."""
        ...

    @property
    def files(self) -> Files:
        """Say where the rows are."""
        ...

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks, always the same ones, of `chunk_rows` rows each but for the last."""
        ...

    def read(self, chunk: Chunk) -> Rows:
        """Read the rows of a chunk: cheapest when a process reads its chunks in ascending order."""
        ...

    def fingerprint(self) -> str:
        """Give a name to the content: the same for the same rows, another one when they change."""
        ...

    def prepared(self, folder: str) -> "Input":
        """Unpack, into a local folder that the caller removes in the end, what cannot be read in place.

        Gives the input that reads from there. What is there already is used: processes may share the folder.
        """
        ...


def require_rows(n_rows: int) -> None:
    """Raise unless there is anything to explain."""
    if not n_rows:
        raise InputError("DATA must have at least one row, got none.")
