"""How long one `explain` takes, as multiples of the model's own call: `python -m benchmarks.latency`.

Rows are explained one by one, each right after the model was called on it, so that both see the same machine.
Data are MovieLens 1M and 20news from the folder BUTFOR_DATA, or what ships with butfor. Rows are those that
the models predict positive.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.cases import behaviour_cases, text_cases
from benchmarks.common import machine
from benchmarks.tree_cases import LIGHTGBM, lightgbm_rows
from butfor import Explainer

REPEATS = 5
"""How often the model is called on a row, and the row explained; the median counts."""


@dataclass(frozen=True)
class Latency:
    """How long a model takes for one row, and `explain` for the same row, over some rows."""

    name: str
    n_rows: int
    model_ms: float
    """The median over the rows, and so are all of these without another word."""
    explain_ms: float
    explain_ms_90: float
    """The 90 % quantile over the rows."""
    ratio: float
    """How many calls of the model an explanation takes."""
    ratio_90: float

    @property
    def table_row(self) -> str:
        """The row of the table."""
        return (
            f"| {self.name} | {self.n_rows:,} | {self.model_ms:.3f} | {self.explain_ms:.3f} "
            f"| {self.explain_ms_90:.3f} | {self.ratio:.2f} | {self.ratio_90:.2f} |"
        )


def main() -> None:
    """Print the table, and write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200, help="rows of each model (default 200)")
    parser.add_argument("--model", default="", help="only models whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("build/latency.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print("\n| one row at a time | rows | model, ms | explain, ms | 90 % | times the model | 90 % |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    latencies = []
    for name, call, explainer, rows in models(options.rows, options.model):
        latencies.append(latency(name, call, explainer, rows))
        print(latencies[-1].table_row, flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figures = {"machine": machine(), "lines": [asdict(each) for each in latencies]}
    options.out.write_text(json.dumps(figures, indent=2) + "\n")


def models(n_rows: int, wanted: str) -> Iterator[tuple[str, Callable[[Any], Any], Explainer, list[Any]]]:
    """Yield the name of each model, the call that users make of it, its explainer and its rows."""
    for cases in (behaviour_cases, text_cases):
        for case in cases(n_rows):
            if wanted in case.model_name:
                explainer = Explainer(case.recognisable, threshold=case.threshold)
                yield (
                    f"{case.model_name}, {case.data}",
                    getattr(case.model, case.method),
                    explainer,
                    case.rows,
                )
    if wanted in LIGHTGBM:
        data, model, rows = lightgbm_rows(n_rows)
        yield f"{LIGHTGBM}, {data}", model.predict_proba, Explainer(model), rows


def latency(name: str, call: Callable[[Any], Any], explainer: Explainer, rows: list[Any]) -> Latency:
    """Call the model on each row, and explain the row, in turn."""
    explainer.explain(rows[0])  # what is done once for a model does not count
    times = np.array([_times_of(call, explainer, row) for row in rows])
    own, ours = 1000 * times.T
    return Latency(
        name,
        len(rows),
        float(np.median(own)),
        float(np.median(ours)),
        float(np.quantile(ours, 0.9)),
        float(np.median(ours / own)),
        float(np.quantile(ours / own, 0.9)),
    )


def _times_of(call: Callable[[Any], Any], explainer: Explainer, row: Any) -> tuple[float, float]:
    """Return the seconds of the model's call and of the explanation: the medians of some repeats."""
    pairs = [(_seconds(call, row), _seconds(explainer.explain, row)) for _ in range(REPEATS)]
    own, ours = np.median(pairs, axis=0)
    return float(own), float(ours)


def _seconds(work: Callable[[Any], Any], row: Any) -> float:
    began = perf_counter()
    work(row)
    return perf_counter() - began


if __name__ == "__main__":
    main()
