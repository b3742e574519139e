"""The plan of a study: which searches explain which rows of which cases."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from butfor._checks import require_count, require_seconds
from butfor.errors import InputError
from butfor.study.registry import Registry
from butfor.study.results import Case, Experiment, Result, Study

SIX = ("ecommerce", "airline", "twitter", "20news", "movielens_100k", "movielens_1m")
"""The paper's data sets that can be downloaded today and match its table."""
SEARCHES = ("sedc", "lime-c", "shap-c", "random", "lime-sedc", "shap-sedc", "certified", "auto")
TRADEOFF = (
    *(f"sedc:max_iterations={n}" for n in (1, 5, 50, 500)),
    *(f"{search}:n_samples={n}" for search in ("lime-c", "shap-c") for n in (100, 500, 1000, 5000, 10_000)),
    "auto",
)
"""Searches with ever higher limits, to show the trade-off of work and effect."""
STUDY_REMOVALS = ("zero", "delete")
GROWTH_ACTIVE, GROWTH_SIZE = 34, 6
"""Active features and size of the answer of the row on which the paper shows how complete search grows."""


@dataclass(frozen=True)
class StudySettings:
    """What a study compares, on how many rows, within which limits. The defaults are the paper's protocol.

    Parameters
    ----------
    datasets : tuple of str
        Names of data sets. "NAME:generated" is a stand-in.
    models : tuple of str
        Names of models. If empty, the two that the paper uses for the kind of data.
    searches : tuple of str
        Names of searches, or with parameters: "lime-c:n_samples=500".
    rows : int, default 300
        Largest number of rows of a case that are explained.
    repeats : int, default 5
        How often searches that use random numbers are run on a row.
    tradeoff_rows : int, default 30
        Number of rows of each case for the trade-off of work and effect; 0 leaves it out.
    max_size : int, default 30
        The most features of an answer.
    max_seconds : float, default 120
        Time limit of an explanation.
    seed : int, default 0
        Seed of the choice of rows and of the searches.
    removal : {"zero", "delete"}, default "zero"
        What a removal does: set a feature to zero, or cut a word out of the text. Only texts can be cut.
    additions : tuple of Path
        Python files with further data sets, models and searches.

    Raises
    ------
    InputError
        If a number is out of range, or the removal unknown.

    Examples
    --------
    >>> StudySettings(datasets=("inbox",), rows=40).max_size
    30
    """

    datasets: tuple[str, ...] = SIX
    models: tuple[str, ...] = ()
    searches: tuple[str, ...] = SEARCHES
    rows: int = 300
    repeats: int = 5
    tradeoff_rows: int = 30
    max_size: int = 30
    max_seconds: float = 120.0
    seed: int = 0
    removal: str = "zero"
    additions: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for name, at_least in (
            ("rows", 1),
            ("repeats", 1),
            ("tradeoff_rows", 0),
            ("max_size", 1),
            ("seed", 0),
        ):
            require_count(f"--{name.replace('_', '-')}", getattr(self, name), at_least=at_least)
        require_seconds("--max-seconds", self.max_seconds)
        if self.removal not in STUDY_REMOVALS:
            raise InputError(f'--removal must be "zero" or "delete", got {self.removal!r}.')

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as they are stored with the results."""
        values = asdict(self).items()
        return {name: list(map(str, each)) if isinstance(each, tuple) else each for name, each in values}


QUICK = StudySettings(
    datasets=("inbox", "moviegoers"), rows=40, repeats=2, tradeoff_rows=10, max_seconds=10.0
)
"""A small study of the data sets that ship with butfor."""


class SearchRun(NamedTuple):
    """One explanation to be made of a row."""

    part: Experiment
    search: str
    repeat: int
    max_size: int


@dataclass(frozen=True)
class FittedCase:
    """A case whose model is fitted, with the rows to explain."""

    case: Case
    path: Path
    """The file with the model and the rows."""
    rows: tuple[int, ...]
    """The rows to explain, counted in the data set from 0."""


@dataclass(frozen=True)
class RowTask:
    """The searches that are still to be run on one row of a case."""

    fitted: FittedCase
    position: int
    """The position of the row among the rows to explain."""
    runs: tuple[SearchRun, ...]

    def without(self, done: set[Any]) -> "RowTask":
        """Return the task without the runs whose results have one of these keys."""
        case, row = self.fitted.case, self.fitted.rows[self.position]
        left = [
            run
            for run in self.runs
            if (run.part, case.dataset, case.model, run.search, row, run.repeat, run.max_size) not in done
        ]
        return replace(self, runs=tuple(left))


def row_tasks(settings: StudySettings, known: Registry, fitted: Iterable[FittedCase]) -> list[RowTask]:
    """Return the task of every row.

    Rows come in random order, so that the time left can be estimated from the time so far. The searches of
    a row come in random order too: the first search on a row is a little slower than the others, and it
    should not always be the same one.
    """
    main = [
        SearchRun("main", search, repeat, settings.max_size)
        for search in settings.searches
        for repeat in range(settings.repeats if known.is_repeated(search) else 1)
    ]
    tradeoff = [SearchRun("tradeoff", search, 0, settings.max_size) for search in TRADEOFF]
    random = Random(settings.seed)
    tasks = []
    for each in fitted:
        for position in range(len(each.rows)):
            runs = main + tradeoff * (position < settings.tradeoff_rows)
            tasks.append(RowTask(each, position, tuple(random.sample(runs, len(runs)))))
    return random.sample(tasks, len(tasks))


def growth_tasks(settings: StudySettings, fitted: Sequence[FittedCase], study: Study) -> list[RowTask]:
    """Return the task of complete search with ever larger size limits, on the row of `growth_row`."""
    if not settings.tradeoff_rows:
        return []
    chosen = growth_row(study)
    if chosen is None:
        return []
    for each in fitted:
        if (each.case.dataset, each.case.model) == (chosen.dataset, chosen.model) and chosen.row in each.rows:
            sizes = range(1, chosen.size + 1)
            runs = [SearchRun("growth", "complete", 0, size) for size in sizes]
            runs += [SearchRun("growth", search, 0, settings.max_size) for search in ("sedc", "certified")]
            return [RowTask(each, each.rows.index(chosen.row), tuple(runs))]
    return []


def growth_row(study: Study) -> Result | None:
    """Return a row with a proven minimum that is most like the paper's, of a non-linear model if possible."""
    earlier = {(each.dataset, each.model, each.row) for each in study.results if each.part == "growth"}
    linear = {(case.dataset, case.model): case.linear for case in study.cases}
    found = [each for each in study.results if each.part == "main" and each.proven_minimum]
    found = [each for each in found if (each.dataset, each.model, each.row) in earlier] or found

    def distance(result: Result) -> tuple[bool, int, Any]:
        unlike = abs(result.n_active - GROWTH_ACTIVE) + 4 * abs(result.size - GROWTH_SIZE)
        return linear[result.dataset, result.model], unlike, result.key

    return min(found, key=distance, default=None)
