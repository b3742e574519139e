"""Kill `butfor batch` many times and count lost rows: `python -m benchmarks.soak --kills 500`."""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import skops.io
from scipy import sparse
from sklearn.neural_network import MLPClassifier

N_COLUMNS, N_ACTIVE, CHUNK_ROWS = 200, 12, 50
OF_WORKERS = 0.3
"""The share of kills that hit a worker process; the others hit the command itself."""
OF_STARTS = 0.2
"""The share of kills that may come before there are workers."""


def main() -> None:
    """Print how many rows were lost, were doubled, or differ from those of a run that was never killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--rows", type=int, default=3_000, help="rows of a run (default 3,000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        soak = Soak(Path(folder), options.rows, random.Random(options.seed))
        soak.prepare()
        while sum(soak.kills.values()) < options.kills:
            soak.run(kill=True)
            print(soak, end="\r", flush=True)
        soak.run(kill=False)
    print(soak)
    sys.exit(any((soak.lost, soak.doubled, soak.differing, soak.stray)))


@dataclass
class Soak:
    """A command that is killed and started again, compared with one that is never killed."""

    folder: Path
    n_rows: int
    rng: random.Random
    seconds: float = 0.0
    """Duration of a run that is never killed."""
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
        began = time.monotonic()
        if self._started("undisturbed").wait():
            raise SystemExit("the run that was left alone failed")
        self.seconds = time.monotonic() - began
        self.expected = _records(self.folder / "undisturbed")

    def run(self, *, kill: bool) -> None:
        """Start or continue the command; kill it or a worker at a random moment, or compare its results."""
        name = f"out-{self.runs}"
        process = self._started(name)
        while kill and self._still_runs(process):
            workers = _children(process.pid)
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
        self._compare(self.folder / name)

    def _still_runs(self, process: "subprocess.Popen[bytes]") -> bool:
        """Wait for a random moment, mostly after the workers have started; return whether it still runs."""
        if self.rng.random() > OF_STARTS:
            while process.poll() is None and not _children(process.pid):
                time.sleep(0.01)
        try:
            process.wait(self.rng.uniform(0, self.seconds / 2))
        except subprocess.TimeoutExpired:
            return True
        return False

    def __str__(self) -> str:
        kills = " and ".join(f"{count:,} of {what}" for what, count in sorted(self.kills.items()))
        return (
            f"kills: {kills or 0} · runs that came to their end: {self.runs:,} · rows: "
            f"{self.runs * self.n_rows:,} · lost: {self.lost} · doubled: {self.doubled} · differing: "
            f"{self.differing} · stray files: {self.stray}{self.example}"
        )

    def _started(self, name: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "butfor", "batch", "model.skops", "X.npz", "--out", name]
        options = ["--jobs", "2", "--chunk-rows", str(CHUNK_ROWS), "--search", "sedc"]
        return subprocess.Popen([*command, *options], cwd=self.folder, stdout=subprocess.DEVNULL)

    def _compare(self, out: Path) -> None:
        records = _records(out)
        self.runs += 1
        self.lost += len(self.expected.keys() - records.keys())
        self.doubled += sum(len(each) - 1 for each in records.values())
        differing = [row for row in records if records[row][0] != self.expected.get(row, [None])[0]]
        self.differing += len(differing)
        if differing:
            self.example = f" · row {differing[0]}: {_difference(self.expected, records, differing[0])}"
        undisturbed = {path.name for path in (self.folder / "undisturbed").iterdir()}
        self.stray += len({path.name for path in out.iterdir()} ^ undisturbed)


def _records(out: Path) -> dict[Any, list[Any]]:
    """Return the records of every row, without their times and the last digits of their scores.

    If a chunk lost two workers, its rows are explained one by one, which may change the rounding of scores.
    """
    import pyarrow.parquet as pq

    records: dict[Any, list[Any]] = {}
    for part in out.glob("part-*.parquet"):
        for record in pq.read_table(part).to_pylist():
            rounded = {name: f"{record[name]:.12g}" for name in ("score", "score_without")}
            records.setdefault(record["id"], []).append({**record, **rounded, "seconds": None})
    return records


def _difference(expected: dict[Any, list[Any]], records: dict[Any, list[Any]], row: Any) -> str:
    before, after = expected.get(row, [{}])[0], records[row][0]
    changed = [name for name in after if before.get(name) != after[name]]
    return ", ".join(f"{name} was {before.get(name)}, is {after[name]}" for name in changed)


def _children(pid: int) -> list[int]:
    of_threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in of_threads for child in path.read_text().split()]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # the process has just ended
        return


if __name__ == "__main__":
    main()
