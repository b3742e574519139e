"""The results of a case as arrays, and the measures that tables and figures show."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from butfor.study.models import MODELS
from butfor.study.plan import SEARCHES
from butfor.study.results import Case, Result, Study

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

ORDER = SEARCHES
"""The order of searches in tables: the paper's first. Other searches follow by name."""


@dataclass(frozen=True)
class ResultArrays:
    """The results of one search on one case, as arrays of rows × repeats."""

    found: BoolArray
    none: BoolArray
    """Whether it is proven that no set of at most max_size features flips the decision."""
    size: IntArray
    lower_bound: IntArray
    seconds: FloatArray

    @property
    def always_found(self) -> BoolArray:
        """Whether each row is explained in every repeat."""
        every: BoolArray = np.all(self.found, axis=1)
        return every


@dataclass(frozen=True)
class Measured:
    """One figure of one search on one case, with what the comparison with the best search needs."""

    value: float
    """The percentage explained or a median, averaged over the repeats."""
    q1: float | None
    q3: float | None
    mean: float
    """Breaks ties between searches with the same value; lower is better."""
    by_row: FloatArray
    """One figure for each row, averaged over the repeats; lower is better."""


@dataclass(frozen=True)
class Comparison:
    """The results of all searches on the rows of one case."""

    case: Case
    rows: IntArray
    """The rows that have all their results. An unfinished study has fewer of them than planned."""
    n_active: IntArray
    max_size: int
    """The size limit. Larger answers, which only random gives, are not compared."""
    answers: dict[str, ResultArrays]
    """The results, by search."""

    @cached_property
    def smallest(self) -> IntArray:
        """Size of the smallest answer that any search found for each row; the largest integer if none did."""
        nothing = np.full(len(self.rows), np.iinfo(np.int64).max)
        sizes = [
            np.where(each.found & (each.size <= self.max_size), each.size, nothing[:, None]).min(axis=1)
            for each in self.answers.values()
        ]
        smallest: IntArray = np.min([nothing, *sizes], axis=0)
        return smallest

    @cached_property
    def bound(self) -> IntArray:
        """The largest lower bound on the size of an answer that any search has proven for each row."""
        bounds = [each.lower_bound.max(axis=1) for each in self.answers.values()]
        bound: IntArray = np.max([np.zeros(len(self.rows), dtype=np.int64), *bounds], axis=0)
        return bound

    @property
    def minimum_known(self) -> BoolArray:
        """Whether each row has an answer that is proven to be the smallest."""
        return self.smallest <= self.bound

    def common(self, *, with_random: bool) -> BoolArray:
        """Return whether each row was explained by every search in every repeat."""
        counted = [each for search, each in self.answers.items() if with_random or family(search) != "random"]
        return np.logical_and.reduce([each.always_found for each in counted]) if counted else self.rows < 0


def of_paper(case: Case) -> bool:
    """Return whether the model is one of the two that the paper uses for this kind of data."""
    return case.model in MODELS and MODELS[case.model].of_paper == case.kind


