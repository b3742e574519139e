"""Files that are read from the top, such as CSV: the plan notes at which byte each chunk begins."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from butfor._checks import require_count
from butfor._files.inputs.base import BLOCK_ROWS, Chunk, IdType, InputRows, require_rows
from butfor._files.inputs.locations import Files, files_changed
from butfor.errors import InputError

ParsedRow = tuple[int | str | None, Any, str | None]
"""The id of a row; its text or numbers, or None where they could not be read; and what is wrong with it.

A plain tuple, as there are millions of them.
"""


class FileRecords(Protocol):
    """The records of a file from a byte on."""

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Yield each record, not parsed, with the byte at which it begins, or a blank line before it."""
        ...

    @property
    def line(self) -> int:
        """How many lines of the file have been read."""
        ...


Parse = Callable[[Any, int], ParsedRow]
"""Parses a record that has this number among all rows."""


@dataclass(frozen=True)
class SequentialInput(ABC):
    """Rows of files in which a record can be found only by reading what stands before it."""

    files: Files
    id: str | None
    """The column of ids; without one, rows have their numbers."""
    id_type: IdType

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks, once all files have been read to the end.

        The place is (file, byte of it, lines before it, row of all).
        """
        require_count("chunk_rows", chunk_rows)
        n_rows, places = 0, array("q")
        for file in range(len(self.files.paths)):
            with self._opened(file) as (records, _):
                before = records.line
                for byte, _ in records:
                    if n_rows % chunk_rows == 0:
                        places.extend((file, byte, before))
                    n_rows, before = n_rows + 1, records.line
        require_rows(n_rows)
        for number in range(len(places) // 3):
            rows = min(chunk_rows, n_rows - number * chunk_rows)
            yield Chunk(number, rows, (*places[3 * number : 3 * number + 3], number * chunk_rows))

    def read(self, chunk: Chunk) -> InputRows:
        """Read the rows of a chunk, across files."""
        file, byte, line, number = chunk.place
        rows: list[ParsedRow] = []
        while len(rows) < chunk.n_rows:
            if file == len(self.files.paths):
                raise files_changed()
            with self._opened(file, byte, line) as (records, parse):
                some = islice(records, chunk.n_rows - len(rows))
                first = number + len(rows)
                rows += [parse(record, row) for row, (_, record) in enumerate(some, start=first)]
            file, byte, line = file + 1, 0, 0
        return self._together(rows)

    def blocks(self, wanted: Collection[int] | None = None) -> Iterator[tuple[int, InputRows]]:
        """Yield all rows, some at a time; rows before a fault of a file come before the error."""
        first, rows = 0, list[ParsedRow]()
        try:
            for row in self._parsed():
                rows.append(row)
                if len(rows) == BLOCK_ROWS:
                    yield first, self._together(rows)
                    first, rows = first + len(rows), []
        except InputError:
            if rows:
                yield first, self._together(rows)
            raise
        if rows:
            yield first, self._together(rows)
        require_rows(first + len(rows))

    def repeated_ids(self) -> list[Any]:
        """Return none: ids are looked at as rows are read."""
        return []

    def prepared(self, folder: str) -> Self:
        """Return itself: the files are read in place."""
        return self

    def _parsed(self) -> Iterator[ParsedRow]:
        number = 0
        for file in range(len(self.files.paths)):
            with self._opened(file) as (records, parse):
                for _, record in records:
                    yield parse(record, number)
                    number += 1

    def _together(self, rows: list[ParsedRow]) -> InputRows:
        ids, content, problems = map(list, zip(*rows, strict=True))
        errors = {position: problem for position, problem in enumerate(problems) if problem is not None}
        return InputRows(ids, self._stacked(content), errors)

    @abstractmethod
    def _opened(
        self, file: int, byte: int = 0, line: int = 0
    ) -> AbstractContextManager[tuple[FileRecords, Parse]]:
        """Open a file at its first record, or at the byte of another one behind so many lines."""

    @abstractmethod
    def _stacked(self, content: list[Any]) -> Any:
        """Put rows together, of which those that could not be read are None."""


def stacked_texts(content: list[str | None]) -> list[str]:
    """Return texts, of which those that could not be read are empty."""
    return [text or "" for text in content]


def stacked_numbers(content: list[list[float] | None], n_columns: int) -> npt.NDArray[np.float64]:
    """Return a dense matrix; the rows that could not be read are zero.

    >>> stacked_numbers([[1.0, 2.0], None], 2)
    array([[1., 2.],
           [0., 0.]])
    """
    empty = [0.0] * n_columns
    return np.array([empty if row is None else row for row in content], dtype=np.float64).reshape(
        len(content), n_columns
    )
