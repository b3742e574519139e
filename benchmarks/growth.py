"""How the time of searches grows with the row and with the answer: `python -m benchmarks.growth` draws it."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.neural_network import MLPClassifier

from benchmarks.common import save_figure, timed
from butfor import Budget, Explainer
from butfor.study.drawing import plain_axis

mpl.use("Agg")
import matplotlib.pyplot as plt

SEARCHES = {"complete": "#b3541e", "sedc": "#2f6690", "certified": "#3a7d44"}
MAX_SECONDS = 10.0
FIXED_SIZE, FIXED_ACTIVE = 4, 34


@dataclass(frozen=True)
class Point:
    """The work of one search on one row."""

    search: str
    n_active: int
    size: int
    seconds: float
    n_scored: int
    finished: bool


def main() -> None:
    """Measure and print the points, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/growth"))
    options = parser.parse_args()
    by_active = [point for m in (8, 12, 17, 24, 34, 50, 75, 151, 300) for point in _measure(m, FIXED_SIZE)]
    by_size = [point for size in range(1, 9) for point in _measure(FIXED_ACTIVE, size)]
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex="col", layout="constrained")
    _draw(axes[:, 0], by_active, "n_active", f"active features (smallest answer: {FIXED_SIZE})")
    _draw(axes[:, 1], by_size, "size", f"smallest answer ({FIXED_ACTIVE} active features)")
    axes[0, 0].set_xscale("log")
    axes[0, 0].set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"])
    axes[0, 0].legend(frameon=False, title=f"hollow: stopped after {MAX_SECONDS:g} s", alignment="left")
    save_figure(figure, options.out)


def _measure(n_active: int, size: int) -> list[Point]:
    model, threshold = _network(n_active, size)
    Explainer(model, threshold=threshold).explain(np.ones(n_active))  # work that is done once does not count
    points = []
    for search in SEARCHES:
        explainer = Explainer(
            model, threshold=threshold, search=search, budget=Budget(max_seconds=MAX_SECONDS)
        )
        explainer.local_model(np.ones(n_active))  # nor does what is done once for a model
        why, seconds = timed(explainer.explain, np.ones(n_active))
        finished = not why.reason
        points.append(Point(search, n_active, size, seconds, why.n_scored, finished))
        state = f"{why.size} found" if finished else why.reason
        cost = f"{seconds:8.4f} s  {why.n_scored:10,} scored"
        print(f"{search:>10}  m = {n_active:3}  {cost}  {state}", flush=True)
    return points


def _network(n_active: int, size: int) -> tuple[Any, float]:
    """Return a network of 100 neurons, and the threshold for which a full row needs `size` removals."""
    rng = np.random.default_rng(0)
    X = (rng.random((600, n_active)) < 0.5).astype(float)
    weights = rng.exponential(size=n_active)
    y = X @ weights > np.median(X @ weights)
    model = MLPClassifier((100,), alpha=1.0, max_iter=300, tol=0.005, random_state=0).fit(X, y)
    row, scores = np.ones((1, n_active)), []
    for _ in range(size):  # remove this number of features greedily
        active = np.flatnonzero(row[0])
        without = np.repeat(row, len(active), axis=0)
        without[np.arange(len(active)), active] = 0
        after = model.predict_proba(without)[:, 1]
        row = without[[np.argmin(after)]]
        scores.append(float(after.min()))
    before = scores[-2] if size > 1 else float(model.predict_proba(np.ones((1, n_active)))[0, 1])
    return model, (before + scores[-1]) / 2


def _draw(axes: Any, points: list[Point], across: str, label: str) -> None:
    for search, colour in SEARCHES.items():
        mine = [point for point in points if point.search == search]
        x = [getattr(point, across) for point in mine]
        for axis, value in zip(axes, ("seconds", "n_scored"), strict=True):
            axis.plot(x, [getattr(point, value) for point in mine], "-", color=colour, label=search, lw=1.6)
            for point, at in zip(mine, x, strict=True):
                face = colour if point.finished else "white"
                axis.plot(at, getattr(point, value), "o", color=colour, markerfacecolor=face, ms=5)
    for axis, title in zip(axes, ("seconds", "sets scored"), strict=True):
        axis.set_yscale("log")
        axis.set_ylabel(title)
        plain_axis(axis)
    axes[1].set_xlabel(label)


if __name__ == "__main__":
    main()
