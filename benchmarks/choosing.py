"""The effect of more samples or iterations: `python -m benchmarks.choosing` prints and draws it."""

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median

import matplotlib as mpl
import numpy as np

from benchmarks.cases import Case, behaviour_cases
from benchmarks.common import explained, save_figure
from butfor import SEDC, Auto, Explainer, Explanation, LimeC, LimeSEDC, LinSEDC, Search, ShapC, ShapSEDC
from butfor.study.drawing import plain_axis

mpl.use("Agg")
import matplotlib.pyplot as plt

SAMPLES = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
ITERATIONS = (5, 10, 20, 50, 100)
COLOURS = {
    "lime-c": "#b3541e",
    "shap-c": "#2f6690",
    "lime-sedc": "#e0a458",
    "shap-sedc": "#81b1d5",
    "sedc": "#3a7d44",
    "lin-sedc": "#7b4b94",
    "auto": "#222222",
}


@dataclass(frozen=True)
class Setting:
    """The results of one search with one setting over all rows."""

    search: str
    setting: str
    explained: int
    mean_size: float
    """Mean size of the answers. A row without an answer counts as one more than the size limit."""
    mean_excess: float
    """Mean number of features above the smallest answer."""
    at_minimum: int
    scored: float
    ms: float


def main() -> None:
    """Measure all settings, print the table and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100, help="rows to explain (default 100)")
    parser.add_argument("--out", type=Path, default=Path("build/choosing"))
    options = parser.parse_args()
    (case,) = (case for case in behaviour_cases(options.rows) if case.model_name.startswith("MLP"))
    active = median(row.nnz for row in case.rows)
    print(f"{case.data}, {case.model_name}: {len(case.rows)} rows, {active:g} active features in the median;")
    print(f"{os.cpu_count()} cores\n")
    print("| search | setting | explained | mean size | at the minimum | scorings | ms |")
    print("|---|---|---:|---:|---:|---:|---:|")
    settings = []
    for setting in _measure(case):
        settings.append(setting)
        print(
            f"| {setting.search} | {setting.setting} | {setting.explained} | {setting.mean_size:.2f} "
            f"| {setting.at_minimum} | {setting.scored:,.0f} | {setting.ms:.1f} |",
            flush=True,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.with_suffix(".json").write_text(json.dumps(list(map(asdict, settings)), indent=2) + "\n")
    _draw(settings, options.out)


def _searches() -> Iterator[tuple[str, Search]]:
    for search in (LimeC, ShapC):
        for n_samples in SAMPLES:
            yield f"n_samples={n_samples}", search(n_samples=n_samples)
    for hybrid in (LimeSEDC, ShapSEDC):
        for n_samples in SAMPLES:
            yield f"n_samples={n_samples}", hybrid(n_samples=n_samples)
        for schedule in ((100, 1_000), (100, 1_000, 5_000)):
            yield f"n_samples={schedule}", hybrid(n_samples=schedule)
    for max_iterations in ITERATIONS:
        hybrid_of_500 = LimeSEDC(n_samples=500, max_iterations=max_iterations)
        yield f"n_samples=500, max_iterations={max_iterations}", hybrid_of_500
    for max_iterations in ITERATIONS:
        yield f"max_iterations={max_iterations}", SEDC(max_iterations=max_iterations)
    yield "", LinSEDC()
    yield "", Auto()


def _measure(case: Case) -> Iterator[Setting]:
    judge = Explainer(case.recognisable, threshold=case.threshold, search="certified")
    smallest = [_size(judge.explain(row)) for row in case.rows]
    for setting, search in _searches():
        explainer = Explainer(case.recognisable, threshold=case.threshold, search=search)
        answers = explained(explainer, case.rows)
        sizes = [_size(why) for why, _ in answers]
        excess = np.subtract(sizes, smallest)
        yield Setting(
            search=answers[0][0].search,
            setting=setting,
            explained=sum(bool(why) for why, _ in answers),
            mean_size=mean(sizes),
            mean_excess=float(excess.mean()),
            at_minimum=int((excess == 0).sum()),
            scored=mean(why.n_scored for why, _ in answers),
            ms=1000 * median(seconds for _, seconds in answers),
        )


def _size(why: Explanation) -> int:
    return why.size if why else why.max_size + 1


def _draw(settings: list[Setting], out: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
    for axis, value, title in zip(
        axes, ("scored", "ms"), ("sets scored, mean", "milliseconds, median"), strict=True
    ):
        for search, colour in COLOURS.items():
            mine = [each for each in settings if each.search == search and _is_on_curve(each)]
            x, y = [getattr(each, value) for each in mine], [each.mean_excess for each in mine]
            axis.plot(x, y, "o-", color=colour, label=search, lw=1.6, ms=4)
        axis.set_xscale("log")
        axis.set_xlabel(title)
        plain_axis(axis)
    axes[0].set_yscale("symlog", linthresh=0.1)
    axes[0].set_ylim(-0.01, 15)
    axes[0].set_yticks([0, 0.1, 0.3, 1, 3, 10], ["0", "0.1", "0.3", "1", "3", "10"])
    axes[0].set_ylabel("features above the smallest answer, mean")
    axes[0].legend(frameon=False, loc="upper right")
    save_figure(figure, out)


def _is_on_curve(setting: Setting) -> bool:
    """Return whether the setting is on a curve: only the samples, or only the iterations, vary."""
    return "(" not in setting.setting and "," not in setting.setting


if __name__ == "__main__":
    main()
