"""Which row's explanation holds which features, in two flat arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


class RowFeatures:
    """The features of the explanations of all rows; every name is stored once.

    An entry is a row and the code of a feature, which is the position of its name.

    >>> features = RowFeatures()
    >>> features.add(0, ["free", "prize"])
    >>> features.add(2, ["free"])
    >>> features.most_common(1), features.mask("free", 3).tolist(), features.names_of(0, 5)
    ([('free', 2)], [True, False, True], ['free', 'prize'])
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._names: list[str] = []
        self._rows = np.zeros(1024, dtype=np.int32)
        self._feature_codes = np.zeros(1024, dtype=np.int32)
        self._n_entries = 0

    def add(self, row: int, names: Sequence[str]) -> None:
        """Add the features of one row."""
        self._append(row, [self._code(name) for name in names], len(names))

    def add_coded(self, rows: Any, codes: Any, names: Sequence[str]) -> None:
        """Add many entries; `codes` are positions in `names`."""
        own_codes = np.array([self._code(name) for name in names], dtype=np.int32)
        self._append(rows, own_codes[codes] if len(codes) else codes, len(codes))

    def most_common(self, n: int, rows: BoolArray | None = None) -> list[tuple[str, int]]:
        """Return the features of the most rows, and of how many; `rows` is a mask of the rows to count."""
        codes = self._feature_codes[: self._n_entries]
        if rows is not None:
            codes = codes[rows[self._rows[: self._n_entries]]]
        counts = np.bincount(codes, minlength=len(self._names))
        first = np.argsort(-counts, kind="stable")[:n].tolist()
        return [(self._names[code], int(counts[code])) for code in first if counts[code]]

    def mask(self, name: str, n_rows: int) -> BoolArray:
        """Return for each row whether its explanation holds the feature."""
        return self._rows_with(self._feature_codes[: self._n_entries] == self._codes.get(name, -1), n_rows)

    def containing(self, query: str, n_rows: int) -> BoolArray:
        """Return for each row whether the name of one of its features contains the query, ignoring case."""
        wanted = query.casefold()
        is_matching = np.array([wanted in name.casefold() for name in self._names] or [False])
        return self._rows_with(is_matching[self._feature_codes[: self._n_entries]], n_rows)

    def names_of(self, row: int, at_most: int) -> list[str]:
        """Return the first features of a row; rows must have been added in increasing order."""
        # With another dtype, searchsorted would copy all rows.
        first, end = np.searchsorted(self._rows[: self._n_entries], np.array([row, row + 1], dtype=np.int32))
        return [self._names[code] for code in self._feature_codes[first : min(end, first + at_most)]]

    def _rows_with(self, entries: BoolArray, n_rows: int) -> BoolArray:
        found = np.zeros(n_rows, dtype=bool)
        found[self._rows[: self._n_entries][entries]] = True
        return found

    def _code(self, name: str) -> int:
        code = self._codes.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        return code

    def _append(self, rows: Any, codes: Any, n: int) -> None:
        end = self._n_entries + n
        if end > len(self._rows):
            room = max(end, 2 * len(self._rows))
            self._rows = np.resize(self._rows, room)
            self._feature_codes = np.resize(self._feature_codes, room)
        self._rows[self._n_entries : end] = rows
        self._feature_codes[self._n_entries : end] = codes
        self._n_entries = end
