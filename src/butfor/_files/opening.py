"""Text files opened with care: they must be there, and be UTF-8."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from butfor.errors import InputError


def require_file(argument: str, path: Path) -> None:
    """Raise unless there is a file of this name."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise InputError(f"{argument} must be a file, got {path}, which {what}.")


@contextmanager
def opened(argument: str, path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Open a UTF-8 text file, with a byte order mark or without; an error names what is wrong with it."""
    require_file(argument, path)
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            yield file
    except UnicodeDecodeError as error:
        raise InputError(f"{argument} must be UTF-8 text, got {path}, which {not_utf8(error)}") from error
    except OSError as error:
        raise InputError(f"{argument} must be a file that can be read, got {path}: {error}") from error


def not_utf8(error: UnicodeDecodeError) -> str:
    """Return what is wrong with bytes that are no UTF-8, and what to do about it."""
    byte = error.object[error.start]
    return f"holds the byte 0x{byte:02x} where UTF-8 has none such. Save the text as UTF-8."


def is_utf8(text: str) -> bool:
    """Return whether UTF-8 can hold a text: lone surrogates stand for bytes or halves that it cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
