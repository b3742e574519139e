"""The work of a study in worker processes: fit the models of a data set, explain a row."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from butfor import Budget, ButforError, Explainer, InputError
from butfor.errors import storable
from butfor.study.loading import load
from butfor.study.models import scored_by
from butfor.study.plan import FittedCase, RowTask, SearchRun, StudySettings
from butfor.study.prepare import Prepared, prepare
from butfor.study.registry import registry
from butfor.study.results import Result
from butfor.study.store import append


def in_parallel(calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]], jobs: int) -> Iterator[Any]:
    """Make calls in worker processes; yield what they return, in the order in which they finish."""
    work = (joblib.delayed(function)(*arguments) for function, arguments in calls)
    try:
        yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
    except BrokenProcessPool as error:
        raise ButforError(
            "A worker process was killed, perhaps for lack of memory. What was finished is kept: "
            "give the same command again to go on, with fewer --jobs."
        ) from error


def fit_models(
    name: str, models: Sequence[str], settings: StudySettings, cache: Path
) -> tuple[list[FittedCase], list[str]]:
    """Read a data set and fit its models; return the fitted cases, and messages about failures."""
    known = registry(settings.additions)
    try:
        data = load(known, name, cache / "loaded")
        if settings.removal == "delete" and (data.cleaned is None or data.vectoriser is None):
            raise InputError("--removal delete needs Data with cleaned and vectoriser.")
    except Exception as error:  # the study goes on with the other data sets
        return [], [f"{name}: {error_text(error)}"]
    fitted, failures = [], []
    for model in models:
        try:
            prepared = prepare(name, known, data, model, seed=settings.seed, cache=cache / "models")
        except Exception as error:  # the study goes on with the other models
            failures.append(f"{model} on {name}: {error_text(error)}")
            continue
        rows = tuple(map(int, prepared.rows[: settings.rows]))
        case = replace(prepared.case, n_explained=len(rows), removal=settings.removal)
        fitted.append(FittedCase(case, cache / "models" / f"{case.fingerprint}.joblib", rows))
    return fitted, failures


def explain_row(task: RowTask, settings: StudySettings, journal: Path) -> int:
    """Make the explanations of one row, on one core; return their number.

    Each explanation is written to the journal before the next begins.
    """
    from threadpoolctl import threadpool_limits

    row = _prepared(task.fitted.path, settings.additions).row(task.position, settings.removal)
    with threadpool_limits(1):
        for run in task.runs:
            append(journal, _result(task, row, run, settings))
    return len(task.runs)


def _result(task: RowTask, row: Any, run: SearchRun, settings: StudySettings) -> Result:
    number = task.fitted.rows[task.position]
    prepared = _prepared(task.fitted.path, settings.additions)
    result = Result(
        part=run.part,
        dataset=task.fitted.case.dataset,
        model=task.fitted.case.model,
        search=run.search,
        row=number,
        repeat=run.repeat,
        max_size=run.max_size,
        n_active=prepared.X[[task.position]].nnz,
    )
    try:
        explainer = _explainer(task.fitted.path, run.search, settings.removal, settings.additions)
        explainer.budget = Budget(run.max_size, settings.max_seconds)
        explainer.seed = int(np.random.SeedSequence((settings.seed, run.repeat, number)).generate_state(1)[0])
        why = explainer.explain(row)
    except (Exception, SystemExit) as error:  # the result of this search on this row; the study goes on
        return replace(result, reason=error_text(error))
    return replace(
        result,
        status=why.status,
        size=why.size,
        lower_bound=int(why.lower_bound),  # without costs it is a number of features
        n_scored=why.n_scored,
        seconds=round(why.seconds, 6),
        columns=prepared.columns_of(why, settings.removal),
        reason=storable(why.reason),
    )


def error_text(error: BaseException) -> str:
    """Return the type and the message of an error, as text that can be encoded as UTF-8."""
    return storable(f"{type(error).__name__}: {error}")


@lru_cache(maxsize=64)
def _prepared(path: Path, additions: tuple[Path, ...]) -> Prepared:
    registry(additions)  # the class of the model may be defined there
    prepared: Prepared = joblib.load(path)
    return prepared


@lru_cache(maxsize=1024)
def _explainer(path: Path, search: str, removal: str, additions: tuple[Path, ...]) -> Explainer:
    prepared = _prepared(path, additions)
    explainer = Explainer(
        scored_by(prepared.model(removal)),
        threshold=prepared.case.threshold,
        search=registry(additions).search(search),
        removal=removal,
    )
    with suppress(ButforError):  # the error comes again when the row is explained
        explainer.local_model(
            prepared.row(0, removal)
        )  # work that is done once for a model must not count for a row
    return explainer
