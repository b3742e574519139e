"""What rows of a kernel machine cost beside the model's own calls: `python -m benchmarks.kernels`.

Processor time, block by block in turn, so that other work on the machine touches all alike.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.cases import kernel_on_texts
from benchmarks.common import machine
from butfor import Budget, Explainer
from butfor.models import kernels

BLOCK = 50


def main() -> None:
    """Print the processor time of a row: of the model's calls, and of explanations with and without numba."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400)
    rows = parser.parse_args().rows
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    name, X, model, threshold = kernel_on_texts()
    score = model.decision_function
    positive = _positive(X, score, threshold, rows)
    explainers = {
        which: Explainer(score, threshold=threshold, budget=Budget(max_seconds=5)) for which in ("0", "1")
    }
    ways: dict[str, Callable[[Any], list[Any]]] = {
        "the model's two calls": lambda some: [score(some), score(some)],
        "explained, loops in numpy": lambda some: _explained(explainers, "0", some),
        "explained, compiled loops": lambda some: _explained(explainers, "1", some),
    }
    seconds = dict.fromkeys(ways, 0.0)
    last: dict[str, list[Any]] = {}
    for way in ways.values():
        way(positive[:2])
    for start in range(0, positive.shape[0], BLOCK):
        for label, way in ways.items():
            began = time.process_time()
            last.setdefault(label, []).extend(way(positive[start : start + BLOCK]))
            seconds[label] += time.process_time() - began
    _print(name, positive.shape[0], seconds, last)


def _positive(X: Any, score: Callable[[Any], Any], threshold: float, n_rows: int) -> Any:
    """Return the first rows that are positive; the model is slow, so it scores no more than it takes."""
    found = np.zeros(0, dtype=np.intp)
    for start in range(0, X.shape[0], 1_000):
        found = np.append(found, start + np.flatnonzero(score(X[start : start + 1_000]) >= threshold))
        if len(found) >= n_rows:
            break
    return X[found[:n_rows]]


def _explained(explainers: dict[str, Explainer], compiled: str, some: Any) -> list[Any]:
    with _loops(compiled):
        return list(explainers[compiled].explain_block(some))


@contextmanager
def _loops(compiled: str) -> Iterator[None]:
    """Turn compiled loops on or off until the end of the block."""
    os.environ["BUTFOR_COMPILED"] = compiled
    kernels.cache_clear()
    yield


def _print(name: str, n_rows: int, seconds: dict[str, float], last: dict[str, list[Any]]) -> None:
    own = seconds["the model's two calls"]
    print(f"\n| {name}, rbf SVM, {n_rows} positive rows | ms a row | times the model's own | proven |")
    print("|---|---:|---:|---:|")
    for label, spent in seconds.items():
        proven = ""
        if label.startswith("explained"):
            found = [why for why in last[label] if why.status == "found"]
            proven = f"{sum(why.proven_minimum for why in found) / len(found):.1%}"
        print(f"| {label} | {1_000 * spent / n_rows:.1f} | {spent / own:.2f} | {proven} |")


if __name__ == "__main__":
    main()
