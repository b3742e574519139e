"""What happens in a run, for those who embed it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["begun", "rows", "written", "failed", "ended"]


@dataclass(frozen=True)
class BatchEvent:
    """Something that happened in a run.

    Attributes
    ----------
    kind : {"begun", "rows", "written", "failed", "ended"}
        The run has begun; rows were explained; the part of a chunk was written; a chunk has no part; the run
        has ended. A run that is interrupted or refused has no end.
    n_done, n_rows : int
        How many rows are done, those of earlier runs among them, and how many there are.
    n_errors : int
        How many rows of written parts have the status "error".
    seconds : float
        Seconds since the run began.
    chunk : int or None
        The number of the chunk that was written or failed.
    reason : str
        Why the chunk failed.
    """

    kind: Kind
    n_done: int
    n_rows: int
    n_errors: int = 0
    seconds: float = 0.0
    chunk: int | None = None
    reason: str = ""


OnEvent = Callable[[BatchEvent], None]
"""Is called with what happens, from any thread, one event after the other."""
