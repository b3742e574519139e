"""Negative rows of kernel machines, decided within a second: `python -m benchmarks.negatives`.

A row is decided if its answer is proven smallest, or if it is proven that none exists.
"""

import argparse
import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from benchmarks.cases import MEMORY
from benchmarks.common import machine
from butfor import Budget, Explainer, Explanation
from butfor.study.datasets import DATASETS

DATA, KERNELS = ("movielens_100k", "ecommerce"), ("rbf", "poly", "sigmoid")
SECONDS = 1.0


@dataclass(frozen=True)
class Decided:
    """What was decided on the rows of one model."""

    data: str
    kernel: str
    vectors: int
    rows: int
    active: float
    smallest: int
    """Rows whose answer is proven smallest."""
    none: int
    """Rows for which it is proven that there is no answer."""
    found: int
    """Rows with an answer that is not proven smallest."""
    seconds: float
    """The median of the time of a row."""

    @property
    def table_row(self) -> str:
        """The row of the table."""
        share = (self.smallest + self.none) / self.rows
        return (
            f"| {self.data} | {self.kernel} | {self.vectors:,} | {self.active:.0f} | {self.rows} "
            f"| {self.smallest} | {self.none} | {self.found} | {share:.0%} | {self.seconds:.2f} s |"
        )


def main() -> None:
    """Print the table and write all figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50, help="negative test rows of each model")
    parser.add_argument("--only", default="", help="only kernels or data whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("build/negatives.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print("\n| data | kernel | vectors | active | rows | smallest | none | unproven | decided | median |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    lines = []
    for data, kernel, model, rows in cases(options.rows, options.only):
        lines.append(decided(data, kernel, model, rows))
        print(lines[-1].table_row, flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figures = {"machine": machine(), "lines": [asdict(line) for line in lines]}
    options.out.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


def cases(n_rows: int, only: str) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield data, kernel, model and negative test rows, for the data that are there."""
    for data in DATA:
        if not DATASETS[data].is_present():
            print(f"{data} is not here: see `butfor study datasets`")
            continue
        loaded = DATASETS[data].load()
        train, test = train_test_split(np.arange(loaded.X.shape[0]), test_size=0.2, random_state=0)
        for kernel in KERNELS:
            if only in data or only in kernel:
                model = fitted(kernel, loaded.X[train], loaded.y[train])
                negative = test[model.predict(loaded.X[test]) == model.classes_[0]]
                yield data, kernel, model, loaded.X[negative[:n_rows]]


@MEMORY.cache  # type: ignore[untyped-decorator]
def fitted(kernel: str, X: Any, y: Any) -> Any:
    """Return a kernel machine that weighs both classes alike, so that it predicts both."""
    return SVC(kernel=kernel, class_weight="balanced").fit(X, y)


def decided(data: str, kernel: str, model: Any, rows: Any) -> Decided:
    """Explain the rows, each within the limit."""
    explainer = Explainer(model, budget=Budget(max_seconds=SECONDS))
    explainer.explain(rows[[0]])
    answers: list[Explanation] = [explainer.explain(rows[[i]]) for i in range(rows.shape[0])]
    return Decided(
        data,
        kernel,
        int(model.n_support_.sum()),
        rows.shape[0],
        float(np.diff(rows.indptr).mean()),
        sum(why.proven_minimum for why in answers),
        sum(why.status == "none" for why in answers),
        sum(why.status == "found" and not why.proven_minimum for why in answers),
        statistics.median(why.seconds for why in answers),
    )


if __name__ == "__main__":
    main()
