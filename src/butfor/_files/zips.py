"""Compressed files: a small one may unpack to more than any disk holds, so that there is a limit."""

import zipfile

from butfor.errors import InputError

MAX_UNPACKED = 16.0
"""The most GiB that a file may unpack to, unless the user says otherwise."""
GIB = 2**30


def require_unpackable(archive: zipfile.ZipFile, what: str, name: str, max_unpacked: float) -> None:
    """Raise an InputError if a zip file, such as .npz or .skops, unpacks to too much.

    What the archive says is enough: no more than that is ever read of a member.
    """
    size = sum(member.file_size for member in archive.infolist()) / GIB
    if size > max_unpacked:
        raise InputError(
            f"{what} must unpack to at most {max_unpacked:g} GiB, got {name}, which unpacks to "
            f"{size:,.3g} GiB. "
            f"If you trust it, allow more: butfor batch --max-unpacked {int(size) + 1}."
        )
