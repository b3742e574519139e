"""The work of a study in its processes: fit the models of a data set, explain a row."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from butfor import Budget, ButforError, Explainer
from butfor.errors import storable
from butfor.study.loading import load
from butfor.study.models import scored_by
from butfor.study.plan import Asked, Ready, Settings, Task
from butfor.study.prepare import Prepared, prepare
from butfor.study.registry import registry
from butfor.study.results import Result
from butfor.study.store import append


def in_parallel(calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]], jobs: int) -> Iterator[Any]:
    """Make calls in worker processes; give what they return, in the order in which they are done."""
    work = (joblib.delayed(function)(*arguments) for function, arguments in calls)
    try:
        yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
    except BrokenProcessPool as error:
        raise ButforError(
            "A worker process was killed, perhaps for lack of memory. What was finished is kept: "
            "give the same command again to go on, with fewer --jobs."
        ) from error


def fit_models(
    name: str, models: Sequence[str], additions: tuple[Path, ...], seed: int, n_rows: int, cache: Path
) -> tuple[list[Ready], list[str]]:
    """Read a data set and fit its models; give the cases with the rows to explain, and what failed."""
    known = registry(additions)
    try:
        data = load(known, name, cache / "loaded")
    except Exception as error:  # the other data sets are not lost
        return [], [f"{name}: {said(error)}"]
    ready, failures = [], []
    for model in models:
        try:
            prepared = prepare(name, known, data, model, seed=seed, cache=cache / "models")
        except Exception as error:  # the other models are not lost
            failures.append(f"{model} on {name}: {said(error)}")
            continue
        rows = tuple(map(int, prepared.rows[:n_rows]))
        case = replace(prepared.case, n_explained=len(rows))
        ready.append(Ready(case, cache / "models" / f"{case.fingerprint}.joblib", rows))
    return ready, failures


def explain_row(task: Task, settings: Settings, journal: Path) -> int:
    """Make the explanations of one row, on one core; each is in the journal before the next begins."""
    from threadpoolctl import threadpool_limits

    row = _prepared(task.ready.path, settings.additions).X[[task.position]]
    with threadpool_limits(1):
        for asked in task.asked:
            append(journal, _answer(task, row, asked, settings))
    return len(task.asked)


def _answer(task: Task, row: Any, asked: Asked, settings: Settings) -> Result:
    part, search, repeat, max_size = asked
    number = task.ready.rows[task.position]
    result = Result(
        part=part,
        dataset=task.ready.case.dataset,
        model=task.ready.case.model,
        search=search,
        row=number,
        repeat=repeat,
        max_size=max_size,
        n_active=row.nnz,
    )
    try:
        explainer = _explainer(task.ready.path, search, settings.additions)
        explainer.budget = Budget(max_size, settings.max_seconds)
        explainer.seed = int(np.random.SeedSequence((settings.seed, repeat, number)).generate_state(1)[0])
        why = explainer.explain(row)
    except (Exception, SystemExit) as error:  # this row's and this search's; the rest of the study goes on
        return replace(result, reason=said(error))
    return replace(
        result,
        status=why.status,
        size=why.size,
        lower_bound=int(why.lower_bound),  # without costs it is a number of features
        n_scored=why.n_scored,
        seconds=round(why.seconds, 6),
        columns=why.columns,
        reason=storable(why.reason),
    )


def said(error: BaseException) -> str:
    """Tell what was raised, in a text that every file can hold."""
    return storable(f"{type(error).__name__}: {error}")


@lru_cache(maxsize=64)
def _prepared(path: Path, additions: tuple[Path, ...]) -> Prepared:
    registry(additions)  # a model may be of a class that is defined there
    prepared: Prepared = joblib.load(path)
    return prepared


@lru_cache(maxsize=1024)
def _explainer(path: Path, search: str, additions: tuple[Path, ...]) -> Explainer:
    prepared = _prepared(path, additions)
    explainer = Explainer(
        scored_by(prepared.classifier),
        threshold=prepared.case.threshold,
        search=registry(additions).search(search),
    )
    with suppress(ButforError):  # if this row's, it is said where the row is explained
        explainer.local_model(prepared.X[[0]])  # what is made once for a model is no part of a row's time
    return explainer
