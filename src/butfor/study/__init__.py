"""The paper's comparison of searches, on its data sets and models, and on those that researchers add."""

from typing import TYPE_CHECKING

from butfor._lazy import lazily

if TYPE_CHECKING:
    from butfor.study.datasets import Data, Dataset, Download, File
    from butfor.study.models import StudyModel
    from butfor.study.plan import StudySettings
    from butfor.study.report import write_report
    from butfor.study.results import Case, Result, Study
    from butfor.study.run import run_study
    from butfor.study.store import read_study

__all__ = [
    "Case",
    "Data",
    "Dataset",
    "Download",
    "File",
    "Result",
    "Study",
    "StudyModel",
    "StudySettings",
    "read_study",
    "run_study",
    "write_report",
]

# Modules are imported on first use: the command line must start fast, and some need the extra "study".
__getattr__, __dir__ = lazily(
    __name__,
    {
        "Case": "results",
        "Data": "datasets",
        "Dataset": "datasets",
        "Download": "datasets",
        "File": "datasets",
        "Result": "results",
        "Study": "results",
        "StudyModel": "models",
        "StudySettings": "plan",
        "read_study": "store",
        "run_study": "run",
        "write_report": "report",
    },
)
