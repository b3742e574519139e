"""Where files are: on a disk, or wherever fsspec reaches; what is in them, as a fingerprint."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from butfor._extras import optional
from butfor._files.inputs.local_disk import LocalDisk
from butfor._files.inputs.state import FileState, is_local, state_of
from butfor._files.inputs.storage import storage_errors
from butfor._files.inputs.suffixes import FILE_KINDS, TEXT_FILE
from butfor._files.zips import MAX_UNPACKED
from butfor.errors import InputError

BLOCK = 2**22
"""Bytes that are read at a time."""
AT_ONCE = 16
"""How many files are looked up in storage at a time."""


class DataChangedError(InputError):
    """A file is not the one that it was when the run began."""


@dataclass(frozen=True)
class Files:
    """Files of one kind, in the order in which their rows are counted."""

    paths: tuple[str, ...]
    """Local ones in full, so that they are found from any folder; others as URLs."""
    states: tuple[FileState, ...] = ()
    """The state of each file when it was found; whoever reads a file checks that it is still the same."""
    names: tuple[str, ...] = ()
    """What to call each file: as the user did, or by its full path where it was found in a folder."""
    max_unpacked: float = MAX_UNPACKED
    """The most GiB that a compressed file may unpack to."""

    @property
    def suffix(self) -> str:
        """How the names end, in small letters."""
        return _suffix(self.paths[0])

    @property
    def stamp(self) -> str:
        """A short name of all states, for what is made of the files."""
        return hashlib.blake2b(repr(self.states).encode(), digest_size=16).hexdigest()

    @contextmanager
    def opened(self, number: int) -> Iterator[Any]:
        """Open a file for reading bytes; where a disk or a network fails, the error is about DATA."""
        path = self.paths[number]
        try:
            with storage_errors(), open_bytes(path) as file:
                yield file
        except OSError as error:
            raise _unreadable(path, error) from error
        finally:  # whatever was read, or could not be read, must be of the file that was found
            self.require_unchanged(number)

    def require_unchanged(self, number: int) -> None:
        """Raise DataChangedError where a file was replaced, written to or removed since it was found."""
        if not self.states:
            return
        path = self.paths[number]
        try:
            with storage_errors():
                is_same = state_of(*located(path)).is_of(self.states[number])
        except FileNotFoundError:
            is_same = False
        except OSError as error:
            raise _unreadable(path, error) from error
        if not is_same:
            raise DataChangedError(
                f"DATA must stay as it is until the run ends, got {path}, which was replaced, written to or "
                "removed since the run began."
            )

    def require_all_unchanged(self) -> None:
        """Raise DataChangedError where any file is not the one that was found."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self.require_unchanged, range(len(self.paths))))

    def fingerprint(self, *more: Any) -> str:
        """Hash the content of local files; of others what their storage says of their state."""
        digest = hashlib.blake2b(repr(more).encode(), digest_size=16)
        for number, path in enumerate(self.paths):
            digest.update(self._content(number, path))
        return digest.hexdigest()

    def _content(self, number: int, path: str) -> bytes:
        if local_path(path) is None:
            return self.states[number].description.encode()
        digest = hashlib.blake2b(digest_size=32)
        with self.opened(number) as file:
            while block := file.read(BLOCK):
                digest.update(block)
        return digest.digest()


def files_changed() -> DataChangedError:
    """Return the error for files that hold less than they did when their rows were counted."""
    return DataChangedError("DATA must stay as it is until the run ends, got files that have become shorter.")


def find_files(data: Sequence[str]) -> Files:
    """Find the files that DATA means: files, patterns with * or ?, and folders, all of one kind.

    Of a folder, and the folders in it, all files count that end like a table or a matrix, in the order of
    their names; files that end in .txt count only where there are no others. What starts with a dot or an
    underscore is left out, unless it is named itself: Spark and others keep their notes there.
    """
    if not data:
        raise InputError("DATA must be at least one file or folder, got none.")
    for path in data:
        located(path)[0].invalidate_cache()  # a store may remember files of an earlier run
    found = [each for path in data for each in _files_at(path)]
    paths = [path for path, _ in found]
    if len(set(paths)) < len(paths):
        twice = next(path for i, path in enumerate(paths) if path in paths[:i])
        raise InputError(f"DATA must name each file once, got {twice} twice.")
    _require_one_kind(paths)
    return Files(tuple(paths), tuple(map(_state, paths)), tuple(name for _, name in found))


