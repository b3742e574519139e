"""The results of a study: one flat record for each explanation, and what was compared."""

from dataclasses import dataclass
from typing import Any, Literal

GENERATED = ":generated"
"""Suffix of the name of a stand-in."""
Experiment = Literal["main", "tradeoff", "growth"]
"""What a result belongs to; it is stored in the column `part`."""


@dataclass(frozen=True)
class Case:
    """One model that was fitted on one data set.

    Attributes
    ----------
    dataset : str
        The name of the data set: "airline", or "flickr:generated" for a stand-in.
    kind : str
        The kind of data: "behaviour" or "text".
    target : str
        What is positive, in words.
    model : str
        The name of the model.
    linear : bool
        Whether the model is linear.
    n_rows, n_features : int
        The shape of the data.
    positive_percent, sparsity_percent : float
        The percentage of positive rows, and of zeros in the matrix.
    n_test : int
        Number of test rows.
    n_positive : int
        Number of test rows that the model predicts positive.
    n_explained : int
        Number of these rows that are explained.
    mean_active : float
        Mean number of active features of the rows that the model predicts positive.
    auc : float
        Area under the ROC curve of the model on the test rows.
    threshold : float
        The score from which on a row is positive.
    parameters : str
        The tuned parameters, such as "C=0.1".
    fingerprint : str
        A hash of the data, the model and the choice of rows. Results with different fingerprints cannot be
        compared.
    removal : {"zero", "delete"}
        What a removal does: set a feature to zero, or cut a word out of the text.
    """

    dataset: str
    kind: str
    target: str
    model: str
    linear: bool
    n_rows: int
    n_features: int
    positive_percent: float
    sparsity_percent: float
    n_test: int
    n_positive: int
    n_explained: int
    mean_active: float
    auc: float
    threshold: float
    parameters: str
    fingerprint: str
    removal: str = "zero"

    @property
    def generated(self) -> bool:
        """Whether the data are a stand-in."""
        return self.dataset.endswith(GENERATED)


@dataclass(frozen=True)
class Result:
    """The result of one search on one row, in one repeat.

    Attributes
    ----------
    part : {"main", "tradeoff", "growth"}
        The experiment: "main" is the comparison, "tradeoff" runs searches with other limits on fewer rows,
        "growth" runs complete search with ever larger size limits on one row.
    dataset, model : str
        The names of the data set and of the model.
    search : str
        The name of the search, perhaps with parameters: "lime-c:n_samples=500".
    row : int
        The row, counted in the data set from 0.
    repeat : int
        The repeat, counted from 0.
    max_size : int
        The size limit.
    n_active : int
        Number of active features of the row.
    status : str
        The status of the Explanation, or "error".
    size : int
        Number of features in the answer; 0 if none was found.
    lower_bound : int
        The size that an answer is proven to have at least.
    n_scored : int
        Number of removal sets that were scored.
    seconds : float
        Time of the explanation.
    columns : tuple of int
        The columns of the answer.
    reason : str
        Why the search stopped, or the error.
    """

    part: Experiment
    dataset: str
    model: str
    search: str
    row: int
    repeat: int
    max_size: int
    n_active: int
    status: str = "error"
    size: int = 0
    lower_bound: int = 0
    n_scored: int = 0
    seconds: float = 0.0
    columns: tuple[int, ...] = ()
    reason: str = ""

    @property
    def key(self) -> tuple[str, str, str, str, int, int, int]:
        """The values that identify a result; no two results of a study have the same."""
        return (self.part, self.dataset, self.model, self.search, self.row, self.repeat, self.max_size)

    @property
    def found(self) -> bool:
        """Whether the search found a set that flips the decision."""
        return self.status == "found"

    @property
    def proven_minimum(self) -> bool:
        """Whether it is proven that no smaller set flips the decision."""
        return self.found and self.lower_bound >= self.size


@dataclass(frozen=True)
class Study:
    """A study: what was run, and all its results. Reports are made from it alone.

    Attributes
    ----------
    about : dict
        "runs" (for each run its "command", its "settings" and whether it is "finished"), "searches" (a text
        that identifies each search), "versions" (python, butfor, numpy, …), "machines" (cores, memory_gb)
        and "failures" (what could not be prepared, and why).
    cases : tuple of Case
        The fitted models.
    results : tuple of Result
        The results of all searches.
    """

    about: dict[str, Any]
    cases: tuple[Case, ...]
    results: tuple[Result, ...]

    @property
    def finished(self) -> bool:
        """Whether every planned result is there."""
        return all(run["finished"] for run in self.about["runs"])
