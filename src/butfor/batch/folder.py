"""The output folder of a run, on a local disk or in a store that fsspec knows; its files appear whole."""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from butfor import ButforError, InputError
from butfor._extras import optional
from butfor._files.inputs.state import is_local
from butfor._files.inputs.storage import is_object_store, storage_errors
from butfor.batch.lease import Lease, leased

UNFINISHED = "_unfinished-"
"""Prefix of files that are still being written. Readers of Parquet skip names with a leading `_`."""
LOCK = "_lock"


class OutLostError(ButforError):
    """The folder of a run cannot be read or written any more; what was written is kept."""


class Folder:
    """The folder that a run writes to. It is small and can be pickled, so that every process can open it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as path:
    ...     folder = Folder(path)
    ...     folder.write("a.txt", b"whole")
    ...     folder.names(), folder.read("a.txt")
    (['a.txt'], b'whole')
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Folder, (self.full_path,)

    def make(self) -> None:
        """Create the folder if it does not exist; in an object store nothing, so never a bucket."""
        if self._is_object_store:
            return
        with self.required(), storage_errors():
            self._store[0].makedirs(self._store[1], exist_ok=True)

    @contextmanager
    def required(self) -> Iterator[None]:
        """Turn an OSError into an InputError that names the folder."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"out must be a folder that can be written to, got {self.path}: {error}"
            ) from error

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Turn an OSError into an InputError, where the folder is only read."""
        try:
            yield
        except OSError as error:
            raise InputError(f"out must be a folder that can be read, got {self.path}: {error}") from error

    @contextmanager
    def still_there(self) -> Iterator[None]:
        """Turn an OSError into an OutLostError, in the middle of a run."""
        try:
            yield
        except OSError as error:
            raise OutLostError(
                f"out must stay a folder that can be read and written, got {self.path}: {error}. What was "
                "written is kept: the same command goes on from there."
            ) from error

    def names(self) -> list[str]:
        """Return the sorted names of the files in the folder; an empty list if the folder does not exist."""
        store, root = self._store
        store.invalidate_cache(root)  # a store may cache an old listing
        try:
            with storage_errors():
                paths = [path.rstrip("/") for path in store.ls(root, detail=False)]
                return sorted(path.rsplit("/", 1)[-1] for path in paths if path != root)
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        path = self._path_of(name)
        self._store[0].invalidate_cache(path)  # which may hold an old size
        with storage_errors():
            content: bytes = self._store[0].cat_file(path)
        return content

    @contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        """Open a file for random access."""
        path = self._path_of(name)
        self._store[0].invalidate_cache(path)
        with storage_errors(), self._store[0].open(path, "rb") as file:
            yield file

    def write(self, name: str, content: Any) -> None:
        """Write a file, which appears whole or not at all.

        Object stores write like that. Anywhere else it is written under a temporary name and renamed.
        """
        store, _ = self._store
        if self._is_object_store:
            with storage_errors():
                store.pipe_file(self._path_of(name), bytes(content))
            return
        with storage_errors():
            self._write_and_rename(name, content)

    def create(self, name: str, content: bytes) -> None:
        """Write a file that must not be there; raise an OSError if it is, where the store can tell."""
        try:
            with storage_errors():
                self._store[0].pipe_file(self._path_of(name), content, mode="create")
        except (OSError, TypeError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOSYS:
                raise
            self.write(name, content)

    def _write_and_rename(self, name: str, content: Any) -> None:
        store, _ = self._store
        unfinished = self._path_of(f"{UNFINISHED}{uuid4().hex}")
        try:
            with store.open(unfinished, "wb") as file:
                file.write(content)
                if self.is_local:
                    file.flush()
                    os.fsync(file.fileno())
            self._rename(unfinished, self._path_of(name))
        except BaseException:
            with suppress(Exception):  # the first error is the one to report
                store.rm_file(unfinished)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError), storage_errors():
            self._store[0].rm_file(self._path_of(name))

    def remove_all(self, prefix: str) -> None:
        """Remove the files whose names begin so: with `UNFINISHED`, those that killed writers left behind."""
        for name in self.names():
            if name.startswith(prefix):
                self.remove(name)

    @contextmanager
    def locked(self) -> Iterator[Lease | None]:
        """Keep other runs out: by a lock on a local disk, by a lease, which is yielded, in a store.

        The operating system releases the lock when the process ends, however it ends. A lease expires.
        """
        if not self.is_local:
            with self._leased() as lease:
                yield lease
            return
        filelock = optional("filelock", extra="batch")
        lock = filelock.FileLock(self._path_of(LOCK), thread_local=False)
        with self.required(), suppress(NotImplementedError):  # some file systems have no locks
            try:
                lock.acquire(timeout=0)
            except filelock.Timeout:
                raise InputError(
                    f"out must not be in use by another run, got {self.path}: wait for it, or give another."
                ) from None
        try:
            yield None
        finally:
            lock.release()

    @contextmanager
    def _leased(self) -> Iterator[Lease]:
        with ExitStack() as stack:
            with self.required():
                lease = stack.enter_context(leased(self))
            yield lease

    @property
    def full_path(self) -> str:
        """The absolute path of a local folder; the address of any other."""
        return self._store[1] if self.is_local else self.path

    @cached_property
    def is_local(self) -> bool:
        """Whether the folder is on a disk of this machine."""
        return is_local(self._store[0])

    @cached_property
    def _is_object_store(self) -> bool:
        return is_object_store(self._store[0])

    @property
    def is_private(self) -> bool:
        """Whether the folder is in the memory of this process, where no other process can see it."""
        memory = optional("fsspec.implementations.memory", extra="batch").MemoryFileSystem
        return isinstance(self._store[0], memory)

    @cached_property
    def _store(self) -> tuple[Any, str]:
        try:
            store, root = optional("fsspec.core", extra="batch").url_to_fs(self.path)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"out must be a folder or an address that fsspec knows, got {self.path}: {error}"
            ) from error
        return store, root.rstrip("/") or root

    def _path_of(self, name: str) -> str:
        return f"{self._store[1]}/{name}"

    def _rename(self, unfinished: str, path: str) -> None:
        if not self.is_local:
            self._store[0].mv(unfinished, path)
            return
        os.replace(unfinished, path)
        if os.name == "posix":  # other systems cannot open folders
            with _descriptor(Path(path).parent) as folder:
                os.fsync(folder)  # writes the new name to the disk


@contextmanager
def _descriptor(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
