"""Linear algebra in one thread: small matrices gain nothing by more, which take the cores from the model."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LIMITING = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Have the linear algebra of numpy and scipy use one thread meanwhile.

    After each product of matrices its threads wait for the next one with all their might, some 25 ms long.
    The limit is one of the process: while a thread of it limits, others leave it alone.
    """
    if not _LIMITING.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1):
            yield
    finally:
        _LIMITING.release()


@functools.cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController  # installed with scikit-learn

    return ThreadpoolController().select(user_api="blas")
