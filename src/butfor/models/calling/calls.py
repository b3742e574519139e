"""What a user says about calls of a dear model."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from butfor._checks import require_count, require_seconds
from butfor.errors import InputError


@dataclass(frozen=True)
class Calls:
    """How a model is called that is slow, remote or paid for.

    Parameters
    ----------
    batch_size : int, optional
        The most rows or texts of one call. If it is not given, a call carries all that wait for an answer.
    concurrency : int, default 1
        How many calls run at the same time: of an async function in one event loop, of any other in threads.
        It needs a `batch_size`.
    retries : int, default 0
        How often a call is tried again after a failure that may pass: a lost connection, a timeout, too many
        requests (429), a server's error (5xx). The wait doubles each time, from `wait` on, or is what the
        server asks for.
    wait : float, default 1.0
        Seconds before the first retry.
    retry_on : sequence of exception types, optional
        Other failures that may pass.
    cache : str or path, optional
        A file in which scores are kept by the content of the row, so that a run that was interrupted does not
        pay twice. It holds hashes and scores, no rows and no texts. Each model needs a file of its own: at
        the first score that is taken from it, the model is asked once to compare.

    Raises
    ------
    InputError
        Where an argument is not what is expected.

    Examples
    --------
    >>> Calls(batch_size=16, concurrency=4, retries=3).batch_size
    16
    >>> Calls(concurrency=4)
    Traceback (most recent call last):
    butfor.errors.InputError: batch_size must be given with concurrency=4, so that there are several calls.
    """

    batch_size: int | None = None
    concurrency: int = 1
    retries: int = 0
    wait: float = 1.0
    retry_on: Sequence[type[Exception]] = ()
    cache: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.batch_size is not None:
            require_count("batch_size", self.batch_size)
        require_count("concurrency", self.concurrency)
        require_count("retries", self.retries, at_least=0)
        require_seconds("wait", self.wait)
        if self.concurrency > 1 and self.batch_size is None:
            raise InputError(
                f"batch_size must be given with concurrency={self.concurrency}, so that there are several "
                "calls."
            )
        kinds = [self.retry_on] if isinstance(self.retry_on, type) else list(self.retry_on)
        if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
            raise InputError(f"retry_on must hold types of exceptions, got {self.retry_on!r}.")
        object.__setattr__(self, "retry_on", tuple(kinds))
