"""An explainer on its way to other processes: packed once, and its arrays held in memory once for all."""

import mmap
import os
import pickle
from functools import lru_cache
from pathlib import Path
from typing import Any

from butfor import Explainer, InputError
from butfor.render.extras import optional

OBJECTS, ARRAYS = "objects.pickle", "arrays"
_ALIGNED = 64


def pack(explainer: Explainer, folder: str) -> None:
    """Write an explainer into a folder: its objects, and its arrays apart from them.

    Functions and classes of the main program travel with it, as no other process could import them.
    """
    cloudpickle = optional("cloudpickle", extra="batch")
    arrays: list[pickle.PickleBuffer] = []
    try:
        objects = cloudpickle.dumps(explainer, protocol=5, buffer_callback=arrays.append)
    except Exception as error:
        raise InputError(
            "MODEL must be one that can be pickled, as other processes are to ask it, got one that cannot: "
            f"{type(error).__name__}: {error}"
        ) from error
    spans, end = [], 0
    with (Path(folder) / ARRAYS).open("wb") as file:
        for array in arrays:
            start = -(-end // _ALIGNED) * _ALIGNED
            content = array.raw()
            file.write(b"\0" * (start - end))
            file.write(content)
            end = start + content.nbytes
            spans.append((start, end))
    (Path(folder) / OBJECTS).write_bytes(pickle.dumps((objects, spans)))


@lru_cache(maxsize=2)
def unpacked(folder: str) -> Explainer:
    """Give the explainer that was packed into a folder; processes of one machine share its arrays."""
    objects, spans = pickle.loads((Path(folder) / OBJECTS).read_bytes())
    arrays = memoryview(_mapped(Path(folder) / ARRAYS))
    explainer: Explainer = pickle.loads(objects, buffers=[arrays[start:end] for start, end in spans])
    return explainer


def _mapped(path: Path) -> Any:
    """Map a file into memory, so that what a process changes is its own, and nothing is read twice."""
    if not path.stat().st_size:
        return b""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY)
    finally:
        os.close(descriptor)
