"""A whole run: find out what is missing in a folder, have it done, and sum up."""

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

from joblib import cpu_count

from butfor import Explainer, InputError
from butfor.batch.chunks import Job
from butfor.batch.folder import Folder
from butfor.batch.identity import fingerprint, plain, settings_of, versions
from butfor.batch.inputs import Chunk, Columns, Input, open_input
from butfor.batch.inputs.locations import DataChangedError, local_path
from butfor.batch.inventory import Inventory, inventory_of, stranger, total
from butfor.batch.ledger import Ledger, Progress
from butfor.batch.local_engine import run_here, run_locally
from butfor.batch.manifest import MANIFEST, Manifest, earlier_run, holds_run
from butfor.batch.outputs import arrow
from butfor.batch.shipping import pack
from butfor.batch.summary import Summary
from butfor.checks import require_count, require_seconds

Engine = Callable[[Job, Iterator[Chunk], Ledger], None]
ENGINES = ("local", "dask", "here")


def run_batch(
    explainer: Explainer,
    data: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    only_positive: bool = False,
    chunk_rows: int = 5_000,
    columns: Columns | None = None,
    patience: float = 30.0,
    progress: Progress | None = None,
) -> Summary:
    """Explain all rows of files, and write Parquet: a part for each chunk of rows, whole or not at all.

    A run that was stopped, however it was, goes on when it is called again with the same arguments: what is
    there and whole is not done again. `data` are files or a folder, `out` a folder; both may be addresses
    that fsspec knows. `engine` is "local" (`jobs` processes on this machine, as many as it has cores by
    default), "dask" (a cluster with the address `scheduler`, or one on this machine), or "here" (this very
    process). With `only_positive` negative rows are left out. A row for which a process shows no progress for
    `patience` seconds beyond the row's own time limit is given up.

    Where a file of `data` changes during the run, it ends with an InputError. In the end all parts are read
    from storage, and only what is there and whole counts as done.
    """
    require_count("chunk_rows", chunk_rows)
    require_seconds("patience", patience)
    engine_of_run = _engine(engine, jobs, scheduler)
    if only_positive:
        explainer._inquiry.require_positive_class()
    arrow()  # without it nothing could be written in the end
    paths = [str(path) for path in ([data] if isinstance(data, str | Path) else data)]
    rows = _opened(explainer, paths, columns or Columns())
    about = {
        "data": rows.fingerprint(),
        **settings_of(explainer),
        "only_positive": only_positive,
        "chunk_rows": chunk_rows,
        **{f"column of {name}": plain(given) for name, given in asdict(columns or Columns()).items()},
    }
    folder = Folder(str(out))
    _require_apart(folder, paths)
    _require_shared(folder, engine)
    folder.make()
    with folder.locked():
        given_up_after = explainer.budget.max_seconds + patience
        order = _Order(explainer, rows, folder, about, only_positive, chunk_rows, given_up_after)
        return _carry_out(order, engine_of_run, progress)


@dataclass(frozen=True)
class _Order:
    """What is to be done, once it is checked."""

    explainer: Explainer
    rows: Input
    folder: Folder
    about: dict[str, Any]
    only_positive: bool
    chunk_rows: int
    patience: float


def _carry_out(order: _Order, engine: Engine, progress: Progress | None) -> Summary:
    """Do what is missing, and sum up."""
    started = time.monotonic()
    folder = order.folder
    with folder.required():
        earlier = earlier_run(folder, order.about, versions())
    with _scratch(folder) as scratch:
        pack(order.explainer, f"{scratch}/explainer")
        rows = order.rows.prepared(scratch)
        # All rows are gone through before the first is explained: what is wrong as a whole is said now.
        plan = list(rows.chunks(order.chunk_rows))
        manifest = earlier or _first(folder, order, plan)
        folder.remove_unfinished()
        earlier_parts = _earlier_parts(folder, manifest)
        ledger = Ledger(manifest.n_rows, earlier_parts.statistics, progress)
        job = Job(f"{scratch}/explainer", rows, folder, manifest.run, order.only_positive, order.patience)
        missing = (chunk for chunk in plan if chunk.number not in earlier_parts.parts)
        engine(job, missing, ledger)
    folder.remove_unfinished()
    _require_unchanged(order, ledger)
    lost_manifest = _lost_manifest(folder, manifest)
    summary = _summed_up(folder, manifest, ledger, earlier_parts, lost_manifest)
    summary = replace(summary, seconds=time.monotonic() - started)
    with suppress(OSError):  # where the disk is full, the caller is still told
        if holds_run(folder, manifest):
            summary.write(folder)
    return summary


