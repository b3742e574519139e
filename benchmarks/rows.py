"""Rows per second: `python -m benchmarks.rows`; with `--million` one run over a million rows, with memory."""

import argparse
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.cases import DEEP_NETWORK, NETWORK, kernel_on_texts, model_on_films
from benchmarks.common import machine, timed
from benchmarks.processes import family, peak_memory
from benchmarks.tree_cases import LIGHTGBM, lightgbm_on_films
from butfor import Budget, Explainer
from butfor.batch import Summary, run_batch

LIMIT = Budget(max_seconds=0.05)
WIDTH, ACTIVE = 100_000, 50
GENERATED = f"generated, {ACTIVE} of {WIDTH:,}"


@dataclass(frozen=True)
class Rows:
    """A model with all rows of one batch."""

    data: str
    model: str
    explainer: Explainer
    X: Any
    n_looped: int
    """Number of rows that a plain loop explains for comparison."""


@dataclass(frozen=True)
class Speed:
    """The speed of one run."""

    data: str
    model: str
    n_rows: int
    processes: int
    rows_per_second: float
    loop_rows_per_second: float
    statuses: dict[str, int]
    proven: float
    """The share of the answers that are proven smallest."""

    @property
    def table_row(self) -> str:
        """The row of the table."""
        outcomes = ", ".join(f"{count:,} {status}" for status, count in sorted(self.statuses.items()))
        return (
            f"| {self.model}, {self.data} | {self.n_rows:,} | {self.processes} | {self.rows_per_second:,.0f} "
            f"| {self.rows_per_second / self.loop_rows_per_second:,.1f} | {outcomes} | {self.proven:.1%} |"
        )


