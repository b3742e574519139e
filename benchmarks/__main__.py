"""Run the benchmarks: `make bench`, or `python -m benchmarks --rows 20 --out build/bench.json`."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.cases import behaviour_cases, text_cases
from benchmarks.common import machine
from benchmarks.complete import complete_searches
from benchmarks.peers import PeerComparison, compare_with_peers
from benchmarks.searches import Comparison, compare


def main() -> None:
    """Print the tables and write all figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100, help="rows for each model (default 100)")
    parser.add_argument(
        "--peer-rows", type=int, default=25, help="rows for lime and shap (default 25, 0: none)"
    )
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    n_rows = max(options.rows, options.peer_rows)
    cases = [*behaviour_cases(n_rows), *text_cases(n_rows)]
    comparisons = []
    print(
        "| data, model | search | explained | size | same | proven | ms | 90 % | most | times faster "
        "| search alone, ms | times faster |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for case in cases:
        for comparison in compare(case.first(options.rows)):
            comparisons.append(asdict(comparison))
            print(_table_row(comparison), flush=True)
    peers = []
    print("\n| data, model | method | explained | mean size | at the minimum | ms | times faster |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for case in cases if options.peer_rows else ():
        for peer in compare_with_peers(case.first(options.peer_rows)):
            peers.append(asdict(peer))
            print(_peer_table_row(peer), flush=True)
    complete = []
    print("\n| complete search, all sets of at most | model | sets | seconds |\n|---|---|---:|---:|")
    for each in complete_searches():
        complete.append(asdict(each))
        of = f"{each.size} of {each.n_active} features"
        print(f"| {of} | {each.model} | {each.n_sets:,} | {each.seconds:.2f} |", flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figures = {"machine": machine(), "searches": comparisons, "peers": peers, "complete": complete}
    options.out.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


def _table_row(of: Comparison) -> str:
    proven = "–" if of.search == "naive" else f"{of.proven}"
    return (
        f"| {of.data}, {of.model} | {of.search} | {of.explained} of {of.n_rows} "
        f"| {of.median_size:g}, most {of.largest_size} | {of.same_as_naive} of {of.compared} "
        f"| {proven} | {of.ms:,.2f} | {of.p90_ms:,.1f} | {of.largest_ms:,.0f} "
        f"| {of.times_faster:,.1f} | {of.search_ms:,.2f} | {of.search_times_faster:,.0f} |"
    )


def _peer_table_row(of: PeerComparison) -> str:
    return (
        f"| {of.data}, {of.model} | {of.method} | {of.explained} of {of.n_rows} "
        f"| {of.mean_size:.2f} | {of.at_minimum} | {of.ms:,.1f} | {of.times_faster:,.1f} |"
    )


if __name__ == "__main__":
    main()
