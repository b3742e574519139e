"""The figures that the paper prints: its table of data sets and its tables of results."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PaperData:
    """One line of the paper's Table 1."""

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
    """Give Table 1, in its order: by increasing active features.

    >>> paper_datasets()["movielens_1m"].features
    3706
    """
    return {
        line["dataset"]: PaperData(
            dataset=line["dataset"],
            kind=line["kind"],
            target=line["target"],
            rows=int(line["rows"]),
            features=int(line["features"]),
            positive_percent=float(line["positive_percent"]),
            sparsity_percent=float(line["sparsity_percent"]),
            test_rows=int(line["test_rows"]),
            predicted_positive_percent=float(line["predicted_positive_percent"]),
            mean_active_linear=float(line["mean_active_linear"]),
            mean_active_nonlinear=float(line["mean_active_nonlinear"]),
        )
        for line in _lines("paper_datasets.csv")
    }


@cache
def paper_results() -> dict[tuple[str, bool, str, str], PaperResult]:
    """Give Tables 2 to 4: by data set, whether the model is linear, search and measure.

    >>> paper_results()["20news", False, "shap-c", "explained_percent"].value
    100.0
    """
    return {
        (line["dataset"], line["model"] == "linear", line["search"], line["measure"]): PaperResult(
            value=float(line["value"]),
            q1=float(line["q1"]) if line["q1"] else None,
            q3=float(line["q3"]) if line["q3"] else None,
            significantly_worse=line["significantly_worse"] == "yes",
        )
        for line in _lines("paper_results.csv")
    }


def _lines(name: str) -> list[dict[str, str]]:
    text = (files("butfor.study") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
