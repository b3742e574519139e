"""A folder on a local disk or in any store that fsspec knows: files appear in it whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from butfor import InputError
from butfor.batch.inputs.state import is_local
from butfor.render.extras import optional

UNFINISHED = "_unfinished-"
"""How the names of files start that are still being written; readers of Parquet pass over a leading `_`."""
LOCK = "_lock"


class Folder:
    """Where a run writes; small, can be pickled, and opened in whichever process writes.

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
        """Make the folder, if it is not there."""
        with self.required():
            self._store[0].makedirs(self._store[1], exist_ok=True)

    @contextmanager
    def required(self) -> Iterator[None]:
        """Say of whatever fails that nothing can be done without it."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"out must be a folder that can be written to, got {self.path}: {error}"
            ) from error

    def names(self) -> list[str]:
        """Give the names of what is in the folder; none where there is no folder."""
        store, root = self._store
        store.invalidate_cache(root)  # a store may remember what was there before
        try:
            return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in store.ls(root, detail=False))
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        """Give the content of a file."""
        content: bytes = self._store[0].cat_file(self._of(name))
        return content

    @contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        """Open a file to read here and there in it."""
        with self._store[0].open(self._of(name), "rb") as file:
            yield file

    def write(self, name: str, content: Any) -> None:
        """Write a file under another name and rename it: it is there whole or not at all, come what may."""
        store, _ = self._store
        unfinished = self._of(f"{UNFINISHED}{uuid4().hex}")
        try:
            with store.open(unfinished, "wb") as file:
                file.write(content)
                if self.is_local:
                    file.flush()
                    os.fsync(file.fileno())
            self._rename(unfinished, self._of(name))
        except BaseException:
            with suppress(Exception):  # what went wrong first is what is told
                store.rm_file(unfinished)
            raise

    def remove_unfinished(self) -> None:
        """Remove what writers that were killed have left."""
        for name in self.names():
            if name.startswith(UNFINISHED):
                with suppress(FileNotFoundError):
                    self._store[0].rm_file(self._of(name))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out for a while, on a local disk; a lock goes with its process, however it ends."""
        if not self.is_local:
            yield
            return
        filelock = optional("filelock", extra="batch")
        lock = filelock.FileLock(self._of(LOCK), thread_local=False)
        with self.required(), suppress(NotImplementedError):  # there are disks that cannot lock
            try:
                lock.acquire(timeout=0)
            except filelock.Timeout:
                raise InputError(
                    f"out must not be in use by another run, got {self.path}: wait for it, or give another."
                ) from None
        try:
            yield
        finally:
            lock.release()

    @property
    def full_path(self) -> str:
        """The path that means the same in every working folder; addresses are what they are."""
        return self._store[1] if self.is_local else self.path

    @cached_property
    def is_local(self) -> bool:
        """Whether it is on a disk of this machine."""
        return is_local(self._store[0])

    @property
    def is_private(self) -> bool:
        """Whether it is in the memory of this process, where no other sees it and nothing outlives it."""
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

    def _of(self, name: str) -> str:
        return f"{self._store[1]}/{name}"

    def _rename(self, unfinished: str, path: str) -> None:
        if not self.is_local:
            self._store[0].mv(unfinished, path)
            return
        os.replace(unfinished, path)
        if os.name == "posix":  # elsewhere folders cannot be opened
            with _descriptor(Path(path).parent) as folder:
                os.fsync(folder)  # so that the name is on the disk too


@contextmanager
def _descriptor(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
