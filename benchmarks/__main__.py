"""Run the benchmarks: `make bench`, or `python -m benchmarks --rows 20 --out build/bench.json`."""

import argparse
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

import numpy
import scipy
import sklearn

from benchmarks.sedc import compare


def main() -> None:
    """Print one line a comparison and write them all to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30, help="rows for each model (default 30)")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    options = parser.parse_args()
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    print(" · ".join(f"{name} {value}" for name, value in machine.items()))
    print("| model | search | rows | active | size | same answers | naive ms | ms | times faster |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    comparisons = []
    for row in compare(options.rows):
        comparisons.append(asdict(row))
        print(
            f"| {row.model} | {row.search} | {row.n_rows} | {row.median_active:g} | {row.median_size:g} "
            f"| {row.same_answers} of {row.n_rows} | {row.naive_ms:,.1f} | {row.ms:.1f} "
            f"| {row.times_faster:.0f} |",
            flush=True,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": machine, "sedc": comparisons}, indent=2) + "\n")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
