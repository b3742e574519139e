"""A run on Dask distributed: a chunk is a task, and Dask's workers read the data and write the parts."""

import gc
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from butfor import InputError
from butfor._extras import optional
from butfor._files.inputs import Chunk
from butfor.batch.chunks import Done, Failed, Job
from butfor.batch.dask_worker import (
    LEASE_SECONDS,
    RENEWALS,
    Environment,
    NotWritten,
    Site,
    difference,
    environment_of,
    environment_there,
    renew_there,
    task,
)
from butfor.batch.ledger import Ledger
from butfor.errors import error_text

distributed: Any = optional("distributed", extra="dask")

SECONDS_TO_CONNECT = 10
RETRIES = 2
"""How often Dask tries a chunk again that could not be read or written: storage may fail for a moment."""
AT_LEAST_WAITING, PER_THREAD = 64, 4
"""Chunks that are submitted ahead: enough to keep every thread busy and to let a cluster grow."""

LOST = "the Dask scheduler was lost"
GONE = (ConnectionError, distributed.comm.CommClosedError)
"""What comes from a Dask worker that has just ended: Dask goes on without it."""


def run_on_dask(
    job: Job, chunks: Iterator[Chunk], ledger: Ledger, *, jobs: int, scheduler: str | None = None
) -> None:
    """Explain chunks on the cluster of a scheduler, or on a cluster of `jobs` workers that ends with the run.

    `scheduler` is an address, such as "tcp://10.0.0.7:8786", or the path of a scheduler file (.json). A chunk
    whose Dask workers die too often is tried once more while no other chunk runs, since another chunk may be
    at fault.
    """
    first = list(islice(chunks, 1))
    if not first:
        return  # without starting a cluster
    with _connected(jobs, scheduler) as client:
        environment = environment_of(job)
        _require_alike(client, job, environment)
        files = {} if scheduler is None else _packed(job)
        site = Site(job, environment, files, f"butfor-{uuid4().hex}", LEASE_SECONDS)
        with _installed(client, site) as name:
            killed = _explain(client, name, chain(first, chunks), ledger, alone=False)
            for chunk in killed:
                if not ledger.is_over:
                    _explain(client, name, iter([chunk]), ledger, alone=True)


@contextmanager
def _connected(jobs: int, scheduler: str | None) -> Iterator[Any]:
    if scheduler is not None:
        with _client(scheduler) as client:
            yield client
        return
    with (
        distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port: the dashboard is off
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _client(scheduler: str) -> Any:
    try:
        address = _address_in(Path(scheduler)) if scheduler.endswith(".json") else scheduler
        return distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except Exception as error:  # any server may answer at that address
        problem = f"{type(error).__name__}: {error}"
    # The garbage collector closes a client that could not connect. This must happen now: while another client
    # is being made, both would wait for the same lock forever.
    gc.collect()
    raise InputError(
        "scheduler must be the address of a Dask scheduler, such as tcp://10.0.0.7:8786, or its file, "
        f"got {scheduler}: {problem}. Does it run, and can it be reached?"
    )


def _address_in(file: Path) -> str:
    """Read the file of a scheduler, which may just be starting; Dask itself would wait for it forever."""
    for _ in range(10 * SECONDS_TO_CONNECT):
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.1)
    return str(json.loads(file.read_text())["address"])


def _require_alike(client: Any, job: Job, environment: Environment) -> None:
    """Refuse a cluster whose machines have other versions, or do not see the data or the folder."""
    found = client.run(environment_there, job, on_error="return")
    problems = Counter(
        f"butfor {environment['butfor']} cannot be used there: {type(each).__name__}: {each}"
        if isinstance(each, Exception)
        else difference(environment, each)
        for each in found.values()
        if not isinstance(each, GONE)
    )
    del problems[""]
    if problems:
        listed = "; ".join(f"{problem} ({n} of {len(found)} workers)" for problem, n in problems.items())
        raise InputError(
            "scheduler must be that of a cluster whose workers have what this machine has, got one where "
            f"{listed}."
        )


@contextmanager
def _installed(client: Any, site: Site) -> Iterator[str]:
    """Install what the run needs on every Dask worker, now and later; remove it at the end."""
    client.register_plugin(site, name=site.name)
    over = threading.Event()
    renewing = threading.Thread(target=_renew, args=(client, site.name, over), daemon=True)
    renewing.start()
    try:
        yield site.name
    finally:
        over.set()
        with suppress(Exception):  # the cluster may be gone
            client.unregister_worker_plugin(site.name)
        renewing.join(SECONDS_TO_CONNECT)


def _renew(client: Any, name: str, over: threading.Event) -> None:
    """Renew from time to time what all Dask workers hold of this run."""
    while not over.wait(LEASE_SECONDS / RENEWALS):
        with suppress(Exception):  # of workers that come and go
            client.run(renew_there, name, on_error="ignore")


def _packed(job: Job) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(job.explainer).iterdir() if path.is_file()}


def _explain(client: Any, name: str, chunks: Iterator[Chunk], ledger: Ledger, *, alone: bool) -> list[Chunk]:
    """Explain chunks, a limited number at a time; return those that lost their Dask workers too often."""
    under_way: dict[Any, Chunk] = {}
    killed: list[Chunk] = []
    running = distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)
    try:
        _submit(client, name, chunks, running, under_way, alone)
        for batch in running.batches():
            for future, result in batch:
                if future.status == "error" and not alone and isinstance(result[1], distributed.KilledWorker):
                    killed.append(under_way.pop(future))
                else:
                    ledger.ended(_outcome(future.status, result, under_way[future]))
                    del under_way[future]
            if ledger.is_over:
                return []
            _submit(client, name, chunks, running, under_way, alone)
    except Exception as error:
        if client.status == "running" and not isinstance(error, ConnectionError):
            raise
        for chunk in under_way.values():
            ledger.ended(Failed(chunk, "explain", LOST))
        ledger.stop()
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.cancel(list(under_way), force=True)
    return killed


def _submit(
    client: Any, name: str, chunks: Iterator[Chunk], running: Any, under_way: dict[Any, Chunk], alone: bool
) -> None:
    """Submit as many further chunks as are wanted ahead."""
    wanted = max(AT_LEAST_WAITING, PER_THREAD * sum(client.nthreads().values())) - len(under_way)
    further = list(islice(chunks, max(0, wanted)))
    if not further:
        return
    keys = [f"explain_chunk-{name}-{chunk.number}{'-alone' * alone}" for chunk in further]
    arguments = [(name, chunk.number, chunk.n_rows, chunk.place) for chunk in further]
    futures = client.map(task(), *zip(*arguments, strict=True), key=keys, retries=RETRIES, pure=False)
    under_way.update(zip(futures, further, strict=True))
    running.update(futures)


def _outcome(status: str, result: Any, chunk: Chunk) -> Done | Failed:
    if status == "finished":
        done: Done = result
        return done
    if status != "error":
        raise ConnectionError(LOST)
    error = result[1]
    if isinstance(error, NotWritten):
        return error.failed
    return Failed(chunk, "explain", error_text(error))