def blocks(compared: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    """Group cases by table: the paper's linear models, its non-linear models, and each other model."""
    grouped: defaultdict[str, list[Comparison]] = defaultdict(list)
    for each in compared:
        case = each.case
        kind = "linear models" if case.linear else "non-linear models"
        grouped[kind if of_paper(case) else case.model].append(each)
    first = [kind for kind in ("linear models", "non-linear models") if kind in grouped]
    return {block: grouped[block] for block in dict.fromkeys([*first, *grouped])}


def family(search: str) -> str:
    """Return the name of a search without its parameters.

    >>> family("lime-c:n_samples=500")
    'lime-c'
    """
    return search.split(":")[0]


def in_order(searches: Iterable[str]) -> list[str]:
    """Return the distinct searches in the order of the tables."""

    def place(search: str) -> tuple[int, str]:
        name = family(search)
        return (ORDER.index(name) if name in ORDER else len(ORDER), search)

    return sorted(set(searches), key=place)


def comparisons(study: Study) -> tuple[Comparison, ...]:
    """Return the main comparison of every case, in the order of the study."""
    found: defaultdict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in study.results:
        if result.part == "main":
            found[result.dataset, result.model].append(result)
    return tuple(_comparison(case, found[case.dataset, case.model]) for case in study.cases)


def _comparison(case: Case, results: list[Result]) -> Comparison:
    by_row: defaultdict[int, dict[tuple[str, int], Result]] = defaultdict(dict)
    for result in results:
        by_row[result.row][result.search, result.repeat] = result
    planned = {key for answers in by_row.values() for key in answers}
    rows = sorted(row for row, answers in by_row.items() if answers.keys() == planned)
    answers = {}
    for search in in_order(search for search, _ in planned) if rows else ():
        repeats = sorted(repeat for name, repeat in planned if name == search)
        answers[search] = _answers([[by_row[row][search, repeat] for repeat in repeats] for row in rows])
    n_active = [next(iter(by_row[row].values())).n_active for row in rows]
    max_size = max((result.max_size for result in results), default=0)
    numbers = np.array(rows, dtype=np.int64)
    return Comparison(case, numbers, np.array(n_active, dtype=np.int64), max_size, answers)


def _answers(grid: list[list[Result]]) -> ResultArrays:
    return ResultArrays(
        found=np.array([[result.found for result in row] for row in grid]),
        none=np.array([[result.status == "none" for result in row] for row in grid]),
        size=np.array([[result.size for result in row] for row in grid]),
        lower_bound=np.array([[result.lower_bound for result in row] for row in grid]),
        seconds=np.array([[result.seconds for result in row] for row in grid]),
    )


def explained_percent(comparison: Comparison) -> dict[str, Measured]:
    """Measure the percentage of rows explained. `random` has no size limit and is left out."""
    measured = {}
    for search, answers in comparison.answers.items():
        if family(search) != "random":
            percent = 100 * float(answers.found.mean())
            unexplained = (answers.found.mean(axis=1) < 0.5).astype(float)
            measured[search] = Measured(percent, None, None, 100 - percent, unexplained)
    return measured


def size(comparison: Comparison) -> dict[str, Measured]:
    """Measure the size of answers, over the rows that every search explained."""
    common = comparison.common(with_random=True)
    return {
        search: _spread(answers.size[common].astype(float))
        for search, answers in comparison.answers.items()
        if common.any()
    }


def seconds(comparison: Comparison) -> dict[str, Measured]:
    """Measure the time of answers, over the rows that every search but `random` explained."""
    common = comparison.common(with_random=False)
    return {
        search: _spread(answers.seconds[common])
        for search, answers in comparison.answers.items()
        if common.any() and family(search) != "random"
    }


def _spread(values: FloatArray) -> Measured:
    q1, median, q3 = (float(each.mean()) for each in np.quantile(values, (0.25, 0.5, 0.75), axis=0))
    return Measured(median, q1, q3, float(values.mean()), values.mean(axis=1))


@dataclass(frozen=True)
class Optimality:
    """How near the answers of one search on one case are to the smallest."""

    proven_percent: float | None
    """Percentage of its answers that the search itself proved to be smallest; None if it has no answer."""
    minimum_percent: float | None
    """Percentage of the rows with a known minimum that got an answer of that size; None if none is known."""
    gap: float | None
    """Mean number of features above the known minimum, over the answers for such rows."""
    n_none: int
    """Number of rows for which the search proved that no answer of at most max_size features exists."""


def optimality(comparison: Comparison) -> dict[str, Optimality]:
    """Measure how near the answers of each search are to the smallest."""
    known = comparison.minimum_known
    return {search: _optimality(each, comparison, known) for search, each in comparison.answers.items()}


def at_minimum(answers: ResultArrays, comparison: Comparison) -> BoolArray:
    """Return, for rows × repeats, whether an answer is as small as the smallest that any search found."""
    smallest: BoolArray = answers.found & (answers.size == comparison.smallest[:, None])
    return smallest


def _optimality(answers: ResultArrays, comparison: Comparison, known: BoolArray) -> Optimality:
    proven = (answers.lower_bound >= answers.size)[answers.found]
    excess = (answers.size - comparison.smallest[:, None])[answers.found & known[:, None]]
    hits = at_minimum(answers, comparison)[known]
    return Optimality(
        proven_percent=100 * float(proven.mean()) if proven.size else None,
        minimum_percent=100 * float(hits.mean()) if hits.size else None,
        gap=float(excess.mean()) if excess.size else None,
        n_none=int(answers.none.any(axis=1).sum()),
    )
