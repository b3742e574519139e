"""Which feature is part of the explanation of which row: two flat arrays that grow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


class Pairs:
    """Pairs of a row and the name of a feature, with every name kept once.

    >>> pairs = Pairs()
    >>> pairs.add(0, ["free", "prize"])
    >>> pairs.add(2, ["free"])
    >>> pairs.most_common(1), pairs.mask("free", 3).tolist(), pairs.names_of(0, 5)
    ([('free', 2)], [True, False, True], ['free', 'prize'])
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._names: list[str] = []
        self._rows = np.zeros(1024, dtype=np.int32)
        self._features = np.zeros(1024, dtype=np.int32)
        self._n = 0

    def add(self, row: int, names: Sequence[str]) -> None:
        """Add the features of one row."""
        self._append(row, [self._code(name) for name in names], len(names))

    def add_coded(self, rows: Any, codes: Any, names: Sequence[str]) -> None:
        """Add many pairs; a feature is given by its place in `names`."""
        ours = np.array([self._code(name) for name in names], dtype=np.int32)
        self._append(rows, ours[codes] if len(codes) else codes, len(codes))

    def most_common(self, n: int, rows: BoolArray | None = None) -> list[tuple[str, int]]:
        """Give the features of the most rows, and of how many; `rows` says which rows count."""
        features = self._features[: self._n]
        if rows is not None:
            features = features[rows[self._rows[: self._n]]]
        counts = np.bincount(features, minlength=len(self._names))
        first = np.argsort(-counts, kind="stable")[:n].tolist()
        return [(self._names[code], int(counts[code])) for code in first if counts[code]]

    def mask(self, name: str, n_rows: int) -> BoolArray:
        """Tell for each row whether the feature is part of its explanation."""
        return self._rows_with(self._features[: self._n] == self._codes.get(name, -1), n_rows)

    def containing(self, query: str, n_rows: int) -> BoolArray:
        """Tell for each row whether the name of one of its features contains these characters."""
        wanted = query.casefold()
        is_meant = np.array([wanted in name.casefold() for name in self._names] or [False])
        return self._rows_with(is_meant[self._features[: self._n]], n_rows)

    def names_of(self, row: int, at_most: int) -> list[str]:
        """Give the first features of a row, where rows were added in their order."""
        # Of the same type, so that the search does not copy all rows.
        first, end = np.searchsorted(self._rows[: self._n], np.array([row, row + 1], dtype=np.int32))
        return [self._names[code] for code in self._features[first : min(end, first + at_most)]]

    def _rows_with(self, pairs: BoolArray, n_rows: int) -> BoolArray:
        found = np.zeros(n_rows, dtype=bool)
        found[self._rows[: self._n][pairs]] = True
        return found

    def _code(self, name: str) -> int:
        code = self._codes.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        return code

    def _append(self, rows: Any, features: Any, n: int) -> None:
        end = self._n + n
        if end > len(self._rows):
            room = max(end, 2 * len(self._rows))
            self._rows, self._features = np.resize(self._rows, room), np.resize(self._features, room)
        self._rows[self._n : end] = rows
        self._features[self._n : end] = features
        self._n = end
