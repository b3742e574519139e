"""The head of a report: what was run, and how its tables are read."""

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
    """Say what was run, with what and on what machine, and whether it is finished."""
    about = study.about
    machine = about.get("machine", {})
    found = {
        "Command": str(about.get("command", "")),
        "Finished": "yes" if about.get("finished") else NOT_FINISHED,
        "Settings": _listed(about.get("settings", {})),
        "Versions": _listed(about.get("versions", {})),
        "Machine": f"{machine['cores']} cores, {machine['memory_gb']:g} GB of memory" if machine else "",
        "Results": f"{len(study.results):,}, of {len(study.cases):,} models fitted on data sets",
    }
    return [(name, text) for name, text in found.items() if text]


def _listed(values: Mapping[str, Any]) -> str:
    """Write settings in a line, without those that are empty.

    >>> _listed({"seed": 0, "models": [], "searches": ["sedc", "auto"]})
    'seed 0, searches sedc auto'
    """
    texts = {
        name: " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in values.items()
    }
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in texts.items() if text)
