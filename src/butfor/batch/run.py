"""A batch run: find the chunks that have no part yet, have an engine explain them, and sum up."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import Any
from uuid import uuid4

from butfor import Explainer, InputError
from butfor._checks import require_count, require_seconds
from butfor._files.inputs import Chunk, ColumnNames, Input, open_rows
from butfor._files.inputs.locations import DataChangedError, local_path
from butfor._files.zips import MAX_UNPACKED
from butfor._processes.cores import cpu_count
from butfor._processes.one_thread import unlimited_libraries
from butfor._processes.template import begin_imports
from butfor._render.words import printable
from butfor.batch.chunks import Job
from butfor.batch.events import OnEvent
from butfor.batch.folder import UNFINISHED, Folder, OutLostError
from butfor.batch.identity import fingerprint, plain, settings_of, versions
from butfor.batch.inventory import Inventory, inventory_of, stranger_problem, total
from butfor.batch.lease import Lease
from butfor.batch.ledger import Ledger, Progress
from butfor.batch.local_engine import run_here, run_locally
from butfor.batch.manifest import MANIFEST, Manifest, earlier_run, holds_run
from butfor.batch.outputs import arrow
from butfor.batch.parts import begun_name
from butfor.batch.retrying import Retry, forget_begun_errors, rows_to_retry
from butfor.batch.shipping import pack
from butfor.batch.summary import Summary

LOG = logging.getLogger(__name__)
Engine = Callable[[Job, Iterator[Chunk], Ledger], None]
"""Explains chunks, writes their parts, and reports to the ledger."""
ENGINES = ("local", "dask", "here")
CHUNKS = 64
"""How many chunks a run has at least, as long as they have enough rows: all processes shall have work."""
LEAST_ROWS, MOST_ROWS = 100, 5_000
"""Limits of the number of rows in a chunk."""


def run_batch(
    explainer: Explainer,
    data: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    only_positive: bool = False,
    chunk_rows: int | None = None,
    columns: ColumnNames | None = None,
    patience: float = 30.0,
    retry_errors: bool | str = False,
    max_unpacked: float = MAX_UNPACKED,
    progress: Progress | None = None,
    on_event: OnEvent | None = None,
) -> Summary:
    """Explain all rows of files and write the results as Parquet.

    The rows are cut into chunks. The results of a chunk become one Parquet file, its part, which appears
    whole or not at all. A run that was stopped continues when it is called again with the same arguments:
    chunks whose part is whole are not explained again, and of the others at most the last ten seconds of each
    worker are. At the end every part is read back from storage, and
    only whole parts count as done.

    Parameters
    ----------
    explainer : Explainer
        The explainer. It must be possible to pickle its model.
    data : str, Path or a sequence of them
        Files or folders with the rows: paths, or addresses that fsspec knows. They must not change during
        the run.
    out : str or Path
        The folder to write to: new, empty, or that of an earlier run with the same arguments.
    jobs : int, optional
        Number of worker processes on this machine. By default one for each core.
    engine : {"local", "dask", "here"}, default "local"
        Who explains the chunks: worker processes on this machine, a Dask cluster, or this process.
    scheduler : str, optional
        For Dask: the address of the scheduler, or the path of its JSON file. By default a cluster of `jobs`
        workers is started on this machine.
    only_positive : bool, default False
        Whether to leave out rows that the model decides negatively.
    chunk_rows : int, optional
        Number of rows in a chunk. By default a 64th of all rows, but at least 100 and at most 5,000.
    columns : Columns, optional
        The names of the columns of a table, where they cannot be found by name and type.
    patience : float, default 30
        Seconds that a worker may take for a row beyond the time limit of the explainer's budget. After that
        the worker is stopped, and the row has an error.
    retry_errors : bool or str, default False
        Whether to try rows again whose outcome in `out` is an error. With a string: those whose error holds
        this text. All other rows that are done stay as they are.
    max_unpacked : float, default 16
        The most GiB that a compressed file (.npz) of `data` may unpack to.
    progress : callable, optional
        Called with the number of rows that are done and the number of all rows.
    on_event : callable, optional
        Called with a `BatchEvent` whenever something happens: the run begins, rows are explained, a part is
        written, a chunk fails, the run ends.

    Returns
    -------
    Summary
        Counts of rows, statuses and sizes, and what went wrong. A row that cannot be explained does not end
        the run: it has the status "error".

    Raises
    ------
    InputError
        If an argument is wrong, if `out` is in use or belongs to a run with other arguments, or if a file of
        `data` changes during the run.
    ButforError
        If `out` cannot be read any more in the end; what was written is kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scipy import sparse
    >>> explainer = Explainer(lambda X: X.sum(axis=1), threshold=2)
    >>> with TemporaryDirectory() as folder:
    ...     sparse.save_npz(f"{folder}/rows.npz", sparse.csr_matrix([[1, 1, 0], [0, 1, 0], [1, 1, 1]]))
    ...     summary = run_batch(explainer, f"{folder}/rows.npz", f"{folder}/why", engine="here")
    >>> summary.n_rows, summary.is_clean, summary.statistics.sizes
    (3, True, {1: 1, 2: 1})
    """
    if chunk_rows is not None:
        require_count("chunk_rows", chunk_rows)
    require_seconds("patience", patience)
    retry = Retry.of(retry_errors)
    engine_of_run = _engine(engine, jobs, scheduler)
    if engine == "local":
        begin_imports()  # for the workers, while the model and the rows are read
    if engine != "here" and jobs != 1:
        _warn_of_threads(explainer)
    if only_positive:
        explainer.require_positive_class()
    arrow()  # without it nothing could be written in the end
    paths = [str(path) for path in ([data] if isinstance(data, str | Path) else data)]
    rows = open_rows(explainer, paths, columns, max_unpacked)
    _warn_of_repeated_ids(rows)
    about = {
        "data": rows.fingerprint(),
        **settings_of(explainer),
        "only_positive": only_positive,
        "chunk_rows": chunk_rows,
        **{f"column of {name}": plain(value) for name, value in asdict(columns or ColumnNames()).items()},
    }
    folder = Folder(str(out))
    _require_apart(folder, paths)
    _require_shared(folder, engine)
    folder.make()
    with folder.locked() as lease:
        silence = explainer.budget.max_seconds + patience
        known = versions(explainer.settings()["model"])
        request = _BatchRequest(
            explainer, rows, folder, about, only_positive, chunk_rows, silence, known, retry
        )
        return _carry_out(request, engine_of_run, lease, progress, on_event)


@dataclass(frozen=True)
class _BatchRequest:
    """The checked arguments of a run."""

    explainer: Explainer
    rows: Input
    folder: Folder
    about: dict[str, Any]
    only_positive: bool
    chunk_rows: int | None
    patience: float
    """Seconds without any progress after which a worker is stopped."""
    versions: dict[str, str]
    """Of butfor, Python and all libraries that the results depend on."""
    retry: Retry | None


def _carry_out(
    request: _BatchRequest,
    engine: Engine,
    lease: Lease | None,
    progress: Progress | None,
    on_event: OnEvent | None,
) -> Summary:
    """Explain the chunks that have no part yet, and sum up."""
    started = time.monotonic()
    folder = request.folder
    with folder.required():
        earlier = earlier_run(folder, request.about, request.versions)
    with _scratch(folder) as scratch:
        pack(request.explainer, f"{scratch}/explainer")
        rows = request.rows.prepared(scratch)
        # All rows are read once before the first is explained, so that errors of the whole input come now.
        plan, chunk_rows = _plan(rows, request.chunk_rows if earlier is None else earlier.about["chunk_rows"])
        manifest = earlier or _new_manifest(folder, request, plan, chunk_rows)
        with folder.required():
            folder.remove_all(UNFINISHED)
            earlier_parts = _earlier_parts(folder, manifest)
            to_retry = _to_retry(folder, manifest, earlier_parts, request.retry)
        kept = {number: part for number, part in earlier_parts.parts.items() if number not in to_retry}
        ledger = Ledger(manifest.n_rows, total(kept.values()), progress, on_event)
        if lease is not None:
            lease.on_lost = ledger.stop
        ledger.begun()
        job = Job(
            explainer=f"{scratch}/explainer",
            input=rows,
            out=folder,
            run=manifest.run,
            only_positive=request.only_positive,
            patience=request.patience,
            retry=request.retry,
        )
        engine(job, (chunk for chunk in plan if chunk.number not in kept), ledger)
    if lease is not None and lease.is_lost:
        raise OutLostError(
            f"out must not be written to by two runs, got {folder.path}, which another run took over while "
            "this one could not be seen to be alive: wait for that one."
        )
    with folder.still_there():
        folder.remove_all(UNFINISHED)
        _require_unchanged(request, ledger)
        lost_manifest = _lost_manifest(folder, manifest)
        summary = _summed_up(folder, manifest, ledger, earlier_parts, to_retry, lost_manifest)
    summary = replace(summary, seconds=time.monotonic() - started)
    with suppress(OSError):  # if the disk is full, the caller still gets the summary
        if holds_run(folder, manifest):
            summary.write(folder)
    ledger.over()
    return summary


def _require_unchanged(request: _BatchRequest, ledger: Ledger) -> None:
    """Raise a DataChangedError if a file of DATA has changed since the run began."""
    try:
        if ledger.data_changed is not None:
            raise DataChangedError(ledger.data_changed)
        request.rows.files.require_all_unchanged()
    except DataChangedError as error:
        raise DataChangedError(
            f"{error} The parts in {request.folder.path} are of DATA as it was: put that back and the same "
            "command goes on, or give another out for the new one."
        ) from None


def _to_retry(folder: Folder, manifest: Manifest, earlier: Inventory, retry: Retry | None) -> dict[int, int]:
    """Return how many rows of each chunk are tried again, of those that have a part."""
    if retry is None:
        return {}
    forget_begun_errors(folder)
    return rows_to_retry(folder, manifest.run, earlier.parts, retry)


def _summed_up(
    folder: Folder,
    manifest: Manifest,
    ledger: Ledger,
    earlier: Inventory,
    to_retry: dict[int, int],
    lost: Sequence[str],
) -> Summary:
    """Return the summary, counted from the parts that are on storage now."""
    now = inventory_of(folder, manifest)
    # If rows could not be tried again, their chunk still has its earlier part.
    failed = {each.chunk.number for each in ledger.failed} - to_retry.keys()
    n_retried = sum(n_rows for number, n_rows in to_retry.items() if number in ledger.written)
    done = {number: part for number, part in now.parts.items() if number not in failed}
    gone = (earlier.parts.keys() | ledger.written) - done.keys()
    return Summary(
        out=folder.path,
        n_rows=manifest.n_rows,
        n_chunks=manifest.n_chunks,
        statistics=total(done.values()),
        n_earlier=sum(done[number].statistics.n_rows for number in earlier.parts if number in done)
        - n_retried,
        n_retried=n_retried,
        failed=tuple(ledger.failed),
        cannot_write=ledger.cannot_write,
        lost=(*lost, *map(now.problem, sorted(gone)), *map(stranger_problem, now.strangers)),
    )


def _lost_manifest(folder: Folder, manifest: Manifest) -> list[str]:
    """Return a message if the manifest was lost during the run; write it again if it was removed."""
    if holds_run(folder, manifest):
        return []
    if MANIFEST in folder.names():
        return [f"{MANIFEST}: it was replaced during the run, by that of another run or by none at all"]
    with suppress(OSError):
        manifest.write(folder)
    return [f"{MANIFEST}: it was removed during the run"]


def _engine(name: str, jobs: int | None, scheduler: str | None) -> Engine:
    """Return the function that explains the chunks."""
    if jobs is not None:
        require_count("jobs", jobs)
    if name not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}, got {name!r}.")
    if scheduler is not None and name != "dask":
        raise InputError(f'scheduler must be left out unless engine is "dask", got {scheduler!r}.')
    jobs = cpu_count() if jobs is None else jobs
    if name == "local":
        return partial(run_locally, jobs=jobs)
    if name == "here":
        return run_here
    from butfor.batch.dask_engine import run_on_dask

    return partial(run_on_dask, jobs=jobs, scheduler=scheduler)


def _warn_of_threads(explainer: Explainer) -> None:
    """Log where processes cannot be kept to one thread each."""
    for library in unlimited_libraries(explainer):
        LOG.warning(
            "threads of %s cannot be limited: each process may use all cores, so that fewer processes (jobs) "
            "may be faster",
            library,
        )


def _warn_of_repeated_ids(rows: Input) -> None:
    """Log that some ids come more than once: who looks one up finds several rows."""
    found = rows.repeated_ids()
    if found:
        first = printable(repr(found[0]))
        LOG.warning(
            "%d ids of DATA come more than once, such as %s: each row has its own answer", len(found), first
        )


def _require_apart(folder: Folder, paths: Sequence[str]) -> None:
    """Raise an InputError if the next run would read the output as data."""
    above = Path(folder.full_path).resolve().parents if folder.is_local else ()
    for path in paths:
        place = local_path(path)
        if place is not None and Path(place).resolve() in above:
            raise InputError(
                f"out must not be inside DATA, where its parts would be taken for rows, got {folder.path} in "
                f"{path}: give a folder beside it."
            )


def _require_shared(folder: Folder, engine: str) -> None:
    """Raise an InputError if worker processes would write to their own memory."""
    if folder.is_private and engine != "here":
        raise InputError(
            f"out must be a folder or an address that other processes see, got {folder.path}, which is in "
            "the memory of each process alone: give one on a disk or in a store."
        )


def _plan(rows: Input, chunk_rows: int | None) -> tuple[list[Chunk], int]:
    """Cut the rows into chunks, always the same ones; return them and the number of rows of each."""
    plan = list(rows.chunks(chunk_rows or MOST_ROWS))
    if chunk_rows is not None:
        return plan, chunk_rows
    a_share = -(-sum(chunk.n_rows for chunk in plan) // CHUNKS)
    if a_share >= MOST_ROWS:
        return plan, MOST_ROWS
    return _plan(rows, max(LEAST_ROWS, a_share))


def _new_manifest(folder: Folder, request: _BatchRequest, plan: Sequence[Chunk], chunk_rows: int) -> Manifest:
    """Write the manifest of a new run."""
    about, n_rows = {**request.about, "chunk_rows": chunk_rows}, sum(chunk.n_rows for chunk in plan)
    manifest = Manifest(about, request.versions, len(plan), n_rows, run=uuid4().hex)
    with folder.required():
        manifest.write(folder)
    return manifest


def _earlier_parts(folder: Folder, manifest: Manifest) -> Inventory:
    """Return the whole parts of earlier runs. Chunks with a damaged or misplaced part are explained again."""
    found = inventory_of(folder, manifest)
    if found.strangers:
        raise InputError(
            f"out must hold the parts of this run and no others, got {found.strangers[0]} in {folder.path}: "
            "remove it."
        )
    for number in found.parts:  # a run that was killed between the two has left it
        if begun_name(number) in found.names:
            folder.remove(begun_name(number))
    return found


@contextmanager
def _scratch(folder: Folder) -> Iterator[str]:
    """Create a temporary folder for the processes of this machine, after removing those of killed runs."""
    place = os.path.realpath(folder.full_path) if folder.is_local else folder.full_path.rstrip("/")
    prefix = f"butfor-{fingerprint(place)[:16]}-"
    for left in Path(gettempdir()).glob(f"{prefix}*"):  # the lock or the lease says that no run uses them
        rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as scratch:
        yield scratch
