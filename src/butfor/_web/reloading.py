"""Models that change: their files are read again on request, or when they have changed.

A new generation takes over once all of its processes have loaded the new model. Requests that run are
answered by the old one. If anything goes wrong, the old one stays.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from butfor._web.generation import Generation
from butfor._web.logs import log_event
from butfor._web.metrics import Metrics
from butfor._web.problems import Problem
from butfor._web.workspace import Workspace
from butfor.errors import ButforError, error_text

FileStates = tuple[tuple[int, int, int] | None, ...]


class Reloader:
    """Replaces what is served by what its files hold now.

    Parameters
    ----------
    load
        Makes the workspaces anew; None if they cannot change.
    files
        Files and folders to look at.
    every
        Seconds between two looks; None for no looks at all.
    """

    def __init__(
        self,
        load: Callable[[], Sequence[Workspace]] | None = None,
        *,
        files: Sequence[Path] = (),
        every: float | None = None,
    ) -> None:
        self._load = load
        self._files = tuple(files)
        self._every = every
        self._loaded = self._seen = states_of(self._files)
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._old: list[Generation] = []
        self.failure: str | None = None
        """Why the last reload failed, for those who have the token; None if it did not."""
        self.failure_in_short: str | None = None
        """The same for everybody: it holds no names."""

    def open(self, current: "Current", made: Callable[[Sequence[Workspace]], Generation]) -> None:
        """Begin: `made` makes a generation of workspaces, and `current` holds the one that is served."""
        self._current, self._made = current, made
        if self._load is not None and self._every is not None:
            self._run(self._watch(self._every))

    def close(self) -> None:
        """Stop looking, and end old generations even if they have not answered everything."""
        for task in self._tasks:
            task.cancel()
        for generation in self._old:
            generation.close()

    def reload_soon(self) -> None:
        """Reload in the background; a failure is logged."""
        self._run(self._reload_quietly())

    async def reload(self) -> None:
        """Load the files again and serve what they hold; where that fails, raise, and change nothing."""
        if self._load is None:
            raise Problem(409, "what this server shows cannot be reloaded: it comes from no file.")
        async with self._lock:
            began, states = time.monotonic(), states_of(self._files)
            try:
                generation = await self._loaded_generation(self._load)
            except Exception as error:
                self._note_failure(error)
                raise Problem(409, self.failure or "") from error
            finally:
                self._loaded = states
            self.failure = self.failure_in_short = None
            old = self._current.replace(generation)
            self._old.append(old)
            self._run(self._retire(old))
            seconds = round(time.monotonic() - began, 3)
            versions = [workspace.version for workspace in generation.workspaces]
            self._current.metrics.note_reload(is_good=True)
            log_event(logging.INFO, "model reloaded", model=" ".join(versions), seconds=seconds)

    async def _loaded_generation(self, load: Callable[[], Sequence[Workspace]]) -> Generation:
        """Return a generation of what the files hold, whose processes have loaded it."""
        generation = self._made(await asyncio.to_thread(load))
        try:
            await asyncio.to_thread(generation.share)
            generation.start()
            await generation.until_loaded()
        except BaseException:
            generation.close()
            raise
        return generation

    def _note_failure(self, error: Exception) -> None:
        text = str(error) if isinstance(error, ButforError) else error_text(error)
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        told = f"the model could not be reloaded at {at}, and the one of before answers"
        self.failure = f"{told}: {text}"
        self.failure_in_short = f"{told} ({type(error).__name__})."
        self._current.metrics.note_reload(is_good=False)
        log_event(logging.ERROR, "model not reloaded", error=type(error).__name__)

    async def _retire(self, old: Generation) -> None:
        await asyncio.to_thread(old.stop_filling)
        await old.until_idle()
        old.close()
        self._old.remove(old)

    async def _watch(self, every: float) -> None:
        """Look at the files; reload if they have changed, and have not since the look before."""
        while True:
            await asyncio.sleep(every)
            states = await asyncio.to_thread(states_of, self._files)
            if states != self._loaded and states == self._seen and None not in states:
                await self._reload_quietly()
            self._seen = states

    async def _reload_quietly(self) -> None:
        try:
            await self.reload()
        except Problem as problem:
            if self._load is None:
                log_event(logging.WARNING, "model not reloaded", reason=problem.detail)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Current:
    """Holds the generation that is served."""

    def __init__(self, generation: Generation, metrics: Metrics) -> None:
        self.generation = generation
        self.metrics = metrics

    def begin(self) -> None:
        """Share the models, start to explain all rows, start the processes."""
        self.generation.share()
        self.generation.fill(self.metrics)
        self.generation.start()
        self.generation.publish(self.metrics)

    def replace(self, generation: Generation) -> Generation:
        """Serve another generation from now on; return the one of before."""
        old, self.generation = self.generation, generation
        generation.fill(self.metrics)
        generation.publish(self.metrics)
        return old


def states_of(files: Sequence[Path]) -> FileStates:
    """Return what changes when a file does, for each; None for one that is not there."""
    return tuple(_state(path) for path in files)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
