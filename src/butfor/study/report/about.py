"""The head of a report: what was run, and how to read its tables."""

from collections.abc import Mapping
from typing import Any

from butfor.study.cells import MISSING, Cell
from butfor.study.results import Study
from butfor.study.significance import LEVEL

TITLE = "A comparison of searches for evidence counterfactuals"
HOW_TO_READ = (
    (Cell("12", bold=True), "the best of its line; what reads the same is as good"),
    (
        Cell("12", underlined=True),
        f"significantly worse than the best (one-sided McNemar mid-p test, {100 * LEVEL:g} %)",
    ),
    (Cell("12", paper=Cell("34")), "in brackets the paper's figure, with the paper's marks"),
    (Cell(MISSING), "no result, or not yet"),
    (
        Cell("(generated)"),
        "a stand-in with the shape of data that are not public: its figures are no copy of the paper's",
    ),
)
NOT_FINISHED = f"no: what is not done yet is shown as {MISSING}, or on fewer rows"
PAPER = (
    "The paper: Ramon, Martens, Provost and Evgeniou, “Counterfactual Explanation Algorithms for Behavioral "
    "and Textual Data” (arXiv 1912.01819)."
)


def facts(study: Study) -> list[tuple[str, str]]:
    """Return what was run, with which versions, on which machine, and whether it is finished."""
    about = study.about
    runs = [
        (
            f"Run {number}" if len(about["runs"]) > 1 else "Run",
            f"{run['command']}: {_listed(run['settings'])}",
        )
        for number, run in enumerate(about["runs"], 1)
    ]
    return [
        *runs,
        ("Finished", "yes" if study.finished else NOT_FINISHED),
        *(("Failed", failure) for failure in about["failures"]),
        ("Versions", _listed(about["versions"])),
        ("Machine", "; ".join(map(_machine, about["machines"]))),
        ("Results", f"{len(study.results):,}, of {len(study.cases):,} models fitted on data sets"),
    ]


def _machine(machine: Mapping[str, Any]) -> str:
    memory = "" if machine["memory_gb"] is None else f", {machine['memory_gb']:g} GB of memory"
    return f"{machine['cores']} cores{memory}"


def _listed(values: Mapping[str, Any]) -> str:
    """Return settings as one line of text, without those that are empty.

    >>> _listed({"seed": 0, "models": [], "searches": ["sedc", "auto"]})
    'seed 0, searches sedc auto'
    """
    texts = {
        name: " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in values.items()
    }
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in texts.items() if text)
