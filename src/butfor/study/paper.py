"""The figures that the paper prints: its table of data sets and its tables of results."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PaperData:
    """One row of the paper's Table 1."""

    dataset: str
    kind: str
    target: str
    rows: int
    features: int
    positive_percent: float
    sparsity_percent: float
    test_rows: int
    predicted_positive_percent: float
    mean_active_linear: float
    mean_active_nonlinear: float


@dataclass(frozen=True)
class PaperResult:
    """One figure of the paper's Tables 2 (explained_percent), 3 (size) or 4 (seconds)."""

    value: float
    """The percentage, or the median."""
    q1: float | None
    q3: float | None
    significantly_worse: bool


@cache
def paper_datasets() -> dict[str, PaperData]:
    """Return Table 1 by data set, in its order of increasing active features.

    >>> paper_datasets()["movielens_1m"].features
    3706
    """
    return {
        record["dataset"]: PaperData(
            dataset=record["dataset"],
            kind=record["kind"],
            target=record["target"],
            rows=int(record["rows"]),
            features=int(record["features"]),
            positive_percent=float(record["positive_percent"]),
            sparsity_percent=float(record["sparsity_percent"]),
            test_rows=int(record["test_rows"]),
            predicted_positive_percent=float(record["predicted_positive_percent"]),
            mean_active_linear=float(record["mean_active_linear"]),
            mean_active_nonlinear=float(record["mean_active_nonlinear"]),
        )
        for record in _records("paper_datasets.csv")
    }


@cache
def paper_results() -> dict[tuple[str, bool, str, str], PaperResult]:
    """Return Tables 2 to 4 by data set, whether the model is linear, search and measure.

    >>> paper_results()["20news", False, "shap-c", "explained_percent"].value
    100.0
    """
    return {
        (record["dataset"], record["model"] == "linear", record["search"], record["measure"]): PaperResult(
            value=float(record["value"]),
            q1=float(record["q1"]) if record["q1"] else None,
            q3=float(record["q3"]) if record["q3"] else None,
            significantly_worse=record["significantly_worse"] == "yes",
        )
        for record in _records("paper_results.csv")
    }


def _records(name: str) -> list[dict[str, str]]:
    text = (files("butfor.study") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
