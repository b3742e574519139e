"""Objects that several processes read: written once, their arrays mapped into memory and not copied."""

import mmap
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

OPEN_FILES = Path("/proc/self/fd")
"""The open files of a process, as Linux shows them to others of the same user."""
ALIGNMENT = 64
"""Arrays start at multiples of so many bytes, as those of numpy do."""


def share(thing: Any, path: Path) -> Path:
    """Write an object to a file for other processes of this machine, and return the path."""
    with path.open("wb") as file:
        _write(thing, file)
    return path


@contextmanager
def sharing(thing: Any) -> Iterator[Path]:
    """Share an object for as long as the context lasts; yield the path from which processes load it.

    On Linux the file has no name: this process holds it open, and others read it through /proc. So nobody who
    tidies up temporary files can remove it, and nothing is left behind where this process is killed.
    """
    if not OPEN_FILES.exists():
        with TemporaryDirectory(prefix="butfor-", ignore_cleanup_errors=True) as folder:
            yield share(thing, Path(folder) / "shared")
        return
    with TemporaryFile() as file:
        _write(thing, file)
        file.flush()
        yield Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")


def _write(thing: Any, file: IO[bytes]) -> None:
    """Write an object to a file that is empty.

    The file holds the arrays of the object, one after the other, then everything else. Functions and classes
    that were defined in a notebook or a script are written with their code.
    """
    buffers: list[pickle.PickleBuffer] = []
    rest = pickler_by_value().dumps(thing, protocol=5, buffer_callback=buffers.append)
    places = []
    for buffer in buffers:
        file.write(bytes(-file.tell() % ALIGNMENT))
        start = file.tell()
        file.write(buffer.raw())
        places.append((start, file.tell()))
    start = file.tell()
    file.write(pickle.dumps((places, rest)))
    file.write(start.to_bytes(8, "little"))


def pickler_by_value() -> Any:
    """Return cloudpickle, which pickles functions and classes with their code."""
    try:
        import cloudpickle  # installed with joblib
    except ImportError:
        from joblib.externals import cloudpickle  # older versions of joblib contain it
    return cloudpickle


@lru_cache(maxsize=4)
def shared(path: Path) -> Any:
    """Return an object that `share` wrote, the same at every call.

    Its arrays are those of the file. A process that changes one, as compiled code may, gets its own copy.
    """
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    start = int.from_bytes(content[-8:], "little")
    places, rest = pickle.loads(content[start:-8])
    return pickle.loads(rest, buffers=[content[begin:end] for begin, end in places])
