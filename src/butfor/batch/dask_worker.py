"""What a Dask worker keeps for a run: the explainer, and for each of its threads a process to ask it in."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from butfor import ButforError
from butfor.batch.chunks import Done, Failed, Job, explain_chunk_safely
from butfor.batch.identity import versions
from butfor.batch.inputs import Chunk, Input
from butfor.batch.inputs.locations import located, open_bytes
from butfor.batch.inputs.state import state_of
from butfor.batch.manifest import MANIFEST
from butfor.errors import abridged
from butfor.render.extras import optional
from butfor.workers import Worker

distributed: Any = optional("distributed", extra="dask")

OUT, DATA = "out", "DATA"
Signs = dict[str, Any]
"""What must be the same on every machine of a run, by what it is called."""


class NotWritten(Exception):  # noqa: N818 - for Dask, which tries again what raises
    """A chunk has no part; `failed` says why."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


class RunIsOver(Exception):  # noqa: N818 - nobody waits for the answer any more
    """The run has ended, and no process is started for it again."""


def signs_of(job: Job) -> Signs:
    """See what this machine has of a run: versions, the folder of the run, the data by its first file."""
    return {
        **versions(),
        OUT: _seen(job.out.read, MANIFEST),
        DATA: _seen(_first_file, job.input),
    }


def strangeness(here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """Say in what a machine differs from the one that began the run; nothing where it does not.

    >>> strangeness({"butfor": "0.1.0", "DATA": 1}, {"butfor": "0.2.0", "DATA": 1})
    'butfor must be 0.1.0, as where the run was started, got 0.2.0'
    >>> strangeness({"DATA": 1}, {"DATA": ButforError("no such file")})
    'DATA cannot be read there: no such file'
    >>> strangeness({"out": b"{}"}, {"out": b"{...}"})
    'out is not the same there: it must be on storage that all machines share'
    """
    for name in here:
        if isinstance(there.get(name), Exception):
            return f"{name} cannot be read there: {there[name]}"
        if here[name] != there.get(name) and name in (OUT, DATA):
            return f"{name} is not the same there: it must be on storage that all machines share"
        if here[name] != there.get(name):
            return f"{name} must be {here[name]}, as where the run was started, got {there.get(name)}"
    return ""


class Site(distributed.WorkerPlugin):  # type: ignore[misc]
    """The part of a run that every Dask worker has, those included that join later."""

    def __init__(self, job: Job, signs: Signs, files: dict[str, bytes]) -> None:
        self.job = job
        self.signs = signs
        self.files = files
        """The packed explainer, for machines that do not have its folder; none for workers of our own."""

    def setup(self, worker: Any) -> None:
        """Take note of where the worker keeps its files; all else waits for the first chunk."""
        if not self.files and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which then ends its workers
        self._place: str = worker.local_directory
        self._folder: str | None = None
        self._is_settled = False
        self._lock = threading.Lock()
        self._of_thread = threading.local()
        self._children: list[Child] = []

    def teardown(self, worker: Any) -> None:
        """End the processes and remove what they were given."""
        for child in self._children:
            child.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def explain(self, chunk: Chunk) -> Done:
        """Explain a chunk in the process of this thread."""
        with self._lock:
            if not self._is_settled:
                self._settle()
        if not hasattr(self._of_thread, "child"):
            self._of_thread.child = Child()
            self._children.append(self._of_thread.child)
        outcome = explain_chunk_safely(self._of_thread.child, self.job, chunk)
        if isinstance(outcome, Failed):
            raise NotWritten(outcome)
        return outcome

    def _settle(self) -> None:
        """Unpack what the processes need into a folder of the worker's, which Dask removes in any case."""
        problem = strangeness(self.signs, signs_of(self.job))
        if problem:
            raise ButforError(problem)
        self._folder = tempfile.mkdtemp(prefix="butfor-", dir=self._place)
        if self.files:
            packed = Path(self._folder) / "explainer"
            packed.mkdir()
            for name, content in self.files.items():
                (packed / name).write_bytes(content)
            source = self.job.input.prepared(self._folder)
            self.job = replace(self.job, explainer=str(packed), input=source)
            self.files = {}
        self._is_settled = True


class Child(Worker):
    """A process to ask the model in, that can be stopped by another thread while it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._is_over = False
        self._asking = threading.Lock()

    def call(self, *arguments: Any, **options: Any) -> Any:
        """Have a call made over there, unless the run is over."""
        with self._asking:
            if self._is_over:
                raise RunIsOver
            return super().call(*arguments, **options)

    def stop(self) -> None:
        """End the process, whatever it does, for good."""
        self._is_over = True
        if self._asking.acquire(blocking=False):
            self.close()
            self._asking.release()
        elif (pid := self.pid) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # whoever waits for its answer is told


def task() -> Callable[[str, int, int, tuple[int, ...]], Done]:
    """Give the function that explains a chunk on the Dask worker where it runs.

    It travels as code, and what it takes is plain: Dask's scheduler reads it, and need not have butfor.
    """

    def explain_there(name: str, number: int, n_rows: int, place: tuple[int, ...]) -> Any:
        from butfor.batch.dask_worker import site
        from butfor.batch.inputs import Chunk

        return site(name).explain(Chunk(number, n_rows, place))

    return explain_there


def site(name: str) -> Site:
    """Give what the Dask worker where this runs keeps for a run."""
    kept: Site = distributed.get_worker().plugins[name]
    return kept


async def look_there(job: Job) -> Signs:
    """See what the machine of a Dask worker has of a run, beside the worker's own business."""
    import asyncio

    return await asyncio.to_thread(signs_of, job)


def _first_file(rows: Input) -> str:
    """Give what storage says of the first file, which can be opened."""
    path = rows.files.paths[0]
    with open_bytes(path) as file:
        file.read(1)
    return state_of(*located(path)).said


def _seen(look: Any, *arguments: Any) -> Any:
    """Look; what is raised is what is seen."""
    try:
        return look(*arguments)
    except Exception as error:
        return ButforError(f"{type(error).__name__}: {abridged(str(error))}")
