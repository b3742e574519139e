"""The temporary folder of a process: removed when it ends, or by the next process if it was killed."""

import atexit
import os
import shutil
import tempfile
import time
from functools import lru_cache
from pathlib import Path

PREFIX, HELD = "butfor-unpacked-", "_held"
SECONDS_TO_HOLD = 60
"""A folder that is younger may not be held yet by the process that has just made it."""


@lru_cache(maxsize=1)
def scratch() -> Path:
    """Return the temporary folder of this process, always the same, after removing those of killed ones."""
    remove_left()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _hold(folder / HELD)
    return folder


def remove_left() -> None:
    """Remove the folders that no process holds any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            is_old = time.time() - folder.stat().st_mtime > SECONDS_TO_HOLD
            held = _hold(folder / HELD) if is_old else None
        except OSError:  # it is held, or of another user, or gone
            continue
        if held is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(held)


def _hold(path: Path) -> int | None:
    """Hold a file for as long as this process lives; raise an OSError if another one does.

    Return its descriptor; None where the operating system has no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise
    return held
