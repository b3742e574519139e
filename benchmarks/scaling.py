"""Time and memory against the size of the work: `python -m benchmarks.scaling` prints a table.

What grows is the number of rows, of active features, of neurons and of support vectors. Every point has a
process of its own, so that its memory is its own: the peak while it explains, above what it held before, as
Linux tells it. Data and weights are generated.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from benchmarks.common import machine
from benchmarks.processes import kib
from benchmarks.rows import rows_of
from butfor import Budget, Explainer

COLUMNS, ACTIVE, LIMIT = 5_000, 50, Budget(max_seconds=0.5)
POINTS = {
    "rows, logistic regression": (1_000, 10_000, 100_000),
    "active features, logistic regression": (10, 100, 1_000),
    "active features, MLP of 100 neurons": (10, 100, 1_000),
    "neurons of an MLP": (10, 100, 1_000),
    "support vectors of an rbf SVM": (100, 1_000, 10_000),
}
N_ROWS = {"logistic": 2_000, "MLP": 200, "SVM": 100}
"""How many rows are explained, where these do not grow."""
RESET_PEAK = Path("/proc/self/clear_refs")


def main() -> None:
    """Print the table, or measure one point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--point", nargs=2, metavar=("WHAT", "NUMBER"), help="one point, as JSON")
    options = parser.parse_args()
    if options.point:
        print(json.dumps(measure(options.point[0], int(options.point[1]))))
        return
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print("\n| what grows | number | ms a row | MB for the work | proven |\n|---|---:|---:|---:|---:|")
    for what, numbers in POINTS.items():
        for number in numbers:
            command = [sys.executable, "-m", "benchmarks.scaling", "--point", what, str(number)]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            point = json.loads(done.stdout)
            cells = f"{point['ms']:.2f} | {point['megabytes']:,.0f} | {point['proven']:.0%}"
            print(f"| {what} | {number:,} | {cells} |", flush=True)


def measure(what: str, number: int) -> dict[str, float]:
    """Explain rows side by side; return the milliseconds a row, the memory and the share of proofs."""
    n_rows = next(n for name, n in N_ROWS.items() if name in what)
    explainer, X = _case(what, number, number if what.startswith("rows") else n_rows)
    _consume(explainer, X[:64])  # what is done once for a model does not count
    RESET_PEAK.write_text("5")
    memory, began = _megabytes("VmRSS"), time.perf_counter()
    proven = _consume(explainer, X)
    seconds = time.perf_counter() - began
    n = X.shape[0]
    return {
        "ms": 1_000 * seconds / n,
        "megabytes": max(0.0, _megabytes("VmHWM") - memory),
        "proven": proven / n,
    }


def _case(what: str, number: int, n_rows: int) -> tuple[Explainer, Any]:
    rng = np.random.default_rng(0)
    active = number if what.startswith("active") else ACTIVE
    X = rows_of(rng, max(n_rows, 64), active, COLUMNS)
    n_train = number if what.startswith("support") else 500
    train = rows_of(rng, n_train, active, COLUMNS)
    y = rng.permutation(n_train) % 2
    if "logistic" in what:
        model: Any = LogisticRegression(C=0.1).fit(train, y)
    elif "SVM" in what:
        model = SVC(C=1.0, cache_size=1_000).fit(train, y)  # of random labels nearly all rows are kept
    else:
        neurons = number if what.startswith("neurons") else 100
        model = MLPClassifier((neurons,), max_iter=20, tol=0.01, n_iter_no_change=2, random_state=0)
        model.fit(train, y)
    return Explainer(model, budget=LIMIT), X


def _consume(explainer: Explainer, X: Any) -> int:
    """Explain rows without keeping the answers; return how many are proven smallest or proven not to be."""
    return sum(why.proven_minimum or why.status == "none" for why in explainer.explain_many(X))


def _megabytes(name: str) -> float:
    """Return the memory of this process: VmRSS is that of now, VmHWM the largest since the peak was reset."""
    return kib(os.getpid(), "status", name) / 1_000


if __name__ == "__main__":
    main()
