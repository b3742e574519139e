"""Kill `butfor batch` many times and count lost rows: `python -m benchmarks.soak --kills 500`.

`--on s3` writes to an S3 server of moto, `--on dask` computes on a Dask cluster of this machine.
"""

import argparse
import io
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import skops.io
from scipy import sparse
from sklearn.neural_network import MLPClassifier

from benchmarks.common import machine
from benchmarks.processes import family
from butfor.batch.folder import Folder

N_COLUMNS, N_ACTIVE, CHUNK_ROWS = 200, 12, 50
OF_WORKERS = 0.3
"""The share of kills that hit a worker process; the others hit the command itself."""
OF_STARTS = 0.2
"""The share of kills that may come before there are workers."""
SECONDS_TO_CLEAN = 60
"""How long what killed commands held on a cluster may stay there."""


def main() -> None:
    """Print how many rows were lost, were doubled, or differ from those of a run that was never killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="kills on each (default 20)")
    parser.add_argument("--rows", type=int, default=3_000, help="rows of a run (default 3,000)")
    parser.add_argument("--on", choices=("disk", "s3", "dask"), nargs="+", default=["disk"])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    soaks = {place: soaked(place, options.kills, options.rows, options.seed) for place in options.on}
    print("\n| on | commands killed | workers killed | rows compared | lost | doubled | different ", end="")
    print("| stray files | left on the cluster |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for place, soak in soaks.items():
        print(soak.table_row(place))
    sys.exit(any(soak.is_bad for soak in soaks.values()))


def soaked(place: str, n_kills: int, n_rows: int, seed: int) -> "Soak":
    """Kill a command until it was killed often enough, then let it come to its end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        root = stack.enter_context(s3()) if place == "s3" else str(folder)
        cluster = stack.enter_context(dask_cluster()) if place == "dask" else None
        soak = Soak(folder, root, n_rows, random.Random(seed), cluster)
        soak.prepare()
        while sum(soak.kills.values()) < n_kills:
            soak.run(kill=True)
            print(soak, end="\r", file=sys.stderr, flush=True)
        soak.run(kill=False)
        soak.wait_for_cluster()
    print(f"{soak}\n", file=sys.stderr)
    return soak


@contextmanager
def s3() -> Iterator[str]:
    """Start an S3 server in this process; yield the address of a bucket, which other processes find, too."""
    import logging

    import fsspec
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ["AWS_ENDPOINT_URL"] = f"http://{host}:{port}"
    os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "soak"
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    fsspec.filesystem("s3").mkdir("soak")
    try:
        yield "s3://soak"
    finally:
        server.stop()


@contextmanager
def dask_cluster() -> Iterator[Any]:
    """Start a Dask cluster of two workers on this machine."""
    import logging

    import distributed

    with distributed.LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
    ) as cluster:
        yield cluster


