"""Run benchmarks, one after the other, and keep what they print: `make bench`, `make comparisons`.

Each writes its tables to build/bench/NAME.txt. `--publish` puts them into README and docs at the end, so that
all figures there come from one run on one machine.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.common import machine
from benchmarks.publish import publish

FOLDER = Path("build/bench")
OWN = {
    "growth": "benchmarks.growth --out build/bench/growth",
    "latency": "benchmarks.latency --out build/bench/latency.json",
    "kernels": "benchmarks.kernels",
    "negatives": "benchmarks.negatives --rows 25 --out build/bench/negatives.json",
    "scaling": "benchmarks.scaling",
    "rows": "benchmarks.rows --out build/bench/rows.json",
    "million": "benchmarks.rows --million",
    "sizing": "benchmarks.sizing --rates build/bench/rows.json",
    "load": "benchmarks.load --clients 64 --seconds 60 --out build/bench/load.json",
    "slow": "benchmarks.slow",
    "table": "benchmarks.table",
    "page": "benchmarks.page",
}
"""How fast butfor is: what is run for each name, after `python -m`."""
COMPARISONS = {
    "speed": "benchmarks --rows 100 --out build/bench/speed.json",
    "trees": "benchmarks.trees --rows 50 --out build/bench/trees.json",
    "deletion": "benchmarks.deletion --rows 20 --out build/bench/deletion.json",
    "records": "benchmarks.records --rows 100000",
    "choosing": "benchmarks.choosing --rows 100 --out build/bench/choosing",
    "calls": "benchmarks.calls --rows 40 --out build/bench/calls.json",
}
"""How it compares with other libraries, other searches and other settings."""
COMMANDS = OWN | COMPARISONS


def main() -> None:
    """Run the benchmarks; print how long each took, and what it printed last where it failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(COMMANDS)}")
    parser.add_argument("--comparisons", action="store_true", help="those with other libraries and settings")
    parser.add_argument("--publish", action="store_true", help="put the tables into README and docs")
    options = parser.parse_args()
    if unknown := set(options.names) - COMMANDS.keys():
        parser.error(f"NAME must be one of {', '.join(COMMANDS)}, got {', '.join(sorted(unknown))}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    outputs, failed, began = [], [], time.perf_counter()
    for name in options.names or (COMPARISONS if options.comparisons else OWN):
        outputs.append(FOLDER / f"{name}.txt")
        start = time.perf_counter()
        with outputs[-1].open("w", encoding="utf-8") as output:
            command = [sys.executable, "-m", *COMMANDS[name].split()]
            result = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        if result.returncode:
            failed.append(name)
            print(f"  failed: {result.stderr.strip().splitlines()[-1:]}", flush=True)
    print(f"in all: {time.perf_counter() - began:.0f} s")
    if failed:
        sys.exit(f"These failed, and nothing is published: {', '.join(failed)}")
    if options.publish:
        publish(outputs)


if __name__ == "__main__":
    main()
