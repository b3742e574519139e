"""The study itself: every search on every row of every case, as often as it takes, and never twice."""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from butfor import InputError
from butfor.checks import require_count
from butfor.study.datasets import cache_folder
from butfor.study.plan import TRADEOFF, Ready, Settings, Task, growth_tasks, row_tasks
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

Progress = Callable[[str, int, int], None]
"""Is told what is done, how much of it is behind and how much there is in all."""


def _no_progress(what: str, n_done: int, total: int) -> None:
    pass


def run_study(
    settings: Settings, out: Path, *, jobs: int = 1, command: str = "", progress: Progress = _no_progress
) -> Study:
    """Run whatever of the study is not yet in `out`, and write it there; give the whole."""
    require_count("--jobs", jobs)
    parquet_library()  # without it the results could not be written in the end
    known = registry(settings.additions)
    pairs = _pairs(settings, known)
    with locked(out):
        earlier = _earlier(out, settings, known)
        ready, failures = _prepare_all(pairs, settings, jobs, progress)
        cases = _merged(earlier.cases, [each.case for each in ready], out)
        about = _about(settings, known, command, earlier.about, failures)
        write_about(out, about, cases)
        done = {result.key for result in earlier.results if result.status != "error"}
        _work("explaining", row_tasks(settings, known, ready), done, settings, out, jobs, progress)
        growth = growth_tasks(settings, ready, read_study(out))
        _work("complete search", growth, done, settings, out, jobs, progress)
        about["runs"][-1]["finished"] = not failures
        study = replace(read_study(out), about=about)
        write_study(out, study)
    return study


def _pairs(settings: Settings, known: Registry) -> dict[str, list[str]]:
    """Give the models for each data set; whatever has no such name, or is not there, is refused first."""
    for search in (*settings.searches, *(TRADEOFF if settings.tradeoff_rows else ())):
        known.search(search)
    for model in settings.models:
        known.model(model)
    pairs = {}
    for name in settings.datasets:
        dataset = known.dataset(name)
        if not name.endswith(GENERATED):
            dataset.require_files()
        of_paper = [model.name for model in known.models.values() if model.of_paper == dataset.kind]
        pairs[name] = list(settings.models or of_paper)
    return pairs


def _earlier(out: Path, settings: Settings, known: Registry) -> Study:
    """Read what an earlier run left, and refuse to mix what cannot be compared."""
    if not is_study(out):
        remove_journal(out)  # lines of which nobody knows what they are about
        return Study({"runs": []}, (), ())
    earlier = read_study(out)
    before = earlier.about["runs"][0]["settings"] | {"butfor": earlier.about["versions"]["butfor"]}
    now = settings.to_dict() | {"butfor": version("butfor")}
    told = {f"--{name.replace('_', '-')}": name for name in ("seed", "max_size", "max_seconds")}
    for what, name in (told | {"butfor": "butfor"}).items():
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


def _prepare_all(
    pairs: dict[str, list[str]], settings: Settings, jobs: int, progress: Progress
) -> tuple[list[Ready], list[str]]:
    """Fit all models, data set by data set; give those that are ready, and why others are not."""
    total = sum(map(len, pairs.values()))
    calls = [
        (fit_models, (name, models, settings.additions, settings.seed, settings.rows, cache_folder()))
        for name, models in pairs.items()
    ]
    ready: list[Ready] = []
    failures: list[str] = []
    progress("fitting models", 0, total)
    for some, failed in in_parallel(calls, jobs):
        ready += some
        failures += failed
        progress("fitting models", len(ready), total)
    if not ready:
        raise InputError("No model could be fitted. " + " ".join(failures))
    order = list(pairs)
    return sorted(ready, key=lambda each: (order.index(each.case.dataset), not each.case.linear)), failures


def _merged(earlier: Iterable[Case], now: Iterable[Case], out: Path) -> list[Case]:
    """Join the cases of an earlier run with these; the same case must be the same."""
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
    tasks: list[Task],
    done: set[Any],
    settings: Settings,
    out: Path,
    jobs: int,
    progress: Progress,
) -> None:
    """Make all explanations that are not there yet; every worker writes its own journal."""
    total = sum(len(task.asked) for task in tasks)
    tasks = [left for left in (task.without(done) for task in tasks) if left.asked]
    n_done = total - sum(len(task.asked) for task in tasks)
    progress(what, n_done, total)
    calls = [(explain_row, (task, settings, out / JOURNAL)) for task in tasks]
    for n_made in in_parallel(calls, jobs):
        n_done += n_made
        progress(what, n_done, total)


def _about(
    settings: Settings, known: Registry, command: str, earlier: dict[str, Any], failures: list[str]
) -> dict[str, Any]:
    """Describe this run, the last in the list, and those before it; the same run counts once."""
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
