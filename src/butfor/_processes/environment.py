"""The environment of workers."""

import os

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Workers share the cores between them, so each gets one thread for its arithmetic."""


def environment_of_workers() -> dict[str, str]:
    """Return the environment of this process, with one thread for arithmetic."""
    return {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
