"""A run on Dask distributed: chunks are its tasks, and its workers read the data and write the parts."""

import gc
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from butfor import InputError
from butfor.batch.chunks import Done, Failed, Job
from butfor.batch.dask_worker import NotWritten, Signs, Site, look_there, signs_of, strangeness, task
from butfor.batch.inputs import Chunk
from butfor.batch.ledger import Ledger
from butfor.errors import abridged
from butfor.render.extras import optional

distributed: Any = optional("distributed", extra="dask")

SECONDS_TO_CONNECT = 10
RETRIES = 2
"""How often Dask tries a chunk again that could not be read or written: storage has its moments."""
AT_LEAST_WAITING, PER_THREAD = 64, 4
"""Chunks that are submitted ahead: enough to keep every thread busy and to let a cluster grow."""

LOST = "the Dask scheduler was lost"


def run_on_dask(
    job: Job, chunks: Iterator[Chunk], ledger: Ledger, *, jobs: int, scheduler: str | None = None
) -> None:
    """Explain chunks on the cluster of a scheduler, or on one of `jobs` workers that ends with the run.

    `scheduler` is an address, such as "tcp://10.0.0.7:8786", or the path of a scheduler file (.json). A chunk
    whose workers die again and again is tried once more with nothing beside it: the fault may be another's.
    """
    first = list(islice(chunks, 1))
    if not first:
        return  # before a cluster is started for nothing
    with _connected(jobs, scheduler) as client:
        signs = signs_of(job)
        _require_alike(client, job, signs)
        with _installed(client, Site(job, signs, {} if scheduler is None else _packed(job))) as name:
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
            dashboard_address="127.0.0.1:0",  # any free port, and nobody looks at it
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
    except Exception as error:  # what answers there may be anything
        said = f"{type(error).__name__}: {error}"
    # A client that could not connect is closed by the garbage collector, which must happen now: while another
    # client is being made both would wait for the same lock for ever.
    gc.collect()
    raise InputError(
        "scheduler must be the address of a Dask scheduler, such as tcp://10.0.0.7:8786, or its file, "
        f"got {scheduler}: {said}. Does it run, and can it be reached?"
    )


def _address_in(file: Path) -> str:
    """Read the file of a scheduler, which may just be starting; Dask itself would wait for ever."""
    for _ in range(10 * SECONDS_TO_CONNECT):
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.1)
    return str(json.loads(file.read_text())["address"])


def _require_alike(client: Any, job: Job, signs: Signs) -> None:
    """Refuse a cluster whose machines have other versions, or do not see the data or the folder."""
    seen = client.run(look_there, job, on_error="return")
    problems = Counter(
        f"butfor {signs['butfor']} cannot be used there: {type(each).__name__}: {each}"
        if isinstance(each, Exception)
        else strangeness(signs, each)
        for each in seen.values()
    )
    del problems[""]
    if problems:
        said = "; ".join(f"{problem} ({n} of {len(seen)} workers)" for problem, n in problems.items())
        raise InputError(
            "scheduler must be that of a cluster whose workers have what this machine has, got one where "
            f"{said}."
        )


@contextmanager
def _installed(client: Any, site: Site) -> Iterator[str]:
    """Give every worker, now and later, what it needs for the run; take it away in the end."""
    name = f"butfor-{uuid4().hex}"
    client.register_plugin(site, name=name)
    try:
        yield name
    finally:
        with suppress(Exception):  # a cluster that is gone has nothing left to take away
            client.unregister_worker_plugin(name)


def _packed(job: Job) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(job.explainer).iterdir() if path.is_file()}


def _explain(client: Any, name: str, chunks: Iterator[Chunk], ledger: Ledger, *, alone: bool) -> list[Chunk]:
    """Explain chunks, a limited number of them under way; give those that lost their workers too often."""
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
        with suppress(Exception):  # where the scheduler is gone nothing is left to cancel
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
    told = [(name, chunk.number, chunk.n_rows, chunk.place) for chunk in further]
    futures = client.map(task(), *zip(*told, strict=True), key=keys, retries=RETRIES, pure=False)
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
    return Failed(chunk, "explain", f"{type(error).__name__}: {abridged(str(error))}")
