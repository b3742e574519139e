"""Objects that several processes read: written once, their arrays mapped into memory and not copied."""

import mmap
import pickle
from functools import lru_cache
from pathlib import Path
from typing import Any

ALIGNMENT = 64
"""Arrays start at multiples of so many bytes, as those of numpy do."""


def share(thing: Any, path: Path) -> Path:
    """Write an object to a file for other processes of this machine, and return the path.

    The file holds the arrays of the object, one after the other, then everything else. Functions and classes
    that were defined in a notebook or a script are written with their code.
    """
    try:
        import cloudpickle  # installed with joblib
    except ImportError:
        from joblib.externals import cloudpickle  # older versions of joblib contain it

    buffers: list[pickle.PickleBuffer] = []
    rest = cloudpickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    places = []
    with path.open("wb") as file:
        for buffer in buffers:
            file.write(bytes(-file.tell() % ALIGNMENT))
            start = file.tell()
            file.write(buffer.raw())
            places.append((start, file.tell()))
        start = file.tell()
        file.write(pickle.dumps((places, rest)))
        file.write(start.to_bytes(8, "little"))
    return path


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
