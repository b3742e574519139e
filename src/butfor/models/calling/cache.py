"""Scores kept in a file by the content of the row."""

import hashlib
import os
import sqlite3
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import FloatArray

COLUMNS = "key BLOB PRIMARY KEY, outputs BLOB"
FORM = "butfor scores 1"
"""What the file says it is."""


class ScoreCache:
    """A file of scores, by a hash of the row; it holds no row and no text.

    Parameters
    ----------
    path : str
        The file. It is made if it does not exist.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._of_process = 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave the connection behind: another process opens its own."""
        return {"path": self.path, "_connection": None, "_of_process": 0}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, FloatArray]:
        """Return the outputs of the rows that are known."""
        found: dict[bytes, FloatArray] = {}
        for start in range(0, len(keys), 500):  # SQLite takes some hundred parameters at a time
            some = list(keys[start : start + 500])
            marks = ", ".join("?" * len(some))
            rows = self._open().execute(f"SELECT key, outputs FROM scores WHERE key IN ({marks})", some)
            found |= {key: np.frombuffer(outputs) for key, outputs in rows}
        return found

    def put(self, keys: Sequence[bytes], outputs: FloatArray) -> None:
        """Keep outputs of rows, at once, so that an interrupt loses none."""
        values = [
            (key, np.asarray(line, dtype=float).tobytes()) for key, line in zip(keys, outputs, strict=True)
        ]
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", values)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._of_process != os.getpid():
            try:
                # Calls come from one thread at a time, not always the same.
                connection = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
                with connection:
                    connection.execute("CREATE TABLE IF NOT EXISTS about (form TEXT)")
                    if connection.execute("SELECT form FROM about").fetchone() is None:
                        connection.execute("INSERT INTO about VALUES (?)", [FORM])
                    connection.execute(f"CREATE TABLE IF NOT EXISTS scores ({COLUMNS})")
                (form,) = connection.execute("SELECT form FROM about").fetchone()
            except sqlite3.Error as error:
                raise InputError(
                    f"cache must be a file for scores that can be written to, got {self.path}: {error}."
                ) from error
            if form != FORM:
                raise InputError(f"cache must be a file of this version of butfor, got {self.path}: {form}.")
            self._connection, self._of_process = connection, os.getpid()
        return self._connection


def keys_of(X: Any) -> list[bytes]:
    """Return a hash of the content of each row, text or record.

    >>> from scipy.sparse import csr_matrix
    >>> one, other = keys_of(csr_matrix([[0, 1.0], [2.0, 0]]))
    >>> one == keys_of(csr_matrix([[0, 1.0]]))[0], one == other, one == keys_of(np.array([[0, 1.0]]))[0]
    (True, False, False)
    """
    if isinstance(X, list):
        return [_text_key(each) if isinstance(each, str) else _any_key(each) for each in X]
    if hasattr(X, "indptr"):
        about = f"csr {X.shape[1]} {X.dtype} {X.indices.dtype}"
        return [
            _hash(about, X.indices[start:end].tobytes(), X.data[start:end].tobytes())
            for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        ]
    if isinstance(X, np.ndarray) and X.dtype != object:
        return [_hash(f"dense {X.dtype}", np.ascontiguousarray(row).tobytes()) for row in X]
    places = X.iloc if hasattr(X, "iloc") else X
    return [_any_key(places[i : i + 1]) for i in range(len(X))]


def _text_key(text: str) -> bytes:
    return _hash("text", text.encode("utf-8", "surrogatepass"))


def _any_key(row: Any) -> bytes:
    """Return the hash of a record: of its values, whatever its number in a frame."""
    if hasattr(row, "to_dict") and hasattr(row, "columns"):
        names = [str(name) for name in row.columns]
        values = [row[name].to_list()[0] for name in row.columns]
        row = ("record", names, [str(dtype) for dtype in row.dtypes], values)
    return _hash("any", joblib.hash(row).encode())


def _hash(about: str, *contents: bytes) -> bytes:
    digest = hashlib.sha256(about.encode())
    for content in contents:
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.digest()
