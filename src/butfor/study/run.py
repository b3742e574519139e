"""Run a study: every search on every row of every case. Results that are there are not computed again."""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from butfor import InputError
from butfor._checks import require_count
from butfor.study.datasets import cache_folder
from butfor.study.plan import TRADEOFF, FittedCase, RowTask, StudySettings, growth_tasks, row_tasks
from butfor.study.registry import Registry, registry
from butfor.study.results import GENERATED, Case, Study
from butfor.study.store import (
    JOURNAL,
    is_study,
    locked,
    parquet_library,
    read_study,
    remove_journal,
    write_about,
    write_study,
)
from butfor.study.workers import explain_row, fit_models, in_parallel

StudyProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is in all."""


def _no_progress(what: str, n_done: int, total: int) -> None:
    pass


def run_study(
    settings: StudySettings,
    out: Path,
    *,
    jobs: int = 1,
    command: str = "",
    progress: StudyProgress = _no_progress,
) -> Study:
    """Run a study, or what is missing of it, and write the results to a folder.

    Every result is written as soon as it is there. A run that was stopped continues when it is called again
    with the same folder.

    Parameters
    ----------
    settings : StudySettings
        What is compared, on how many rows, within which limits.
    out : Path
        The folder of the study. An earlier run in it is continued.
    jobs : int, default 1
        Number of worker processes.
    command : str, optional
        The command line, to be named in the report.
    progress : callable, optional
        Called with what is being done, how much of it is done, and how much there is in all.

    Returns
    -------
    Study
        All results in the folder, those of earlier runs included.

    Raises
    ------
    InputError
        If a name is unknown, if data are missing, if no model can be fitted, or if the folder is in use or
        holds results that cannot be compared with these.
    ButforError
        If a worker process was killed.

    Examples
    --------
    >>> from butfor.study.plan import QUICK
    >>> study = run_study(QUICK, Path("my-study"))  # doctest: +SKIP
    """
    require_count("--jobs", jobs)
    parquet_library()  # raises now if the results could not be written later
    known = registry(settings.additions)
    models_of = _models_of(settings, known)
    with locked(out):
        earlier = _earlier(out, settings, known)
        fitted, failures = _fit_all(models_of, settings, jobs, progress)
        cases = _merged(earlier.cases, [each.case for each in fitted], out)
        about = _about(settings, known, command, earlier.about, failures)
        write_about(out, about, cases)
        done = {result.key for result in earlier.results if result.status != "error"}
        _work("explaining", row_tasks(settings, known, fitted), done, settings, out, jobs, progress)
        growth = growth_tasks(settings, fitted, read_study(out))
        _work("complete search", growth, done, settings, out, jobs, progress)
        about["runs"][-1]["finished"] = not failures
        study = replace(read_study(out), about=about)
        write_study(out, study)
    return study


def _models_of(settings: StudySettings, known: Registry) -> dict[str, list[str]]:
    """Return the names of the models for each data set.

    Raise an InputError if a name is unknown or the files of a data set are missing.
    """
    for search in (*settings.searches, *(TRADEOFF if settings.tradeoff_rows else ())):
        known.search(search)
    for model in settings.models:
        known.model(model)
    models_of = {}
    for name in settings.datasets:
        dataset = known.dataset(name)
        if not name.endswith(GENERATED):
            dataset.require_files()
        if settings.removal == "delete" and dataset.kind != "text":
            raise InputError(
                f"--removal delete needs data of texts, and {name} is of kind {dataset.kind}. Name data sets "
                f"of texts: --datasets {','.join(_of_texts(known))}"
            )
        of_paper = [model.name for model in known.models.values() if model.of_paper == dataset.kind]
        models_of[name] = list(settings.models or of_paper)
    return models_of


def _of_texts(known: Registry) -> list[str]:
    """Return the names of the data sets of texts that are here."""
    return [
        name for name, dataset in known.datasets.items() if dataset.kind == "text" and dataset.is_present()
    ]


def _earlier(out: Path, settings: StudySettings, known: Registry) -> Study:
    """Return the study of earlier runs. Raise an InputError if its results cannot be compared with these."""
    if not is_study(out):
        remove_journal(out)  # without its description it cannot be used
        return Study({"runs": []}, (), ())
    earlier = read_study(out)
    before = (
        {"removal": "zero"}
        | earlier.about["runs"][0]["settings"]
        | {"butfor": earlier.about["versions"]["butfor"]}
    )
    now = settings.to_dict() | {"butfor": version("butfor")}
    options = {f"--{name.replace('_', '-')}": name for name in ("seed", "max_size", "max_seconds", "removal")}
    for what, name in (options | {"butfor": "butfor"}).items():
        _require_same(out, what, before[name], now[name])
    for search, what in earlier.about["searches"].items():
        if search in settings.searches:
            _require_same(out, f"the search {search}", what, known.identity(search))
    return earlier


def _require_same(out: Path, what: str, before: Any, now: Any) -> None:
    if before != now:
        raise InputError(
            f"--out {out} holds a study with {what} {before}, and now it is {now}: results would not be "
            "comparable. Go on as before, or give another --out."
        )


def _fit_all(
    models_of: dict[str, list[str]], settings: StudySettings, jobs: int, progress: StudyProgress
) -> tuple[list[FittedCase], list[str]]:
    """Fit all models; return those that are fitted, and messages about the others."""
    total = sum(map(len, models_of.values()))
    calls = [(fit_models, (name, models, settings, cache_folder())) for name, models in models_of.items()]
    fitted: list[FittedCase] = []
    failures: list[str] = []
    progress("fitting models", 0, total)
    for some, failed in in_parallel(calls, jobs):
        fitted += some
        failures += failed
        progress("fitting models", len(fitted), total)
    if not fitted:
        raise InputError("No model could be fitted. " + " ".join(failures))
    datasets = list(models_of)
    fitted.sort(key=lambda each: (datasets.index(each.case.dataset), not each.case.linear))
    return fitted, failures


def _merged(earlier: Iterable[Case], now: Iterable[Case], out: Path) -> list[Case]:
    """Merge the cases of earlier runs with these. Raise an InputError if the same case has other data."""
    cases = {(case.dataset, case.model): case for case in earlier}
    for case in now:
        before = cases.get((case.dataset, case.model), case)
        if before.fingerprint != case.fingerprint:
            raise InputError(
                f"--out {out} holds results of {case.model} on {case.dataset} with other data, another model "
                "or another version of scikit-learn: they would not be comparable. Give another --out."
            )
        n_explained = max(before.n_explained, case.n_explained)
        cases[case.dataset, case.model] = replace(case, n_explained=n_explained)
    return list(cases.values())


def _work(
    what: str,
    tasks: list[RowTask],
    done: set[Any],
    settings: StudySettings,
    out: Path,
    jobs: int,
    progress: StudyProgress,
) -> None:
    """Make all explanations that are not there yet. Every worker writes a journal of its own."""
    total = sum(len(task.runs) for task in tasks)
    tasks = [left for left in (task.without(done) for task in tasks) if left.runs]
    n_done = total - sum(len(task.runs) for task in tasks)
    progress(what, n_done, total)
    calls = [(explain_row, (task, settings, out / JOURNAL)) for task in tasks]
    for n_made in in_parallel(calls, jobs):
        n_done += n_made
        progress(what, n_done, total)


def _about(
    settings: StudySettings, known: Registry, command: str, earlier: dict[str, Any], failures: list[str]
) -> dict[str, Any]:
    """Return the description of this run, the last in the list, and of earlier runs with other settings."""
    libraries = ("butfor", "numpy", "scipy", "scikit-learn")
    machine = {"cores": os.cpu_count(), "memory_gb": _memory_gb()}
    this = {"command": command, "settings": settings.to_dict(), "finished": False}
    runs = [run for run in earlier["runs"] if run["settings"] != this["settings"]]
    before = [each for each in earlier.get("machines", []) if each != machine]
    return {
        "runs": [*runs, this],
        "searches": earlier.get("searches", {}) | {name: known.identity(name) for name in settings.searches},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in libraries},
        "machines": [*before, machine],
        "failures": failures,
    }


def _memory_gb() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError):  # not on every platform
        return None