@dataclass
class Soak:
    """A command that is killed and started again, compared with one that is never killed."""

    folder: Path
    """Where the model and the data are."""
    root: str
    """Where the commands write to."""
    n_rows: int
    rng: random.Random
    cluster: Any = None
    """The Dask cluster, if there is one."""
    seconds: float = 0.0
    """Duration of a run that is never killed."""
    seconds_of_work: float = 0.0
    """How much of it is left once workers have begun."""
    kills: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    """Number of runs that were completed and compared."""
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    example: str = ""
    """One of the differences."""
    stray: int = 0
    """Number of missing files and of files that should not be there."""
    left: int = 0
    """Number of plugins, folders and processes of runs that are left on the cluster after a minute."""

    def prepare(self) -> None:
        """Write the data and a model, and run the command once without kills."""
        rng = np.random.default_rng(0)
        columns = np.argsort(rng.random((self.n_rows, N_COLUMNS)), axis=1)[:, :N_ACTIVE]
        starts = np.arange(0, columns.size + 1, N_ACTIVE)
        X = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), starts), (self.n_rows, N_COLUMNS))
        y = X @ rng.normal(size=N_COLUMNS) > 0
        model = MLPClassifier((20,), early_stopping=True, random_state=0).fit(X, y)
        skops.io.dump(model, self.folder / "model.skops")
        sparse.save_npz(self.folder / "X.npz", X)
        start = time.monotonic()
        process = self._started("undisturbed")
        self._wait_for_workers(process)
        begun = time.monotonic()
        if process.wait():
            raise SystemExit("the run that was left alone failed")
        self.seconds, self.seconds_of_work = time.monotonic() - start, time.monotonic() - begun
        self.expected = _records(self._out("undisturbed"))

    def run(self, *, kill: bool) -> None:
        """Start or continue the command; kill it or a worker at a random moment, or compare its results."""
        name = f"out-{self.runs}"
        process = self._started(name)
        while kill and self._still_runs(process):
            workers = self._workers(process)
            if workers and self.rng.random() < OF_WORKERS:
                _kill(self.rng.choice(workers))
                self.kills["workers"] += 1
                continue
            process.kill()
            self.kills["commands"] += 1
            process.wait()
            return
        if process.wait():
            raise SystemExit(f"the command ended with {process.returncode}")
        self._compare(self._out(name))

    def wait_for_cluster(self) -> None:
        """Wait until the cluster holds nothing of the killed commands, for a minute at most."""
        until = time.monotonic() + SECONDS_TO_CLEAN
        while self.cluster is not None and (left := self._left()):
            if time.monotonic() > until:
                self.left = len(left)
                self.example += f" · left: {left[0]}"
                return
            time.sleep(1)

    def table_row(self, place: str) -> str:
        """Return the row of the table."""
        counts = (
            self.kills["commands"],
            self.kills["workers"],
            self.runs * self.n_rows,
            self.lost,
            self.doubled,
            self.differing,
            self.stray,
        )
        left = "–" if self.cluster is None else self.left
        return f"| {place} | {' | '.join(f'{count:,}' for count in counts)} | {left} |"

    @property
    def is_bad(self) -> bool:
        """Whether anything was lost, doubled or left."""
        return any((self.lost, self.doubled, self.differing, self.stray, self.left))

    def _still_runs(self, process: "subprocess.Popen[bytes]") -> bool:
        """Wait for a random moment, mostly after the workers have started; return whether it still runs."""
        most = self.seconds
        if self.rng.random() > OF_STARTS:
            self._wait_for_workers(process)
            most = self.seconds_of_work
        try:
            process.wait(self.rng.uniform(0, most))
        except subprocess.TimeoutExpired:
            return True
        return False

    def _wait_for_workers(self, process: "subprocess.Popen[bytes]") -> None:
        while process.poll() is None and not self._has_begun(process):
            time.sleep(0.01)

    def _has_begun(self, process: "subprocess.Popen[bytes]") -> bool:
        if self.cluster is not None:
            return any(name.startswith("butfor-") for name in self.cluster.scheduler.worker_plugins)
        return bool(family(process.pid)[1:])

    def _workers(self, process: "subprocess.Popen[bytes]") -> list[int]:
        if self.cluster is None:
            return family(process.pid)[1:]
        # A nanny gives up where its worker is killed while it starts: then there is nobody left to go on.
        nannies = self.cluster.workers.values()
        known = self.cluster.scheduler.workers
        return [
            nanny.pid for nanny in nannies if nanny.status.name == "running" and nanny.worker_address in known
        ]

    def _left(self) -> list[str]:
        """Return what the scheduler and the workers hold of runs."""
        nannies = [nanny for nanny in self.cluster.workers.values() if nanny.pid]
        return [
            *(name for name in self.cluster.scheduler.worker_plugins if name.startswith("butfor-")),
            *(_named(pid) for nanny in nannies for pid in family(nanny.pid)[1:]),
            *(str(path) for nanny in nannies for path in Path(nanny.worker_dir).glob("butfor-*")),
        ]

    def __str__(self) -> str:
        kills = " and ".join(f"{count:,} of {what}" for what, count in sorted(self.kills.items()))
        return (
            f"kills: {kills or 0} · runs that came to their end: {self.runs:,} · rows: "
            f"{self.runs * self.n_rows:,} · lost: {self.lost} · doubled: {self.doubled} · differing: "
            f"{self.differing} · stray files: {self.stray}{self.example}"
        )

    def _out(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _started(self, name: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "butfor", "batch", "model.skops", "X.npz", "--out", self._out(name)]
        options = ["--chunk-rows", str(CHUNK_ROWS), "--search", "sedc"]
        engine = ["--jobs", "2"]
        if self.cluster is not None:
            engine = ["--engine", "dask", "--scheduler", self.cluster.scheduler_address]
        return subprocess.Popen([*command, *options, *engine], cwd=self.folder, stdout=subprocess.DEVNULL)

    def _compare(self, out: str) -> None:
        records = _records(out)
        self.runs += 1
        self.lost += len(self.expected.keys() - records.keys())
        self.doubled += sum(len(each) - 1 for each in records.values())
        differing = [row for row in records if records[row][0] != self.expected.get(row, [None])[0]]
        self.differing += len(differing)
        if differing:
            self.example = f" · row {differing[0]}: {_difference(self.expected, records, differing[0])}"
        self.stray += len({*Folder(out).names()} ^ {*Folder(self._out("undisturbed")).names()})


def _records(out: str) -> dict[Any, list[Any]]:
    """Return the records of every row, without their times and the last digits of their scores.

    If a chunk lost two workers, its rows are explained one by one, which may change the rounding of scores.
    """
    import pyarrow.parquet as pq

    records: dict[Any, list[Any]] = {}
    folder = Folder(out)
    for name in folder.names():
        if not name.startswith("part-"):
            continue
        for record in pq.read_table(io.BytesIO(folder.read(name))).to_pylist():
            rounded = {name: f"{record[name]:.12g}" for name in ("score", "score_without")}
            records.setdefault(record["id"], []).append({**record, **rounded, "seconds": None})
    return records


def _difference(expected: dict[Any, list[Any]], records: dict[Any, list[Any]], row: Any) -> str:
    before, after = expected.get(row, [{}])[0], records[row][0]
    changed = [name for name in after if before.get(name) != after[name]]
    return ", ".join(f"{name} was {before.get(name)}, is {after[name]}" for name in changed)


def _named(pid: int) -> str:
    """Return what a process was started as."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:  # it has just ended
        command = ""
    return f"process {pid} {command[:200]}"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # the process has just ended
        return


if __name__ == "__main__":
    main()
