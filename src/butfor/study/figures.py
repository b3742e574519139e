"""The figures of a study: seconds against size and active features, growth, and effect for work."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from butfor.study.cells import file_name, shown_dataset
from butfor.study.drawing import Picture, add_legend, colour_of, figure_of, plain_log, plain_text
from butfor.study.measures import Comparison, FloatArray, ResultArrays, blocks, comparisons, family, in_order
from butfor.study.results import Result, Study

MAX_BINS = 8
"""Largest number of points of a curve of medians."""


def pictures(study: Study) -> list[Picture]:
    """Return every figure for which the study has results."""
    compared = [each for each in comparisons(study) if each.common(with_random=False).any()]
    growth = [result for result in study.results if result.part == "growth"]
    tradeoff = [result for result in study.results if result.part == "tradeoff"]
    return [
        *(_against_size(block, inside) for block, inside in blocks(compared).items()),
        *(_against_active(block, inside) for block, inside in blocks(compared).items()),
        *([_growth(growth)] if growth else []),
        *([_tradeoff(study, tradeoff)] if tradeoff else []),
    ]


def _against_size(block: str, compared: Sequence[Comparison]) -> Picture:
    def sizes(each: Comparison, answers: ResultArrays) -> FloatArray:
        means: FloatArray = np.mean(answers.size, axis=1)
        return means

    return Picture(
        file_name(f"seconds size {block}"),
        f"Seconds against size, {block}",
        "Each point is a row that every search explained, with its mean over the repeats. The lines join "
        "medians of groups of about as many points.",
        _panels(compared, sizes, "features in the answer"),
    )


def _against_active(block: str, compared: Sequence[Comparison]) -> Picture:
    def active(each: Comparison, answers: ResultArrays) -> FloatArray:
        return each.n_active.astype(float)

    return Picture(
        file_name(f"seconds active {block}"),
        f"Seconds against active features, {block}",
        "The same rows, against the number of their active features.",
        _panels(compared, active, "active features"),
    )


def _panels(
    compared: Sequence[Comparison], across: Callable[[Comparison, ResultArrays], FloatArray], label: str
) -> Figure:
    """Draw one panel for each data set, with the points of each search and the curve of their medians."""
    datasets = list(dict.fromkeys(each.case.dataset for each in compared))
    figure, axes = figure_of(len(datasets), height=2.5)
    for axis, dataset in zip(axes, datasets, strict=True):
        points = _points([each for each in compared if each.case.dataset == dataset], across)
        for search, (x, y) in points.items():
            axis.scatter(x, y, s=7, lw=0, alpha=0.2, color=colour_of(search), rasterized=True)
        for search, (x, y) in points.items():
            axis.plot(*_medians(x, y), "-", color=colour_of(search), label=plain_text(search), lw=1.6)
        plain_log(axis.xaxis)
        plain_log(axis.yaxis)
        axis.set_title(plain_text(shown_dataset(dataset)), fontsize="medium")
    figure.supxlabel(label, fontsize="medium")
    figure.supylabel("seconds", fontsize="medium")
    add_legend(figure, axes)
    return figure


def _points(
    compared: Iterable[Comparison], across: Callable[[Comparison, ResultArrays], FloatArray]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    collected: defaultdict[str, list[tuple[FloatArray, FloatArray]]] = defaultdict(list)
    for each in compared:
        common = each.common(with_random=False)
        for search, answers in each.answers.items():
            if family(search) != "random":
                means = across(each, answers)[common], answers.seconds.mean(axis=1)[common]
                collected[search].append(means)
    return {
        search: (np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found]))
        for search, found in collected.items()
    }


def _medians(x: FloatArray, y: FloatArray) -> tuple[list[float], list[float]]:
    """Cut the points into groups of about equal size; return the medians of each group."""
    edges = np.unique(np.quantile(x, np.linspace(0, 1, MAX_BINS + 1)))[1:-1]
    groups = np.digitize(x, edges)
    inside = [groups == group for group in np.unique(groups)]
    return [float(np.median(x[each])) for each in inside], [float(np.median(y[each])) for each in inside]


def _growth(results: Sequence[Result]) -> Picture:
    results = sorted(results, key=lambda result: result.max_size)
    rows = list(dict.fromkeys((result.dataset, result.model, result.row) for result in results))
    figure, axes = figure_of(2 * len(rows), height=3.4, n_columns=2)
    for at, row in enumerate(rows):
        mine = [result for result in results if (result.dataset, result.model, result.row) == row]
        title = f"{shown_dataset(row[0])}, {row[1]}: a row of {mine[0].n_active:,} active features"
        axes[2 * at].set_title(plain_text(title), fontsize="medium", loc="left")
        for axis, value in zip(axes[2 * at : 2 * at + 2], ("seconds", "n_scored"), strict=True):
            for search in in_order(result.search for result in mine):
                _draw_growth(axis, search, [each for each in mine if each.search == search], value)
            plain_log(axis.yaxis)
            axis.set_xlabel("largest size of a set")
            axis.set_ylabel("sets scored" if value == "n_scored" else value)
    add_legend(figure, axes)
    return Picture(
        "growth",
        "Growth of complete search",
        "Complete search of ever larger sets on one row, and other searches for reference. Hollow: stopped "
        "before it was done.",
        figure,
    )


def _draw_growth(axis: Any, search: str, results: Sequence[Result], value: str) -> None:
    colour = colour_of(search)
    x, y = [each.max_size for each in results], [getattr(each, value) for each in results]
    if len(results) == 1:  # run once, whatever the size: a level to compare with
        axis.axhline(y[0], color=colour, ls="--", lw=1.4, label=plain_text(search))
        return
    axis.plot(x, y, "-", color=colour, lw=1.6, label=plain_text(search))
    for each, at, height in zip(results, x, y, strict=True):
        face = "white" if each.status == "budget" else colour
        axis.plot(at, height, "o", color=colour, markerfacecolor=face, ms=5)


def _tradeoff(study: Study, results: Sequence[Result]) -> Picture:
    linear = {(case.dataset, case.model): case.linear for case in study.cases}
    kinds = [kind for kind in (True, False) if any(linear[_case(result)] == kind for result in results)]
    smallest = _smallest(study.results)
    figure, axes = figure_of(2 * len(kinds), height=3.1, n_columns=len(kinds))
    for at, kind in enumerate(kinds):
        mine = [result for result in results if linear[_case(result)] == kind]
        axes[at].set_title("linear models" if kind else "non-linear models", fontsize="medium")
        for axis, effect in ((axes[at], _percent), (axes[len(kinds) + at], _excess(smallest))):
            for name in in_order(family(result.search) for result in mine):
                _draw_family(axis, name, [each for each in mine if family(each.search) == name], effect)
            plain_log(axis.xaxis)
    axes[0].set_ylabel("% explained")
    axes[len(kinds)].set_ylabel("features above the smallest, mean")
    figure.supxlabel("seconds, mean", fontsize="medium")
    add_legend(figure, axes)
    return Picture(
        "tradeoff",
        "Effect for work",
        "The percentage explained, and by how many features the answers are larger than the smallest that "
        "any search found, against the time of an answer. The numbers are the iterations or samples of the "
        "first and the last point of a line; from left to right: " + _steps(results),
        figure,
    )


Effect = Callable[[Sequence[Result]], float]


def _draw_family(axis: Any, name: str, results: Sequence[Result], effect: Effect) -> None:
    colour = colour_of(name)
    settings = sorted({result.search for result in results}, key=_numbers)
    x, y = [], []
    for setting in settings:
        mine = [result for result in results if result.search == setting]
        x.append(float(np.mean([result.seconds for result in mine])))
        y.append(effect(mine))
    axis.plot(x, y, "o-", color=colour, label=plain_text(name), lw=1.6, ms=4)
    for at in sorted({0, len(settings) - 1}):  # labels between them would overlap
        beside = {"xytext": (3, 3), "textcoords": "offset points"}
        axis.annotate(plain_text(_value(settings[at])), (x[at], y[at]), fontsize=7, color=colour, **beside)


def _value(search: str) -> str:
    """Return the value of the only parameter of a search, or all its parameters as they are.

    >>> _value("lime-c:n_samples=500"), _value("auto")
    ('500', '')
    """
    parameters = search.partition(":")[2]
    return parameters.partition("=")[2] if parameters.count("=") == 1 else parameters


def _steps(results: Iterable[Result]) -> str:
    """Return which settings the points of each curve stand for."""
    settings = sorted({result.search for result in results}, key=_numbers)
    by_family = {
        name: [_value(each) for each in settings if family(each) == name] for name in map(family, settings)
    }
    listed = [f"{name} {', '.join(values)}" for name, values in sorted(by_family.items()) if any(values)]
    return "; ".join(listed) + "."


def _numbers(search: str) -> list[int]:
    """Return the numbers in the parameters of a search, to sort by."""
    return [int(number) for number in re.findall(r"\d+", search.partition(":")[2])]


def _percent(results: Sequence[Result]) -> float:
    return 100 * float(np.mean([result.found for result in results]))


def _excess(smallest: dict[tuple[str, str, int], int]) -> Effect:
    def excess(results: Sequence[Result]) -> float:
        above = [each.size - smallest[(*_case(each), each.row)] for each in results if each.found]
        return float(np.mean(above)) if above else float("nan")

    return excess


def _smallest(results: Iterable[Result]) -> dict[tuple[str, str, int], int]:
    sizes: dict[tuple[str, str, int], int] = {}
    for result in results:
        if result.found:
            key = (*_case(result), result.row)
            sizes[key] = min(result.size, sizes.get(key, result.size))
    return sizes


def _case(result: Result) -> tuple[str, str]:
    return result.dataset, result.model
