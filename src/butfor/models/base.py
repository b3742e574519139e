"""The local model: a model seen from one row, a function of which active features are removed."""

import math
import time
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]


class OutOfTime(Exception):  # noqa: N818 - not an error: the Explainer turns it into an answer
    """The deadline passed; raised at the door of a local model, so that no search watches a clock."""


class LocalModel(ABC):
    """What a model says of one row when some of its m removable features are set to zero.

    Searches see nothing else of a model. They number the features 0 … m−1 and ask through one door,
    `scores`, for whole batches of removal sets. The scores are turned to the row's side of the decision:
    **lower is always closer to the flip**, whether the row was predicted positive or negative, and
    `flips` tells which scores are across. What is asked is counted in `n_scored`.

    A family of models is a subclass with `_scores`: the values for a batch of removal sets, not turned.
    """

    kind: ClassVar[str]
    """How the model is evaluated, in words: "black box", …"""

    def __init__(self, *, n_features: int, row_score: float, threshold: float) -> None:
        self.n_features = n_features
        self.n_scored = 0
        self.deadline = math.inf
        """The `time.monotonic()` after which scoring raises `OutOfTime`."""
        self._sign = 1.0 if row_score >= threshold else -1.0
        self.score = self._sign * row_score
        self.threshold = self._sign * threshold

    def scores(self, removed: BoolArray) -> FloatArray:
        """Score removal sets, one a line of a boolean matrix (sets × m); lower is closer to the flip."""
        removed = np.asarray(removed, dtype=bool)
        if removed.ndim != 2 or removed.shape[1] != self.n_features:
            raise ValueError(f"removed must have shape (sets, {self.n_features}), got {removed.shape}.")
        self.check_deadline()
        scores = self._sign * self._scores(removed)
        self.n_scored += len(removed)
        return scores

    def scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Score one set plus each single candidate: all that best-first search needs."""
        sets = np.zeros((len(candidates), self.n_features), dtype=bool)
        sets[:, list(removed)] = True
        sets[np.arange(len(candidates)), candidates] = True
        return self.scores(sets)

    def flips(self, scores: FloatArray) -> BoolArray:
        """Tell which scores lie across the threshold (a positive has score ≥ threshold)."""
        return scores < self.threshold if self._sign > 0 else scores <= self.threshold

    def check_deadline(self) -> None:
        """Raise `OutOfTime` once the deadline has passed."""
        if time.monotonic() > self.deadline:
            raise OutOfTime

    @abstractmethod
    def _scores(self, removed: BoolArray) -> FloatArray: ...
