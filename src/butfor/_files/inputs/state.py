"""What storage says of a file without reading it: enough to notice that it is another file now."""

import os
import platform
from dataclasses import dataclass
from typing import Any

from butfor._extras import optional
from butfor._files.inputs.local_disk import LocalDisk

CONTENT = ("ETag", "etag", "md5Hash", "md5", "content_md5", "Content-MD5", "Digest", "generation")
"""What stores call that which changes with the content of a file; the first that is there counts."""
TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
"""What they call the time of the last change, for those that say nothing of the content."""


@dataclass(frozen=True)
class FileState:
    """A file as storage describes it."""

    description: str
    """Its size, with the time of the last change on a disk, and what changes with the content in a store."""
    inode: int = 0
    machine: str = ""
    """Where the inode was seen: mounted elsewhere, the same file may have another one."""

    def is_of(self, earlier: "FileState") -> bool:
        """Return whether it describes the same file, as it was.

        >>> FileState("7 bytes", 1, "a").is_of(FileState("7 bytes", 2, "a"))
        False
        >>> FileState("7 bytes", 1, "a").is_of(FileState("7 bytes", 2, "b"))
        True
        """
        is_same_inode = self.inode == earlier.inode or self.machine != earlier.machine
        return self.description == earlier.description and is_same_inode


def state_of(fs: Any, place: str, *, cached: bool = False) -> FileState:
    """Ask storage about a file; `cached` lets a store answer from the list of files it returned before."""
    if is_local(fs):
        seen = os.stat(place)
        return FileState(f"{seen.st_size} bytes, {seen.st_mtime_ns} ns", seen.st_ino, platform.node())
    if not cached:
        fs.invalidate_cache(place)
    info = fs.info(place)
    content = [str(info[name]).strip('"') for name in CONTENT if info.get(name)][:1]
    times = [str(info[name]) for name in TIMES if info.get(name)]
    return FileState(f"{info.get('size')} bytes, {', '.join(content or times)}")


def is_local(fs: Any) -> bool:
    """Return whether a file system is that of this machine."""
    if isinstance(fs, LocalDisk):
        return True
    return isinstance(fs, optional("fsspec.implementations.local", extra="batch").LocalFileSystem)