def _require_unchanged(order: _Order, ledger: Ledger) -> None:
    """Raise where DATA is not what it was when the run began."""
    try:
        if ledger.data_changed is not None:
            raise DataChangedError(ledger.data_changed)
        order.rows.files.require_all_unchanged()
    except DataChangedError as error:
        raise DataChangedError(
            f"{error} The parts in {order.folder.path} are of DATA as it was: put that back and the same "
            "command goes on, or give another out for the new one."
        ) from None


def _summed_up(
    folder: Folder, manifest: Manifest, ledger: Ledger, earlier: Inventory, lost: Sequence[str]
) -> Summary:
    """Say how the run went, by what is on storage now and not by what was written."""
    now = inventory_of(folder, manifest)
    failed = {each.chunk.number for each in ledger.failed}
    done = {number: part for number, part in now.parts.items() if number not in failed}
    gone = (earlier.parts.keys() | ledger.written) - done.keys()
    return Summary(
        out=folder.path,
        n_rows=manifest.n_rows,
        n_chunks=manifest.n_chunks,
        statistics=total(done.values()),
        n_earlier=sum(done[number].statistics.n_rows for number in earlier.parts if number in done),
        failed=tuple(ledger.failed),
        cannot_write=ledger.cannot_write,
        lost=(*lost, *map(now.problem, sorted(gone)), *map(stranger, now.strangers)),
    )


def _lost_manifest(folder: Folder, manifest: Manifest) -> list[str]:
    """Say what became of the manifest during the run; one that was removed is written again."""
    if holds_run(folder, manifest):
        return []
    if MANIFEST in folder.names():
        return [f"{MANIFEST}: it was replaced during the run, by that of another run or by none at all"]
    with suppress(OSError):
        manifest.write(folder)
    return [f"{MANIFEST}: it was removed during the run"]


def _engine(name: str, jobs: int | None, scheduler: str | None) -> Engine:
    """Give what carries out the work."""
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


def _require_apart(folder: Folder, paths: Sequence[str]) -> None:
    """Raise where the output would be among the data of the next run."""
    above = Path(folder.full_path).resolve().parents if folder.is_local else ()
    for path in paths:
        place = local_path(path)
        if place is not None and Path(place).resolve() in above:
            raise InputError(
                f"out must not be inside DATA, where its parts would be taken for rows, got {folder.path} in "
                f"{path}: give a folder beside it."
            )


def _require_shared(folder: Folder, engine: str) -> None:
    """Raise where worker processes would write into their own memory."""
    if folder.is_private and engine != "here":
        raise InputError(
            f"out must be a folder or an address that other processes see, got {folder.path}, which is in "
            "the memory of each process alone: give one on a disk or in a store."
        )


def _opened(explainer: Explainer, paths: Sequence[str], columns: Columns) -> Input:
    names = getattr(explainer._inquiry.reader, "names", None)
    return open_input(
        paths,
        columns,
        takes_texts=explainer.takes_texts,
        n_features=explainer.n_features,
        names=None if names is None else names.given,
    )


def _first(folder: Folder, order: _Order, plan: Sequence[Chunk]) -> Manifest:
    """Write down what the output will be about."""
    n_rows = sum(chunk.n_rows for chunk in plan)
    manifest = Manifest(order.about, versions(), len(plan), n_rows, run=uuid4().hex)
    with folder.required():
        manifest.write(folder)
    return manifest


def _earlier_parts(folder: Folder, manifest: Manifest) -> Inventory:
    """Find the parts that earlier runs have left; one that is damaged or belongs elsewhere is done again."""
    found = inventory_of(folder, manifest)
    if found.strangers:
        raise InputError(
            f"out must hold the parts of this run and no others, got {found.strangers[0]} in {folder.path}: "
            "remove it."
        )
    return found


@contextmanager
def _scratch(folder: Folder) -> Iterator[str]:
    """Make a folder for what processes of this machine share; what a killed run left of it is removed."""
    prefix = f"butfor-{fingerprint(os.path.realpath(folder.full_path))[:16]}-"
    if folder.is_local:  # and locked, so that nobody is using it
        for left in Path(gettempdir()).glob(f"{prefix}*"):
            rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as scratch:
        yield scratch
