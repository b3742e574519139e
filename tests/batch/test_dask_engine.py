"""A run on a cluster gives what a run here gives, whatever happens to the cluster's workers."""

import logging
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from batches import BAD, explainer, has, marked, output, save, score, slow

from butfor import InputError
from butfor.batch import dask_engine, run_batch
from butfor.batch.folder import Folder

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.xdist_group("dask")  # one cluster for all of them

SEDC = {"search": "sedc"}
"""A search whose answers do not hang on the clock."""


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
    ) as cluster:
        yield cluster


@pytest.fixture
def on_cluster(cluster):
    """A cluster with its workers: a nanny may have given up on one that other tests killed."""
    with distributed.Client(cluster.scheduler_address) as client:
        try:
            client.wait_for_workers(2, timeout=20)
        except TimeoutError:
            cluster.scale(0)
            cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
    return {"engine": "dask", "scheduler": cluster.scheduler_address}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return save(tmp_path_factory.mktemp("data") / "rows.npz")


@pytest.fixture(scope="module")
def expected(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("here") / "out"
    run_batch(explainer(slow, **SEDC), data, str(out), engine="here", chunk_rows=5)
    return output(out)


def kills_its_dask_worker(X):
    if has(X, BAD):
        ancestor = os.getppid()
        while ancestor > 1:  # the template, then the Dask worker
            process = Path(f"/proc/{ancestor}")
            if "spawn_main" in (process / "cmdline").read_text():
                os.kill(ancestor, signal.SIGKILL)
                break
            ancestor = parent_of(process)
        os._exit(1)
    return score(X[:, :-1])


def takes_its_time(X):
    time.sleep(0.002)
    return score(X)


def pids(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        return sorted(client.run(os.getpid).values())


def test_a_cluster_gives_what_a_run_here_gives(data, expected, on_cluster, cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # which is not where the workers are
    summary = run_batch(explainer(slow, **SEDC), data, "out", chunk_rows=5, **on_cluster)
    assert (summary.n_rows, summary.failed) == (120, ())
    assert output(tmp_path / "out") == expected
    wait_until_alone(cluster)


def test_a_cluster_on_this_machine_and_a_part_that_cannot_be_written(data, tmp_path):
    before = children_of([os.getpid()])
    out = tmp_path / "out"
    run_batch(explainer(), data, str(out), engine="here", chunk_rows=40)
    expected = output(out)
    for part in out.glob("part-*"):
        part.unlink()
    (out / "part-00001.parquet" / "in the way").mkdir(parents=True)
    summary = run_batch(explainer(), data, str(out), engine="dask", jobs=1, chunk_rows=40)
    (failed,) = summary.failed
    assert (failed.chunk.number, failed.stage) == (1, "write")
    (out / "part-00001.parquet" / "in the way").rmdir()
    (out / "part-00001.parquet").rmdir()
    assert output(out) == {i: expected[i] for i in expected if not 40 <= i < 80}
    assert children_of([os.getpid()]) == before


def test_a_worker_that_is_killed_costs_nothing(data, expected, on_cluster, cluster, tmp_path):
    first, _ = before = pids(cluster)
    seen = []

    def kill():
        while not (parts := list((tmp_path / "out").glob("part-*"))):
            time.sleep(0.01)
        seen.append(len(parts))
        os.kill(first, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    summary = run_batch(
        explainer(takes_its_time, **SEDC), data, str(tmp_path / "out"), chunk_rows=5, **on_cluster
    )
    killer.join()
    assert seen[0] < 24 == summary.n_chunks, "the kill came too late to matter"
    assert summary.failed == ()
    assert output(tmp_path / "out") == expected
    assert pids(cluster) != before


def test_a_chunk_that_kills_every_worker_is_named_and_takes_no_other_with_it(
    on_cluster, cluster, tmp_path, monkeypatch
):
    # Not 0: while a nanny restarts a worker, it may close another one, which no chunk is to blame for.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    rows = save(tmp_path / "rows.npz", marked(BAD))
    asked = explainer(kills_its_dask_worker, protected=[12])
    summary = run_batch(asked, rows, str(tmp_path / "out"), chunk_rows=BAD, **on_cluster)
    (failed,) = summary.failed
    assert failed.chunk.number == 1
    assert "KilledWorker" in failed.reason
    assert sorted(output(tmp_path / "out")) == [i for i in range(120) if not BAD <= i < 2 * BAD]


def test_nobody_at_the_address(data, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "SECONDS_TO_CONNECT", 1)
    with pytest.raises(
        InputError, match=r"scheduler must be the address .*got tcp://127\.0\.0\.1:1: OSError"
    ):
        run_batch(explainer(), data, str(tmp_path), engine="dask", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="missing port number"):
        run_batch(explainer(), data, str(tmp_path), engine="dask", scheduler="nowhere")
    with pytest.raises(InputError, match=r"got nowhere\.json: FileNotFoundError"):
        run_batch(explainer(), data, str(tmp_path), engine="dask", scheduler="nowhere.json")


def test_data_that_changes_ends_the_run(data, on_cluster, tmp_path):
    rows = tmp_path / "rows.npz"
    shutil.copy(data, rows)

    def replace(n_done, total):
        if n_done == 5:  # the first chunk
            rows.unlink()
            shutil.copy(data, rows)

    with pytest.raises(InputError, match=r"rows\.npz, which was replaced, written to or removed"):
        run_batch(
            explainer(takes_its_time, **SEDC),
            rows,
            tmp_path / "out",
            chunk_rows=5,
            progress=replace,
            **on_cluster,
        )
    assert 0 < len(list((tmp_path / "out").glob("part-*"))) < 24


def test_a_folder_that_workers_do_not_share(data, on_cluster, monkeypatch):
    with pytest.raises(InputError, match="out must be a folder or an address that other processes see"):
        run_batch(explainer(), data, "memory://of this process alone", **on_cluster)
    monkeypatch.setattr(Folder, "is_private", False)  # as where nobody can tell
    with pytest.raises(InputError, match=r"where out cannot be read there: .*\(. of . workers\)"):
        run_batch(explainer(), data, "memory://of this process alone", **on_cluster)


def test_data_that_workers_do_not_see(data, on_cluster, tmp_path):
    import fsspec

    with fsspec.open("memory://rows.npz", "wb") as file:
        file.write(Path(data).read_bytes())
    with pytest.raises(InputError, match=r"where DATA cannot be read there: .*rows\.npz"):
        run_batch(explainer(), "memory://rows.npz", str(tmp_path), **on_cluster)


def parent_of(process):
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])


def wait_until_alone(cluster):
    """Wait until the workers of a cluster have no processes any more."""
    for _ in range(300):
        if not children_of(pids(cluster)):
            return
        time.sleep(0.1)
    pytest.fail("processes are left behind")


def children_of(pids):
    """Give the processes that these have started to explain in, or for Dask."""
    parents = {int(path.name): path for path in Path("/proc").iterdir() if path.name.isdecimal()}
    found = []
    for pid, path in parents.items():
        try:
            if parent_of(path) in pids and any(
                name in (path / "cmdline").read_text() for name in ("butfor._processes.worker", "spawn_main")
            ):
                found.append(pid)
        except OSError:  # gone in the meantime
            continue
    return found
