"""What a study produces: flat result rows, what was compared, and on what machine; in one Parquet file."""

from dataclasses import dataclass
from typing import Any, Literal

GENERATED = ":generated"
"""Ends the name of a stand-in."""
Part = Literal["main", "tradeoff", "growth"]


@dataclass(frozen=True)
class Case:
    """One model fitted on one data set: what the tables say of it, apart from the explanations."""

    dataset: str
    """As it was asked for: "airline", or "flickr:generated" for a stand-in."""
    kind: str
    """"behaviour" or "text"."""
    target: str
    model: str
    linear: bool
    n_rows: int
    n_features: int
    positive_percent: float
    sparsity_percent: float
    n_test: int
    n_positive: int
    """Test rows that the model predicts positive; at most `rows` of them are explained."""
    n_explained: int
    """Of these, the rows that are explained."""
    mean_active: float
    """Active features, on average over the rows that the model predicts positive."""
    auc: float
    """Of the model on the test rows."""
    threshold: float
    parameters: str
    """The tuned parameters, such as "C=0.1"."""
    fingerprint: str
    """Of the data, the model and the rows: another one makes other results."""

    @property
    def generated(self) -> bool:
        """Whether the data are a stand-in."""
        return self.dataset.endswith(GENERATED)


@dataclass(frozen=True)
class Result:
    """What one search said of one row, once."""

    part: Part
    """"main": the comparison; "tradeoff": with other limits, on fewer rows; "growth": complete search of ever
    larger sizes on one row."""
    dataset: str
    model: str
    search: str
    """A name, or with parameters "lime-c:n_samples=500"."""
    row: int
    """In the data set, from 0."""
    repeat: int
    max_size: int
    n_active: int
    status: str = "error"
    """As in an Explanation, or "error"."""
    size: int = 0
    lower_bound: int = 0
    n_scored: int = 0
    seconds: float = 0.0
    columns: tuple[int, ...] = ()
    reason: str = ""
    """Why the search stopped, or the error."""

    @property
    def key(self) -> tuple[str, str, str, str, int, int, int]:
        """What makes a result row the only one of its kind."""
        return (self.part, self.dataset, self.model, self.search, self.row, self.repeat, self.max_size)

    @property
    def found(self) -> bool:
        """Whether the search found a set that flips."""
        return self.status == "found"

    @property
    def proven_minimum(self) -> bool:
        """Whether no smaller set can flip."""
        return self.found and self.lower_bound >= self.size


@dataclass(frozen=True)
class Study:
    """Everything that a report is made of."""

    about: dict[str, Any]
    """"runs" (of each its "command", its "settings" and whether it is "finished"), "searches" (what tells one
    apart from another of the same name), "versions" (python, butfor, numpy, …), "machines" (cores,
    memory_gb), "failures" (what could not be prepared, and why)."""
    cases: tuple[Case, ...]
    results: tuple[Result, ...]

    @property
    def finished(self) -> bool:
        """Whether every result that was ever asked for is there."""
        return all(run["finished"] for run in self.about["runs"])