def _require_one_kind(paths: Sequence[str]) -> None:
    for path in paths:
        if _suffix(path) not in FILE_KINDS:
            raise InputError(
                f"DATA must end in one of {', '.join(FILE_KINDS)}, got {path}. DATA must be a sparse matrix "
                "(.npz), a dense one (.npy), a table, or texts, and the end of its name says which."
            )
    firsts = {_suffix(path): path for path in reversed(paths)}
    kinds = dict.fromkeys(FILE_KINDS[_suffix(path)] for path in paths)
    if len(kinds) > 1 or (len(firsts) > 1 and kinds.keys() == {"CSV or TSV"}):
        raise InputError(
            f"DATA must be files of one kind, got {' and '.join(kinds)}. The first of each are "
            f"{' and '.join(reversed(firsts.values()))}."
        )


def _files_at(path: str) -> list[tuple[str, str]]:
    """Return the full path of each file that a path means, and what to call it."""
    fs, place = located(path)
    try:
        with storage_errors():
            kind = _kind_at(fs, place)
            if kind == "file":
                return [(_full(fs, place), path)]
            if kind == "directory":
                return _files_below(fs, place, path)
            is_pattern = any(letter in place for letter in "*?[")
            matches = sorted(fs.glob(place)) if is_pattern else []
        matches = [match for match in matches if PurePosixPath(match).name[0] not in "._"]
    except OSError as error:
        raise InputError(f"DATA must be a file or folder that can be read, got {path}: {error}") from error
    if not matches:
        what = "a file" if _suffix(path) in FILE_KINDS and not is_pattern else "a file or a folder"
        raise InputError(f"DATA must be {what}, got {path}, which is not there.")
    return [each for match in matches for each in _files_at(_full(fs, match))]


def _kind_at(fs: Any, place: str) -> str | None:
    """Return "file" or "directory"; None where there is nothing. Raise where the store does not answer."""
    if is_local(fs):
        return "file" if fs.isfile(place) else "directory" if fs.isdir(place) else None
    try:
        return str(fs.info(place)["type"])  # fsspec's own questions take any error for a no
    except FileNotFoundError:
        return None


def _files_below(fs: Any, folder: str, path: str) -> list[tuple[str, str]]:
    depth = len(PurePosixPath(folder).parts)
    found = [
        _full(fs, place)
        for place in sorted(fs.find(folder))
        if _suffix(place) in FILE_KINDS
        and not any(name[0] in "._" for name in PurePosixPath(place).parts[depth:])
    ]
    found = [each for each in found if _suffix(each) != TEXT_FILE] or found  # others have notes beside them
    if not found:
        raise InputError(
            f"DATA must hold files that end in one of {', '.join(FILE_KINDS)}, got {path} with none."
        )
    return [(each, each) for each in found]


def located(path: str) -> tuple[Any, str]:
    """Return the file system of a path, and the path as it knows it; plain paths do without fsspec."""
    if "://" not in path and "::" not in path:
        return LocalDisk(), os.path.abspath(os.path.expanduser(path))
    core = optional("fsspec.core", extra="batch")
    try:
        fs, place = core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise InputError(f"DATA must be a path or a URL that fsspec knows, got {path}: {error}") from error
    return fs, place


def open_bytes(path: str) -> Any:
    """Open a file for reading bytes, wherever it is."""
    fs, place = located(path)
    return fs.open(place, "rb")


def local_path(path: str) -> str | None:
    """Return the plain path of a local file, None for any other."""
    fs, place = located(path)
    return place if is_local(fs) else None


def _full(fs: Any, place: str) -> str:
    return os.path.abspath(place) if is_local(fs) else str(fs.unstrip_protocol(place))


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _state(path: str) -> FileState:
    try:
        with storage_errors():
            return state_of(*located(path), cached=True)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> InputError:
    return InputError(f"DATA must be files that can be read, got {path}: {error}")