def main() -> None:
    """Print the tables and write all figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="one run over a million rows, nothing else")
    parser.add_argument("--model", default="", help="only models whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("build/rows.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    if options.million:
        million()
        return
    print("\n| model, data | rows | processes | rows/s | times a plain loop | outcomes | proven |")
    print("|---|---:|---:|---:|---:|---|---:|")
    speeds = []
    for rows in cases(options.model):
        looped = loop(rows)
        for processes in (1, 2):
            speeds.append(speed(rows, processes, looped))
            print(speeds[-1].table_row, flush=True)
    growing = [] if options.model else list(growth())
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figures = {"machine": machine(), "lines": [asdict(each) for each in speeds], "growth": growing}
    options.out.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


def cases(model: str) -> Iterator[Rows]:
    """Yield the models whose names contain a text: a linear one, networks, a kernel machine, trees."""
    makers: dict[str, Callable[[], Iterator[Rows]]] = {
        "logistic regression": linear,
        "MLP, 100 neurons": partial(network, "MLP, 100 neurons", NETWORK, 20_000),
        "MLP, 64 and 32 neurons": partial(network, "MLP, 64 and 32 neurons", DEEP_NETWORK, 3_000),
        "rbf SVM": kernel,
        LIGHTGBM: trees,
    }
    for name, make in makers.items():
        if model in name:
            yield from make()


def linear() -> Iterator[Rows]:
    """Yield linear models of generated rows, and of films."""
    yield generated(200_000)
    name, X, model, threshold = model_on_films(LogisticRegression(C=0.1, max_iter=300))
    explainer = Explainer(model, threshold=threshold, budget=LIMIT)
    yield Rows(f"{name}, all rows", "logistic regression", explainer, repeated(X, 60_000), 1_000)


def network(model_name: str, network: Any, n_positive: int) -> Iterator[Rows]:
    """Yield a neural network on positive rows, and on all rows."""
    name, X, model, threshold = model_on_films(network)
    explainer = Explainer(model, threshold=threshold, budget=LIMIT)
    positive = X[model.predict_proba(X)[:, 1] >= threshold]
    yield Rows(f"{name}, positive rows", model_name, explainer, repeated(positive, n_positive), 300)
    yield Rows(f"{name}, all rows", model_name, explainer, X, 300)


def kernel() -> Iterator[Rows]:
    """Yield a kernel machine on positive rows."""
    name, X, model, threshold = kernel_on_texts()
    explainer = Explainer(model.decision_function, threshold=threshold, budget=LIMIT)
    positive = X[model.decision_function(X) >= threshold]
    yield Rows(f"{name}, positive rows", "rbf SVM", explainer, repeated(positive, 1_500), 100)


def trees() -> Iterator[Rows]:
    """Yield boosted trees on all rows, with their own threshold."""
    name, X, model = lightgbm_on_films()
    yield Rows(f"{name}, all rows", LIGHTGBM, Explainer(model, budget=LIMIT), X, 300)


def generated(n_rows: int) -> Rows:
    """Return rows with few active features of very many, and a linear model."""
    rng = np.random.default_rng(0)
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), WIDTH
    model.coef_, model.intercept_ = rng.normal(size=(1, WIDTH)), np.array([0.0])
    X = rows_of(rng, n_rows)
    return Rows(GENERATED, "logistic regression", Explainer(model, budget=LIMIT), X, 1_000)


def rows_of(rng: np.random.Generator, n_rows: int, active: int = ACTIVE, width: int = WIDTH) -> Any:
    """Return rows of random columns. Low columns are drawn more often."""
    edges = np.linspace(0, 1, active + 1)
    drawn = edges[:-1] + rng.random((n_rows, active)) * np.diff(edges)
    columns = np.minimum(width * drawn**2, width - 1).astype(np.int32)
    bounds = np.arange(0, n_rows * active + 1, active, dtype=np.int32)
    X = sparse.csr_matrix((np.ones(n_rows * active), columns.ravel(), bounds), shape=(n_rows, width))
    X.sum_duplicates()  # neighbouring intervals may share a column
    X.data[:] = 1.0
    return X


def repeated(X: Any, n_rows: int) -> Any:
    """Return this number of rows by repeating the rows of X."""
    return X[np.arange(n_rows) % X.shape[0]]


def loop(rows: Rows) -> float:
    """Explain rows in a plain loop; return the rows per second."""
    rows.explainer.explain(rows.X[[0]])
    some = [rows.X[[i]] for i in range(rows.n_looped)]
    _, seconds = timed(lambda: [rows.explainer.explain(row) for row in some])
    return rows.n_looped / seconds


def speed(rows: Rows, processes: int, looped: float) -> Speed:
    """Run a batch with this number of processes. The time of their start counts."""
    summary = batch(rows, processes)
    of = summary.statistics
    return Speed(
        rows.data,
        rows.model,
        summary.n_rows,
        processes,
        summary.rows_per_second,
        looped,
        of.statuses,
        of.n_proven / max(1, of.n_found),
    )


def batch(rows: Rows, processes: int) -> Summary:
    """Run a batch over rows in a file."""
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/rows.npz"
        sparse.save_npz(data, rows.X, compressed=False)
        return run_batch(rows.explainer, data, f"{folder}/why", jobs=processes, chunk_rows=chunk_rows(rows))


def chunk_rows(rows: Rows) -> int:
    """Return the size of chunks for which every process has many of them."""
    return min(5_000, int(rows.X.shape[0]) // 20)


def growth() -> Iterator[dict[str, float]]:
    """Run a linear model on ever more rows. The speed must not fall."""
    print("\n| rows of a linear model, 2 processes | seconds | rows/s |\n|---:|---:|---:|")
    for n_rows in (50_000, 100_000, 200_000, 400_000):
        summary = batch(generated(n_rows), 2)
        print(f"| {n_rows:,} | {summary.seconds:.1f} | {summary.rows_per_second:,.0f} |", flush=True)
        yield {"n_rows": n_rows, "seconds": summary.seconds, "rows_per_second": summary.rows_per_second}


def million() -> None:
    """Explain a million rows of a linear model, and print the peak memory of every process."""
    rows = generated(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/rows.npz"
        sparse.save_npz(data, rows.X)
        explainer, size = rows.explainer, os.path.getsize(data)
        del rows
        peaks: dict[int, float] = {}
        watching = threading.Event()
        watcher = threading.Thread(target=_watch, args=(peaks, watching), daemon=True)
        watcher.start()
        summary = run_batch(explainer, data, f"{folder}/why", jobs=2)
        watching.set()
        watcher.join()
        written = sum(path.stat().st_size for path in Path(f"{folder}/why").iterdir())
    print(summary)
    print(f"input {size / 2**20:,.0f} MiB, output {written / 2**20:,.0f} MiB")
    print("peak memory of the worker processes:", *(f"{peak:,.0f} MiB" for peak in peaks.values()))


def _watch(peaks: dict[int, float], done: threading.Event) -> None:
    """Record the peak memory of all processes that this one has begun."""
    while not done.wait(0.2):
        for pid in family(os.getpid())[1:]:
            with suppress(OSError):  # it has just ended
                peaks[pid] = peak_memory(pid)


if __name__ == "__main__":
    main()
