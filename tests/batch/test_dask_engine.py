"""A run on a cluster gives what a run here gives, whatever happens to the cluster's workers."""

import logging
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from batches import BAD, explainer, has, marked, output, save, score, slow

from butfor import InputError
from butfor._files.inputs import open_rows
from butfor.batch import dask_engine, dask_worker, run_batch
from butfor.batch.chunks import Job
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


@pytest.fixture
def site(data, tmp_path):
    """What the workers hold of a run whose command is never heard of again."""
    job = Job("", open_rows(explainer(), [data]), Folder(str(tmp_path)), run="")
    environment = dask_worker.environment_of(job)
    return dask_worker.Site(job, environment, {"explainer": b"a model"}, "butfor-site", lease=20.0)


def test_what_a_killed_command_leaves_on_a_cluster_is_removed(site, on_cluster, cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        client.register_plugin(site, name=site.name)
        assert client.run(begin_work, site.name)
        assert len(leftovers(cluster)) >= 3
        client.run(lambda dask_worker: setattr(dask_worker.plugins["butfor-site"], "lease", 0.1))
    until = time.monotonic() + 60
    while leftovers(cluster) and time.monotonic() < until:
        time.sleep(0.1)
    assert leftovers(cluster) == []


def begin_work(name, dask_worker):
    """Have a Dask worker unpack the model for its processes."""
    dask_worker.plugins[name]._folder = folder = tempfile.mkdtemp("", "butfor-", dask_worker.local_directory)
    return folder


class Waits:
    """Waits that pass at once; at some of them the command is heard of."""

    def __init__(self, site, heard_at):
        self.site, self.heard_at, self.n_waits = site, heard_at, 0

    def wait(self, seconds):
        self.n_waits += 1
        if self.n_waits in self.heard_at:
            self.site.renew()
        return False

    def set(self):
        pass


@pytest.mark.parametrize("heard_at", [(), (3,), (1, 2, 9, 18)])
def test_a_lease_ends_only_without_a_sign_of_the_command(site, heard_at):
    called = []
    worker = SimpleNamespace(
        local_directory="", loop=SimpleNamespace(add_callback=lambda *call: called.append(call))
    )
    site.lease = 1e6
    site.setup(worker)
    ends, waits = site._removed, Waits(site, heard_at)
    site._removed = waits
    site._expire(worker)
    ends.set()
    assert waits.n_waits == max(heard_at, default=0) + dask_worker.RENEWALS
    assert called == [(site._remove_everywhere, worker)]


def test_a_command_that_lives_renews_its_lease(data, expected, on_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "RENEWALS", 1e6)  # as often as it can
    told = []
    run = distributed.Client.run

    def heard(client, function, *arguments, **options):
        told.append(function.__name__)
        return run(client, function, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "run", heard)
    run_batch(explainer(slow, **SEDC), data, tmp_path / "out", chunk_rows=60, **on_cluster)
    assert told.count("renew_there") > 1


def leftovers(cluster):
    """Give what is left of runs: plugins on the scheduler and the workers, folders and processes."""
    with distributed.Client(cluster, set_as_default=False) as client:
        held = client.run(lambda dask_worker: [name for name in dask_worker.plugins if "butfor-" in name])
        places = client.run(lambda dask_worker: dask_worker.local_directory)
    return [
        *(name for name in cluster.scheduler.worker_plugins if name.startswith("butfor-")),
        *(name for names in held.values() for name in names),
        *(str(path) for place in places.values() for path in Path(place).glob("butfor-*")),
        *children_of(pids(cluster)),
    ]


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


def test_a_worker_that_ends_while_it_is_asked_is_no_reason_to_refuse_the_cluster(monkeypatch):
    class Client:
        def run(self, function, job, on_error):
            return {"a": {"butfor": "1"}, "b": distributed.comm.CommClosedError("reset"), "c": self.other}

    monkeypatch.setattr(Client, "other", ConnectionResetError("reset"), raising=False)
    dask_engine._require_alike(Client(), None, {"butfor": "1"})
    monkeypatch.setattr(Client, "other", ImportError("no butfor"))
    with pytest.raises(InputError, match=r"cannot be used there: ImportError: no butfor \(1 of 3 workers\)"):
        dask_engine._require_alike(Client(), None, {"butfor": "1"})
