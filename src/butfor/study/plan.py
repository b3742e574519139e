"""What a study asks: of which cases, which rows, with which searches."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from butfor.checks import require_count, require_seconds
from butfor.study.registry import Registry
from butfor.study.results import Case, Part, Result, Study

SIX = ("ecommerce", "airline", "twitter", "20news", "movielens_100k", "movielens_1m")
"""The paper's data sets that can be downloaded today and match its table."""
SEARCHES = ("sedc", "lime-c", "shap-c", "random", "lime-sedc", "shap-sedc", "certified", "auto")
TRADEOFF = (
    *(f"sedc:max_iterations={n}" for n in (1, 5, 50, 500)),
    *(f"{search}:n_samples={n}" for search in ("lime-c", "shap-c") for n in (100, 500, 1000, 5000, 10_000)),
    "auto",
)
"""How effective each of the paper's searches is for how much work."""
GROWTH_ACTIVE, GROWTH_SIZE = 34, 6
"""The row on which the paper shows how complete search grows."""


@dataclass(frozen=True)
class Settings:
    """What is compared, on how much, within what limits; the defaults are the paper's protocol."""

    datasets: tuple[str, ...] = SIX
    models: tuple[str, ...] = ()
    """None named: the paper's two for the kind of data."""
    searches: tuple[str, ...] = SEARCHES
    rows: int = 300
    repeats: int = 5
    tradeoff_rows: int = 30
    """Rows of each case for the trade-off of work and effect; 0 leaves it out."""
    max_size: int = 30
    max_seconds: float = 120.0
    seed: int = 0
    additions: tuple[Path, ...] = ()
    """Files with further data sets, models and searches."""

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

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, as they are kept with the results."""
        values = asdict(self).items()
        return {name: list(map(str, each)) if isinstance(each, tuple) else each for name, each in values}


QUICK = Settings(datasets=("inbox", "moviegoers"), rows=40, repeats=2, tradeoff_rows=10, max_seconds=10.0)
"""A small study of what ships with butfor."""


Asked = tuple[Part, str, int, int]
"""One explanation to be made of a row: part, search, repeat, size limit."""


@dataclass(frozen=True)
class Ready:
    """A case whose model is fitted, and the rows to explain."""

    case: Case
    path: Path
    """Where the model and the rows are kept."""
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """What is still to be asked of one row of a case."""

    ready: Ready
    position: int
    """Of the row among the rows to explain."""
    asked: tuple[Asked, ...]

    def without(self, done: set[Any]) -> "Task":
        """Leave out what was answered before."""
        case, row = self.ready.case, self.ready.rows[self.position]
        left = [
            (part, search, repeat, max_size)
            for part, search, repeat, max_size in self.asked
            if (part, case.dataset, case.model, search, row, repeat, max_size) not in done
        ]
        return replace(self, asked=tuple(left))


def row_tasks(settings: Settings, known: Registry, ready: Iterable[Ready]) -> list[Task]:
    """Give what is to be asked of every row.

    Rows come in random order: then the pace so far tells the time left. So do the searches of a row: the one
    that meets it first is a little slower, and that should not always be the same.
    """
    main: list[Asked] = [
        ("main", search, repeat, settings.max_size)
        for search in settings.searches
        for repeat in range(settings.repeats if known.is_repeated(search) else 1)
    ]
    tradeoff: list[Asked] = [("tradeoff", search, 0, settings.max_size) for search in TRADEOFF]
    random = Random(settings.seed)
    tasks = []
    for each in ready:
        for position in range(len(each.rows)):
            asked = main + tradeoff * (position < settings.tradeoff_rows)
            tasks.append(Task(each, position, tuple(random.sample(asked, len(asked)))))
    return random.sample(tasks, len(tasks))


def growth_tasks(settings: Settings, ready: Sequence[Ready], study: Study) -> list[Task]:
    """Have complete search take ever larger sets of one row: as in the paper, or the row closest to it."""
    if not settings.tradeoff_rows:
        return []
    chosen = growth_row(study)
    if chosen is None:
        return []
    for each in ready:
        if (each.case.dataset, each.case.model) == (chosen.dataset, chosen.model) and chosen.row in each.rows:
            sizes = range(1, chosen.size + 1)
            asked: list[Asked] = [("growth", "complete", 0, size) for size in sizes]
            asked += [("growth", search, 0, settings.max_size) for search in ("sedc", "certified")]
            return [Task(each, each.rows.index(chosen.row), tuple(asked))]
    return []


def growth_row(study: Study) -> Result | None:
    """Choose a row about as the paper's whose minimum is proven, of a non-linear model if there is one."""
    earlier = {(each.dataset, each.model, each.row) for each in study.results if each.part == "growth"}
    linear = {(case.dataset, case.model): case.linear for case in study.cases}
    found = [each for each in study.results if each.part == "main" and each.proven_minimum]
    found = [each for each in found if (each.dataset, each.model, each.row) in earlier] or found

    def distance(result: Result) -> tuple[bool, int, Any]:
        unlike = abs(result.n_active - GROWTH_ACTIVE) + 4 * abs(result.size - GROWTH_SIZE)
        return linear[result.dataset, result.model], unlike, result.key

    return min(found, key=distance, default=None)
