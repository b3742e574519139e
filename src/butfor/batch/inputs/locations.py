"""Where files are: on a disk, or wherever fsspec reaches; what is in them, as a fingerprint."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from butfor.errors import InputError
from butfor.files.tables import DELIMITERS, PARQUET
from butfor.render.extras import optional

KINDS = {".npz": "matrix", **dict.fromkeys(PARQUET, "Parquet"), **dict.fromkeys(DELIMITERS, "CSV or TSV")}
BLOCK = 2**22
"""Bytes that are read at a time."""


@dataclass(frozen=True)
class Files:
    """Files of one kind, in the order in which their rows are counted."""

    paths: tuple[str, ...]
    """Local ones in full, so that they are found from any folder; others as URLs."""
    stamp: str = ""
    """Changes when a file is written anew, so that what was opened before is not read instead."""

    @property
    def suffix(self) -> str:
        """How the names end, in small letters."""
        return _suffix(self.paths[0])

    @contextmanager
    def opened(self, number: int) -> Iterator[Any]:
        """Open a file for reading bytes; a disk or a network that fails is said of DATA."""
        path = self.paths[number]
        try:
            with open_bytes(path) as file:
                yield file
        except OSError as error:
            raise InputError(f"DATA must be files that can be read, got {path}: {error}") from error

    def fingerprint(self, *more: Any) -> str:
        """Hash the content of local files; of others what their storage says of their state."""
        digest = hashlib.blake2b(repr(more).encode(), digest_size=16)
        for number, path in enumerate(self.paths):
            digest.update(self._content(number, path))
        return digest.hexdigest()

    def _content(self, number: int, path: str) -> bytes:
        fs, place = _located(path)
        if not is_local(fs):
            return f"{fs.ukey(place)} {fs.size(place)}".encode()
        digest = hashlib.blake2b(digest_size=32)
        with self.opened(number) as file:
            while block := file.read(BLOCK):
                digest.update(block)
        return digest.digest()


def files_changed() -> InputError:
    """Say that files hold less than they did when their rows were counted."""
    return InputError("DATA must stay as it is while it is read, got files that have become shorter.")


def find_files(data: Sequence[str]) -> Files:
    """Find the files that DATA means: files, patterns with * or ?, and folders, all of one kind.

    Of a folder, and the folders in it, all files count that end like a table or a matrix, in the order of
    their names. What starts with a dot or an underscore is left out, unless it is named itself: Spark and
    others keep their notes there.
    """
    if not data:
        raise InputError("DATA must be at least one file or folder, got none.")
    found = [each for path in data for each in _files_at(path)]
    if len(set(found)) < len(found):
        twice = next(path for i, path in enumerate(found) if path in found[:i])
        raise InputError(f"DATA must name each file once, got {twice} twice.")
    kinds = dict.fromkeys(KINDS.get(_suffix(path), path) for path in found)
    if not kinds.keys() <= set(KINDS.values()):
        unknown = next(path for path in found if _suffix(path) not in KINDS)
        raise InputError(f"DATA must end in one of {', '.join(KINDS)}, got {unknown}.")
    if len({_suffix(path) for path in found}) > 1 and kinds.keys() != {"Parquet"}:
        raise InputError(f"DATA must be files of one kind, got {' and '.join(kinds)}.")
    return Files(tuple(found), _stamp(found))


def _files_at(path: str) -> list[str]:
    fs, place = _located(path)
    try:
        if fs.isfile(place):
            return [_full(fs, place)]
        if fs.isdir(place):
            return _files_below(fs, place, path)
        matches = sorted(fs.glob(place)) if any(letter in place for letter in "*?[") else []
        matches = [match for match in matches if PurePosixPath(match).name[0] not in "._"]
    except OSError as error:
        raise InputError(f"DATA must be a file or folder that can be read, got {path}: {error}") from error
    if not matches:
        raise InputError(f"DATA must be a file or a folder, got {path}, which is not there.")
    return [each for match in matches for each in _files_at(_full(fs, match))]


def _files_below(fs: Any, folder: str, path: str) -> list[str]:
    depth = len(PurePosixPath(folder).parts)
    found = [
        _full(fs, place)
        for place in sorted(fs.find(folder))
        if _suffix(place) in KINDS and not any(part[0] in "._" for part in PurePosixPath(place).parts[depth:])
    ]
    if not found:
        raise InputError(f"DATA must hold files that end in one of {', '.join(KINDS)}, got {path} with none.")
    return found


def _located(path: str) -> tuple[Any, str]:
    """Give the file system of a path, and the path as it knows it."""
    core = optional("fsspec.core", extra="batch")
    try:
        fs, place = core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise InputError(f"DATA must be a path or a URL that fsspec knows, got {path}: {error}") from error
    return fs, place


def open_bytes(path: str) -> Any:
    """Open a file for reading bytes, wherever it is."""
    fs, place = _located(path)
    return fs.open(place, "rb")


def local_path(path: str) -> str | None:
    """Give the plain path of a local file, None for any other."""
    fs, place = _located(path)
    return place if is_local(fs) else None


def is_local(fs: Any) -> bool:
    """Tell whether a file system is that of this machine."""
    return isinstance(fs, optional("fsspec.implementations.local", extra="batch").LocalFileSystem)


def _full(fs: Any, place: str) -> str:
    return os.path.abspath(place) if is_local(fs) else str(fs.unstrip_protocol(place))


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _stamp(paths: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        fs, place = _located(path)
        digest.update(str(fs.ukey(place)).encode())
    return digest.hexdigest()
