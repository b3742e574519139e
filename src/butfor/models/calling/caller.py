"""A model's function, called as its user says: in pieces, several at a time, again after failures."""

import asyncio
import inspect
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.calling.cache import ScoreCache, keys_of
from butfor.models.calling.calls import Calls
from butfor.models.calling.event_loop import EventLoop
from butfor.models.calling.returned import as_outputs, labels_in
from butfor.models.calling.transient import is_transient, seconds_to_wait
from butfor.models.rows import n_rows_in, some_rows

SAME_SCORE = 1e-3
"""How far a score may be from the one that the cache holds of the same row."""


def is_async(function: Any) -> bool:
    """Return whether calling a function gives something to await.

    >>> async def score(texts): ...
    >>> is_async(score), is_async(len)
    (True, False)
    """
    own = vars(type(function)).get("__call__")
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own)


@dataclass(eq=False)
class Caller:
    """Calls a function of rows or texts, and returns its outputs as an array.

    Parameters
    ----------
    function : callable
        From rows or texts to scores; it may be async.
    calls : Calls
        How to call it.
    varies : bool, default False
        Whether it gives the same row other scores each time: then nothing comes from the cache.
    """

    function: Callable[[Any], Any]
    calls: Calls
    varies: bool = False
    _loop: EventLoop = field(default_factory=EventLoop)
    _cache: ScoreCache | None = None
    _is_compared: bool = False
    """Whether a score of the cache was held against the model's."""
    labels: tuple[str, ...] = ()
    """The labels of the classes, where the function returns them with the scores."""

    def __post_init__(self) -> None:
        if self.calls.cache is not None and not self.varies:
            self._cache = ScoreCache(str(self.calls.cache))

    def __call__(self, X: Any) -> FloatArray:
        """Return the outputs for rows; those in the cache are not asked for."""
        if self._cache is None:
            return np.concatenate(list(self._in_pieces(X)))
        keys = keys_of(X)
        known = self._cache.get(keys)
        self._compare(X, keys, known)
        new = {key: i for i, key in enumerate(keys) if key not in known}
        which = sorted(new.values())
        if which:
            asked = some_rows(X, which)
            done = 0
            for outputs in self._in_pieces(asked):
                some = [keys[i] for i in which[done : done + len(outputs)]]
                self._cache.put(some, outputs)
                known |= dict(zip(some, np.atleast_2d(outputs.T).T, strict=True))
                done += len(outputs)
        lines = np.array([np.ravel(known[key]) for key in keys], dtype=float)
        return lines[:, 0] if lines.shape[1] == 1 else lines

    def _compare(self, X: Any, keys: list[bytes], known: dict[bytes, FloatArray]) -> None:
        """Hold the first score that the cache knows against the model's own."""
        assert self._cache is not None
        if self._is_compared or not known:
            return
        i = next(i for i, key in enumerate(keys) if key in known)
        (outputs,) = self._in_pieces(some_rows(X, [i]))
        own, kept = np.ravel(outputs), np.ravel(known[keys[i]])
        if own.shape != kept.shape or not np.allclose(own, kept, rtol=SAME_SCORE, atol=SAME_SCORE):
            raise InputError(
                f"cache must hold scores of this model, got {self._cache.path}, which holds {kept[-1]:.4g} "
                f"where the model gives {own[-1]:.4g}. Give each model a file of its own."
            )
        self._is_compared = True

    def _in_pieces(self, X: Any) -> Iterator[FloatArray]:
        """Yield the outputs piece by piece, in order."""
        n_rows = n_rows_in(X)
        step = self.calls.batch_size or n_rows
        pieces = [some_rows(X, list(range(i, min(i + step, n_rows)))) for i in range(0, n_rows, step)]
        if is_async(self.function):
            for together in _grouped(pieces, self.calls.concurrency):
                yield from self._loop.run(self._awaited(together))
        elif self.calls.concurrency > 1 and len(pieces) > 1:
            with ThreadPoolExecutor(self.calls.concurrency) as threads:
                yield from threads.map(self._tried, pieces)
        else:
            yield from map(self._tried, pieces)

    def _tried(self, piece: Any) -> FloatArray:
        """Call the function, again after failures that may pass."""
        for attempt in range(self.calls.retries + 1):
            try:
                return self._outputs(self.function(piece))
            except Exception as error:
                if not self._may_pass(error, attempt):
                    raise
                time.sleep(seconds_to_wait(error, attempt, self.calls.wait, random.random()))
        raise AssertionError

    async def _awaited(self, pieces: list[Any]) -> list[FloatArray]:
        return list(await asyncio.gather(*map(self._awaited_one, pieces)))

    async def _awaited_one(self, piece: Any) -> FloatArray:
        for attempt in range(self.calls.retries + 1):
            try:
                return self._outputs(await self.function(piece))
            except Exception as error:
                if not self._may_pass(error, attempt):
                    raise
                await asyncio.sleep(seconds_to_wait(error, attempt, self.calls.wait, random.random()))
        raise AssertionError

    def _outputs(self, returned: Any) -> FloatArray:
        self.labels = self.labels or labels_in(returned)
        return np.asarray(as_outputs(returned))

    def _may_pass(self, error: Exception, attempt: int) -> bool:
        return attempt < self.calls.retries and is_transient(error, tuple(self.calls.retry_on))


def _grouped(pieces: list[Any], n_pieces: int) -> Iterator[list[Any]]:
    yield from (pieces[i : i + n_pieces] for i in range(0, len(pieces), n_pieces))
