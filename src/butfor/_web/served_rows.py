"""DATA, held by the server: rows of a matrix, or texts, each found by its number."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from butfor._render.words import shortened
from butfor.errors import ButforError

BoolArray = npt.NDArray[np.bool_]
Kind = Literal["texts", "items", "records"]

LONGEST_PREVIEW = 160
"""Characters of a row in a table."""
ITEMS_SHOWN = 12
"""Names of items of a row in a table, at most: more do not fit anyway."""
ROWS_SEARCHED = 100_000
"""Rows of a matrix that are searched at a time, to bound the memory that it takes."""
BETWEEN = b"\xff"
"""Stands between texts in UTF-8, which has no such byte."""


class ListedRows(Protocol):
    """Rows by their numbers, from 0, as far as a table shows them."""

    def __len__(self) -> int: ...

    def id(self, number: int) -> int | str:
        """Return what a row is called: its id, or its number where it has none."""
        ...

    def preview(self, number: int) -> str:
        """Return some words on a row."""
        ...

    def matching(self, query: str) -> BoolArray:
        """Return for each row whether its text, or the name of one of its items, contains the query."""
        ...


class ServedRows(ListedRows, Protocol):
    """Rows that can be explained."""

    @property
    def kind(self) -> Kind:
        """Whether they are texts, rows of items, or records."""
        ...

    def at(self, number: int) -> Any:
        """Return a row as an Explainer takes it; raise what is wrong with it."""
        ...

    def some(self, numbers: Sequence[int]) -> Any:
        """Return several rows that can be read."""
        ...

    def errors(self) -> dict[int, ButforError]:
        """Return what is wrong with the rows that cannot be read."""
        ...

    def text(self, number: int) -> str | None:
        """Return the text of a row, if it has one."""
        ...


class ServedTexts:
    """Texts, with those that could not be read as errors in their places.

    >>> rows = ServedTexts(["Free prize!", "Call mum"])
    >>> rows.matching("PRIZE").tolist(), rows.preview(1)
    ([True, False], 'Call mum')
    """

    kind: Kind = "texts"

    def __init__(
        self, texts: Sequence[str | ButforError], ids: Sequence[int | str | None] | None = None
    ) -> None:
        self._texts = texts
        self._ids = ids

    def __len__(self) -> int:
        return len(self._texts)

    def at(self, number: int) -> str:
        """Return a text; raise what is wrong with it."""
        text = self._texts[number]
        if isinstance(text, ButforError):
            raise text
        return text

    def some(self, numbers: Sequence[int]) -> list[str]:
        """Return several texts that can be read."""
        return [self.at(number) for number in numbers]

    def errors(self) -> dict[int, ButforError]:
        """Return what is wrong with the texts that cannot be read."""
        return {number: text for number, text in enumerate(self._texts) if isinstance(text, ButforError)}

    def id(self, number: int) -> int | str:
        """Return what a text is called."""
        return row_id(self._ids, number)

    def text(self, number: int) -> str | None:
        """Return a text, if it could be read."""
        text = self._texts[number]
        return None if isinstance(text, ButforError) else text

    def preview(self, number: int) -> str:
        """Return the beginning of a text, in one line."""
        beginning = (self.text(number) or "")[: 4 * LONGEST_PREVIEW]
        return shortened(" ".join(beginning.split()), LONGEST_PREVIEW)

    def matching(self, query: str) -> BoolArray:
        """Return for each text whether it contains the query, be it in small letters or capitals."""
        wanted, (content, starts) = _folded(query), self._searchable
        found = np.zeros(len(self), dtype=bool)
        place = content.find(wanted)
        while place >= 0:
            number = bisect_right(starts, place) - 1
            found[number] = True
            if number + 1 == len(self):
                break
            place = content.find(wanted, starts[number + 1])
        return found

    @cached_property
    def _searchable(self) -> tuple[bytes, list[int]]:
        """All texts behind one another, and where each begins: one search through it is a search of all."""
        folded = [_folded(text) if isinstance(text, str) else b"" for text in self._texts]
        lengths = np.fromiter((len(text) + len(BETWEEN) for text in folded), np.int64, len(folded))
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if folded else np.zeros(0, np.int64)
        return BETWEEN.join(folded), starts.tolist()


class ServedItems:
    """Rows of a CSR matrix or a dense one; columns without names are called as an Explainer calls them.

    >>> from scipy import sparse
    >>> rows = ServedItems(sparse.csr_matrix([[1, 0, 2], [0, 1, 0]]), ["It", "Up", "Alien"])
    >>> rows.preview(0), rows.matching("al").tolist()
    ('It, Alien', [True, False])
    """

    kind: Kind = "items"

    def __init__(
        self,
        X: Any,
        names: Sequence[str] | None = None,
        ids: Sequence[int | str | None] | None = None,
        errors: Mapping[int, ButforError] | None = None,
    ) -> None:
        self._X = X
        self._names = names
        self._ids = ids
        self._errors = dict(errors or {})

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def at(self, number: int) -> Any:
        """Return a row; raise what is wrong with it, as far as that is known before it is explained."""
        if number in self._errors:
            raise self._errors[number]
        return self._X[number : number + 1]

    def some(self, numbers: Sequence[int]) -> Any:
        """Return several rows."""
        return self._X[list(numbers)]

    def errors(self) -> dict[int, ButforError]:
        """Return what is wrong with the rows that could not be read."""
        return dict(self._errors)

    def id(self, number: int) -> int | str:
        """Return what a row is called."""
        return row_id(self._ids, number)

    def text(self, number: int) -> str | None:
        """Return nothing: there is no text."""
        return None

    def preview(self, number: int) -> str:
        """Return the names of some items."""
        columns = self._columns(number)
        return previewed([self._name(column) for column in columns[: ITEMS_SHOWN + 1].tolist()])

    def matching(self, query: str) -> BoolArray:
        """Return for each row whether an item's name contains the query, in small letters or capitals."""
        wanted, n_columns = query.casefold(), self._X.shape[1]
        names = map(self._name, range(n_columns))
        is_meant = np.fromiter((wanted in name.casefold() for name in names), bool, n_columns)
        found = np.zeros(len(self), dtype=bool)
        for first in range(0, len(self), ROWS_SEARCHED):
            found[self._rows_with(is_meant, first, min(first + ROWS_SEARCHED, len(self)))] = True
        return found

    def _columns(self, number: int) -> npt.NDArray[Any]:
        """Return the columns of a row that are not zero."""
        X = self._X
        if isinstance(X, np.ndarray):
            return np.flatnonzero(X[number])
        start, end = X.indptr[number : number + 2]
        columns: npt.NDArray[Any] = X.indices[start:end][X.data[start:end] != 0]
        return columns

    def _rows_with(self, is_meant: BoolArray, first: int, end: int) -> npt.NDArray[np.int64]:
        """Return which of some rows are not zero in a column that is meant."""
        X = self._X
        if isinstance(X, np.ndarray):
            found = np.zeros(end - first, dtype=bool)
            for column in np.flatnonzero(is_meant):
                found |= X[first:end, column] != 0
            return first + np.flatnonzero(found)
        bounds = X.indptr[first : end + 1]
        inside = slice(bounds[0], bounds[-1])
        hits = np.flatnonzero(is_meant[X.indices[inside]] & (X.data[inside] != 0)) + bounds[0]
        rows: npt.NDArray[np.int64] = first + np.searchsorted(bounds, hits, side="right") - 1
        return rows

    def _name(self, column: int) -> str:
        return f"feature {column}" if self._names is None else self._names[column]


def row_id(ids: Sequence[int | str | None] | None, number: int) -> int | str:
    """Return the id of a row, or its number where it has none."""
    id = None if ids is None else ids[number]
    return number if id is None else id


def previewed(names: Sequence[str]) -> str:
    """Return names of items as a table shows them.

    >>> previewed(["It", "Up"])
    'It, Up'
    """
    more = ", …" if len(names) > ITEMS_SHOWN else ""
    return shortened(", ".join(names[:ITEMS_SHOWN]) + more, LONGEST_PREVIEW)


def _folded(text: str) -> bytes:
    return text.casefold().encode(errors="surrogatepass")
