"""The disks of this machine, with as much of fsspec's interface as reading needs; fsspec may be missing."""

import glob
import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LocalDisk:
    """A file system for plain paths."""

    def isfile(self, place: str) -> bool:
        """Return whether there is a file of this name."""
        return os.path.isfile(place)

    def isdir(self, place: str) -> bool:
        """Return whether there is a folder of this name."""
        return os.path.isdir(place)

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern."""
        return glob.glob(pattern, recursive=True)

    def find(self, folder: str) -> list[str]:
        """Return all files of a folder, and of the folders in it."""
        return [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]

    def open(self, place: str, mode: str) -> Any:
        """Open a file."""
        return open(place, mode)

    def invalidate_cache(self, place: str | None = None) -> None:
        """Do nothing: a disk is asked every time."""
