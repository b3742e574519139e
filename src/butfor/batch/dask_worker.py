"""What a Dask worker holds for a run: the explainer, and for each of its threads a worker process."""

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
from butfor._extras import optional
from butfor._files.inputs import Chunk, Input
from butfor._files.inputs.locations import located, open_bytes
from butfor._files.inputs.state import state_of
from butfor._processes.harness import Harness
from butfor._processes.template import end_when_idle
from butfor._processes.worker import Stopped
from butfor.batch.chunks import Done, Failed, Job, explain_chunk_safely, worker_for
from butfor.batch.identity import versions
from butfor.batch.manifest import MANIFEST
from butfor.errors import error_text

distributed: Any = optional("distributed", extra="dask")

OUT, DATA = "out", "DATA"
LEASE_SECONDS = 45.0
"""How long what a Dask worker holds of a run stays there without a sign of the command."""
RENEWALS = 9
"""How often the command gives such a sign in that time."""
Environment = dict[str, Any]
"""What must be the same on every machine of a run, by name."""


class NotWritten(Exception):  # noqa: N818 - for Dask, which tries a task again that raises
    """A chunk has no part; `failed` says why."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


def environment_of(job: Job) -> Environment:
    """Return what this machine has of a run: versions, its manifest, the state of the first data file."""
    return {
        **versions(),
        OUT: _result_or_error(job.out.read, MANIFEST),
        DATA: _result_or_error(_state_of_first_file, job.input),
    }


def difference(here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """Describe the first difference between the machine that began a run and another; empty if there is none.

    >>> difference({"butfor": "0.1.0", "DATA": 1}, {"butfor": "0.2.0", "DATA": 1})
    'butfor must be 0.1.0, as where the run was started, got 0.2.0'
    >>> difference({"DATA": 1}, {"DATA": ButforError("no such file")})
    'DATA cannot be read there: no such file'
    >>> difference({"out": b"{}"}, {"out": b"{...}"})
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
    """What every Dask worker has of a run, including workers that join later.

    The command renews it from time to time. Where it does not, as after a kill, the first Dask worker that
    notices has the scheduler remove it everywhere, and with it the model and the processes.

    Parameters
    ----------
    job
        The run.
    environment
        What the machine that began the run has.
    files
        The packed explainer, for machines that do not have its folder. Empty for a cluster on this machine.
    name
        What Dask calls it.
    lease
        Seconds without a renewal after which the command is taken for dead.
    """

    def __init__(
        self, job: Job, environment: Environment, files: dict[str, bytes], name: str, lease: float
    ) -> None:
        self.name = name
        self.lease = lease
        self.job = job
        self.environment = environment
        self.files = files

    def setup(self, worker: Any) -> None:
        """Remember where the Dask worker keeps its files; everything else waits for the first chunk."""
        if not self.files and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which then ends its workers
        self._place: str = worker.local_directory
        self._folder: str | None = None
        self._is_prepared = False
        self._is_over = False
        self._lock = threading.Lock()
        self._of_thread = threading.local()
        self._workers: list[Harness] = []
        self._renewed, self._removed = threading.Event(), threading.Event()
        threading.Thread(target=self._expire, args=(worker,), daemon=True).start()

    def renew(self) -> None:
        """Note that the command is alive."""
        self._renewed.set()

    def _expire(self, worker: Any) -> None:
        """Wait until nothing was renewed for as long as the lease, then remove everything of the run.

        Waits are counted, not seconds: a machine that was suspended has not listened in the meantime.
        """
        n_silent = 0
        while n_silent < RENEWALS:
            if self._removed.wait(self.lease / RENEWALS):
                return
            n_silent = 0 if self._renewed.is_set() else n_silent + 1
            self._renewed.clear()
        self.teardown(worker)
        worker.loop.add_callback(self._remove_everywhere, worker)

    async def _remove_everywhere(self, worker: Any) -> None:
        if self.name not in worker.plugins:
            return  # another worker was first
        with suppress(Exception):  # the scheduler may be gone
            await worker.scheduler.unregister_worker_plugin(name=self.name)

    def teardown(self, worker: Any) -> None:
        """End the worker processes, even in the middle of a call, and remove their files."""
        self._is_over = True
        self._removed.set()
        for each in self._workers:
            each.close()
        end_when_idle()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def explain(self, chunk: Chunk) -> Done:
        """Explain a chunk in the worker process of this thread."""
        outcome = explain_chunk_safely(self._worker(), self.job, chunk)
        if isinstance(outcome, Failed):
            raise NotWritten(outcome)
        return outcome

    def _worker(self) -> Harness:
        """Return the worker process of this thread."""
        with self._lock:
            if not self._is_prepared:
                self._prepare()
        if not hasattr(self._of_thread, "worker"):
            self._of_thread.worker = worker_for(self.job)
            self._workers.append(self._of_thread.worker)
        if self._is_over:  # looked at last, so that `teardown` has closed every worker, or this raises
            raise Stopped("the run is over")
        worker: Harness = self._of_thread.worker
        return worker

    def _prepare(self) -> None:
        """Write what the processes need into a folder inside the Dask worker's, which Dask removes."""
        problem = difference(self.environment, environment_of(self.job))
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
        self._is_prepared = True


def task() -> Callable[[str, int, int, tuple[int, ...]], Done]:
    """Return the function that explains a chunk on the Dask worker where it runs.

    It is sent as code and takes plain values: Dask's scheduler reads them, and need not have butfor.
    """

    def explain_there(name: str, number: int, n_rows: int, place: tuple[int, ...]) -> Any:
        from butfor._files.inputs import Chunk
        from butfor.batch.dask_worker import site

        return site(name).explain(Chunk(number, n_rows, place))

    return explain_there


def site(name: str) -> Site:
    """Return what the Dask worker where this runs holds for a run."""
    found: Site = distributed.get_worker().plugins[name]
    return found


def renew_there(name: str, dask_worker: Any) -> None:
    """Renew what the Dask worker where this runs holds for a run."""
    found = dask_worker.plugins.get(name)
    if found is not None:
        found.renew()


async def environment_there(job: Job) -> Environment:
    """Return what the machine of a Dask worker has of a run, without blocking the Dask worker."""
    import asyncio

    return await asyncio.to_thread(environment_of, job)


def _state_of_first_file(rows: Input) -> str:
    """Open the first file, and return its state according to the storage."""
    path = rows.files.paths[0]
    with open_bytes(path) as file:
        file.read(1)
    return state_of(*located(path)).description


def _result_or_error(read: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns or raises."""
    try:
        return read(*arguments)
    except Exception as error:
        return ButforError(error_text(error))
