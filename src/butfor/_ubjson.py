"""A reader of UBJSON, the binary form of JSON in which XGBoost writes models."""

from typing import Any

import numpy as np

NUMBERS: dict[bytes, np.dtype[Any]] = {
    b"i": np.dtype(">i1"),
    b"U": np.dtype(">u1"),
    b"I": np.dtype(">i2"),
    b"l": np.dtype(">i4"),
    b"L": np.dtype(">i8"),
    b"d": np.dtype(">f4"),
    b"D": np.dtype(">f8"),
}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}
DEEPEST = 100
"""How many objects and lists may be within each other."""


def read_ubjson(content: bytes) -> Any:
    """Return what a document holds; lists of numbers of one type are arrays.

    Raise `ValueError` where it is no UBJSON, or has no end.

    >>> read_ubjson(b"{i\\x01a[$U#i\\x02\\x05\\x06}")
    {'a': array([5, 6], dtype=uint8)}
    """
    reader = _Ubjson(content)
    value = reader.value(reader.take(1), DEEPEST)
    if reader.place != len(content):
        raise ValueError(f"{len(content) - reader.place:,} bytes are left over")
    return value


class _Ubjson:
    """A place in a document."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, n_bytes: int) -> bytes:
        """Return the next bytes."""
        if not 0 <= n_bytes <= len(self.content) - self.place:
            raise ValueError("it ends too early")
        self.place += n_bytes
        return self.content[self.place - n_bytes : self.place]

    def value(self, marker: bytes, depth: int) -> Any:
        """Return the value that follows a marker."""
        if depth == 0:
            raise ValueError("it is too deep")
        if marker in NUMBERS:
            return self._numbers(marker, 1)[0].item()
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker == b"S":
            return self._string()
        if marker == b"C":
            return self.take(1).decode("latin-1")
        if marker == b"[":
            return self._list(depth)
        if marker == b"{":
            return self._object(depth)
        raise ValueError(f"{marker!r} is no type")

    def _list(self, depth: int) -> Any:
        marker = self.take(1)
        if marker == b"$":
            kind = self.take(1)
            if self.take(1) != b"#" or kind not in NUMBERS:
                raise ValueError(f"{kind!r} is no type of numbers")
            return self._numbers(kind, self._count())
        if marker == b"#":
            return [self.value(self.take(1), depth - 1) for _ in range(self._count())]
        values = []
        while marker != b"]":
            values.append(self.value(marker, depth - 1))
            marker = self.take(1)
        return values

    def _object(self, depth: int) -> dict[str, Any]:
        values = {}
        while self.content[self.place : self.place + 1] != b"}":
            key = self._string()
            values[key] = self.value(self.take(1), depth - 1)
        self.place += 1
        return values

    def _string(self) -> str:
        return self.take(self._count()).decode()

    def _count(self) -> int:
        marker = self.take(1)
        if marker not in NUMBERS or NUMBERS[marker].kind == "f":
            raise ValueError(f"{marker!r} is no type of a length")
        return int(self._numbers(marker, 1)[0])

    def _numbers(self, marker: bytes, count: int) -> Any:
        dtype = NUMBERS[marker]
        return np.frombuffer(self.take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
