"""DATA, held by the server: rows of a matrix, or texts, each at hand by its number."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from butfor.errors import ButforError
from butfor.files import Source
from butfor.render.words import shortened

BoolArray = npt.NDArray[np.bool_]
Kind = Literal["texts", "items"]

LONGEST_PREVIEW = 160
"""Characters of a row in a table."""
ITEMS_SHOWN = 12
"""Names of items of a row in a table, at most: more do not fit anyway."""
ROWS_SEARCHED = 100_000
"""Rows of a matrix that are searched at a time, to bound the memory that it takes."""
BETWEEN = b"\xff"
"""Stands between texts in UTF-8, which has no such byte."""


class Shown(Protocol):
    """Rows by their numbers, from 0, as far as a table shows them."""

    def __len__(self) -> int: ...

    def id(self, number: int) -> int | str:
        """Say what a row is called: its number, unless it has a name."""
        ...

    def preview(self, number: int) -> str:
        """Give some words on a row."""
        ...

    def matching(self, query: str) -> BoolArray:
        """Tell for each row whether its text, or the name of one of its items, contains these characters."""
        ...


class Given(Shown, Protocol):
    """Rows that can be explained."""

    @property
    def kind(self) -> Kind:
        """Say whether they are texts, or rows of items."""
        ...

    def at(self, number: int) -> Any:
        """Give a row as an Explainer takes it; raise what is wrong with it."""
        ...

    def some(self, numbers: Sequence[int]) -> Any:
        """Give several rows that can be read."""
        ...

    def errors(self) -> dict[int, ButforError]:
        """Give the rows that cannot be read."""
        ...

    def text(self, number: int) -> str | None:
        """Give the text of a row, if it has one."""
        ...


class Texts:
    """Texts, with those that could not be read as errors in their places.

    >>> given = Texts(["Free prize!", "Call mum"])
    >>> given.matching("PRIZE").tolist(), given.preview(1)
    ([True, False], 'Call mum')
    """

    kind: Kind = "texts"

    def __init__(self, texts: Sequence[str | ButforError], ids: Sequence[str] | None = None) -> None:
        self._texts = texts
        self._ids = ids

    def __len__(self) -> int:
        return len(self._texts)

    def at(self, number: int) -> str:
        """Give a text; raise what is wrong with it."""
        text = self._texts[number]
        if isinstance(text, ButforError):
            raise text
        return text

    def some(self, numbers: Sequence[int]) -> list[str]:
        """Give several texts that can be read."""
        return [self.at(number) for number in numbers]

    def errors(self) -> dict[int, ButforError]:
        """Give the texts that cannot be read."""
        return {number: text for number, text in enumerate(self._texts) if isinstance(text, ButforError)}

    def id(self, number: int) -> int | str:
        """Say what a text is called."""
        return number if self._ids is None else self._ids[number]

    def text(self, number: int) -> str | None:
        """Give a text, if it could be read."""
        text = self._texts[number]
        return None if isinstance(text, ButforError) else text

    def preview(self, number: int) -> str:
        """Give the beginning of a text, in one line."""
        beginning = (self.text(number) or "")[: 4 * LONGEST_PREVIEW]
        return shortened(" ".join(beginning.split()), LONGEST_PREVIEW)

    def matching(self, query: str) -> BoolArray:
        """Tell for each text whether it contains these characters, be they small or capital."""
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


class Items:
    """Rows of a CSR matrix; columns without names are called as an Explainer calls them.

    >>> from scipy import sparse
    >>> given = Items(sparse.csr_matrix([[1, 0, 2], [0, 1, 0]]), ["It", "Up", "Alien"])
    >>> given.preview(0), given.matching("al").tolist()
    ('It, Alien', [True, False])
    """

    kind: Kind = "items"

    def __init__(self, X: Any, names: Sequence[str] | None = None) -> None:
        self._X = X
        self._names = names

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def at(self, number: int) -> Any:
        """Give a row."""
        return self._X[number : number + 1]

    def some(self, numbers: Sequence[int]) -> Any:
        """Give several rows."""
        return self._X[list(numbers)]

    def errors(self) -> dict[int, ButforError]:
        """Give no rows: what is wrong with one is seen when it is explained."""
        return {}

    def id(self, number: int) -> int | str:
        """Give the number of the row."""
        return number

    def text(self, number: int) -> str | None:
        """Give nothing: there is no text."""
        return None

    def preview(self, number: int) -> str:
        """Give the names of some items."""
        start, end = self._X.indptr[number : number + 2]
        columns = self._X.indices[start:end][self._X.data[start:end] != 0]
        return previewed([self._name(column) for column in columns[: ITEMS_SHOWN + 1].tolist()])

    def matching(self, query: str) -> BoolArray:
        """Tell for each row whether an item's name contains these characters, be they small or capital."""
        wanted, X = query.casefold(), self._X
        names = map(self._name, range(X.shape[1]))
        is_meant = np.fromiter((wanted in name.casefold() for name in names), bool, X.shape[1])
        found = np.zeros(len(self), dtype=bool)
        for first in range(0, len(self), ROWS_SEARCHED):
            bounds = X.indptr[first : first + ROWS_SEARCHED + 1]
            inside = slice(bounds[0], bounds[-1])
            hits = np.flatnonzero(is_meant[X.indices[inside]] & (X.data[inside] != 0)) + bounds[0]
            found[first + np.searchsorted(bounds, hits, side="right") - 1] = True
        return found

    def _name(self, column: int) -> str:
        return f"feature {column}" if self._names is None else self._names[column]


def given_by(source: Source, names: Sequence[str] | None = None) -> Given:
    """Take in all that a source holds; `names` are those of the columns of a matrix."""
    if source.matrix is not None:
        return Items(source.matrix, names)
    items = list(source.items)
    named = any(item.label != f"row {item.number}" for item in items)
    return Texts([item.given for item in items], [item.label for item in items] if named else None)


def previewed(names: Sequence[str]) -> str:
    """Write names of items for a table.

    >>> previewed(["It", "Up"])
    'It, Up'
    """
    more = ", …" if len(names) > ITEMS_SHOWN else ""
    return shortened(", ".join(names[:ITEMS_SHOWN]) + more, LONGEST_PREVIEW)


def _folded(text: str) -> bytes:
    return text.casefold().encode(errors="surrogatepass")
