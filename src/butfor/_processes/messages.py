"""Messages between a process and its worker: each is preceded by its length."""

import pickle
from collections.abc import Callable
from typing import Any, BinaryIO

Note = Callable[[Any], None]
"""Takes whatever a call reports while it runs."""
NUMBER_BYTES = 8
"""Every request begins with its number, in so many bytes. A request of nothing else stops that call."""


def pickled(kind: str, content: Any) -> bytes:
    """Return a message of a worker: its kind, and what it carries."""
    return pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)


def write_message(pipe: BinaryIO, message: bytes) -> None:
    """Write a message, and its length before it."""
    pipe.write(len(message).to_bytes(8, "little") + message)
    pipe.flush()


def read_message(pipe: BinaryIO) -> bytes:
    """Read a message; raise EOFError where the other process has closed the pipe."""
    return _exactly(pipe, int.from_bytes(_exactly(pipe, 8), "little"))


def _exactly(pipe: BinaryIO, n_bytes: int) -> bytes:
    read = pipe.read(n_bytes)
    if len(read) < n_bytes:
        raise EOFError
    return read
