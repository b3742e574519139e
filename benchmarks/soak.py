"""Kill `butfor batch` again and again, and count what is lost: `python -m benchmarks.soak --kills 500`."""

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
"""The share of the kills that are for a worker process; the others are for the command itself."""
OF_STARTS = 0.2
"""The share of the kills whose moment is counted from the start, before there are workers."""


def main() -> None:
    """Print how many rows were lost, doubled, or differ from those of a run that was never killed."""
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
    """A command that is killed, started again, and held against one that was left alone."""

    folder: Path
    n_rows: int
    rng: random.Random
    seconds: float = 0.0
    """How long a run takes that is left alone."""
    kills: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    """Runs that came to their end, and were compared."""
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    example: str = ""
    """One of the differences."""
    stray: int = 0
    """Files that should not be there."""

    def prepare(self) -> None:
        """Make the data and a model, and explain all of it once, undisturbed."""
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
        self.expected = _lines(self.folder / "undisturbed")

    def run(self, *, kill: bool) -> None:
        """Start the command where it was, and kill something at a random moment; compare what is done."""
        name = f"out-{self.runs}"
        process = self._started(name)
        while kill and self._is_at_it(process):
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

    def _is_at_it(self, process: "subprocess.Popen[bytes]") -> bool:
        """Wait for a random moment, in most cases one when the workers are there; tell if it still runs."""
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
        lines = _lines(out)
        self.runs += 1
        self.lost += len(self.expected.keys() - lines.keys())
        self.doubled += sum(len(each) - 1 for each in lines.values())
        differing = [row for row in lines if lines[row][0] != self.expected.get(row, [None])[0]]
        self.differing += len(differing)
        if differing:
            self.example = f" · row {differing[0]}: {_difference(self.expected, lines, differing[0])}"
        undisturbed = {path.name for path in (self.folder / "undisturbed").iterdir()}
        self.stray += len({path.name for path in out.iterdir()} ^ undisturbed)


def _lines(out: Path) -> dict[Any, list[Any]]:
    """Read the lines of every row, without their times and the last digits of their scores.

    A row that is asked for alone, as its chunk lost two workers, may have its score rounded in another way.
    """
    import pyarrow.parquet as pq

    lines: dict[Any, list[Any]] = {}
    for part in out.glob("part-*.parquet"):
        for line in pq.read_table(part).to_pylist():
            rounded = {name: f"{line[name]:.12g}" for name in ("score", "score_without")}
            lines.setdefault(line["id"], []).append({**line, **rounded, "seconds": None})
    return lines


def _difference(expected: dict[Any, list[Any]], lines: dict[Any, list[Any]], row: Any) -> str:
    before, after = expected.get(row, [{}])[0], lines[row][0]
    changed = [name for name in after if before.get(name) != after[name]]
    return ", ".join(f"{name} was {before.get(name)}, is {after[name]}" for name in changed)


def _children(pid: int) -> list[int]:
    of_threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in of_threads for child in path.read_text().split()]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended
        return


if __name__ == "__main__":
    main()
