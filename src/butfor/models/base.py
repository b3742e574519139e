"""The local model: a model seen from one row, a function of which active features are removed."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from butfor.models.region import Region

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]


MAX_CELLS = 2_000_000
"""How many cells the boolean matrix of one block of sets may have."""


class OutOfTime(Exception):  # noqa: N818 - not an error: the Explainer turns it into an answer
    """The deadline passed; raised at the door of a local model, so that no search watches a clock."""


class LocalModel(ABC):
    """What a model says of one row when some of its m removable features are set to zero.

    Searches see nothing else of a model. They number the features 0 … m−1 and ask through one door,
    `scores`, for whole batches of removal sets. The scores are turned to the row's side of the decision:
    **lower is always closer to the flip**, whether the row was predicted positive or negative, and
    `flips` tells which scores are across. They may live on a wider scale than the user's, such as log-odds
    for probabilities; `reported` gives the user's. What is asked is counted in `n_scored`.

    A family of models is a subclass with `_scores`: the values for a batch of removal sets, not turned.
    """

    kind: str
    """How the model is evaluated, in words: "black box", "linear", …"""
    has_bounds = False
    """Whether `region` gives something to prove with."""
    costs: FloatArray | None = None
    """What the removal of each feature costs; None: all cost the same, one."""

    def __init__(self, *, n_features: int, score: float, threshold: float, positive: bool) -> None:
        self.n_features = n_features
        self.n_scored = 0
        self.deadline = math.inf
        """The `time.monotonic()` after which scoring raises `OutOfTime`."""
        self.positive = positive
        """Whether the row was predicted positive."""
        self._sign = 1.0 if positive else -1.0
        self.score = self._sign * score
        self.threshold = self._sign * threshold

    def scores(self, removed: BoolArray) -> FloatArray:
        """Score removal sets, one a line of a boolean matrix (sets × m); lower is closer to the flip."""
        removed = np.asarray(removed, dtype=bool)
        if removed.ndim != 2 or removed.shape[1] != self.n_features:
            raise ValueError(f"removed must have shape (sets, {self.n_features}), got {removed.shape}.")
        self.check_deadline()
        scores = self._sign * self._scores(removed)
        self.n_scored += len(removed)
        return self._settled(scores, removed.__getitem__)

    def scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Score one set plus each single candidate: all that best-first search needs."""
        self.check_deadline()
        scores = self._sign * self._scores_with_each(removed, candidates)
        self.n_scored += len(candidates)
        return self._settled(scores, lambda which: self._sets_with_each(removed, candidates[which]))

    def flips(self, scores: FloatArray) -> BoolArray:
        """Tell which scores lie across the threshold (a positive has score ≥ threshold)."""
        return scores < self.threshold if self.positive else scores <= self.threshold

    def reported(self, scores: FloatArray) -> FloatArray:
        """Give scores on the scale that the user knows, not turned."""
        return self._sign * scores

    def agrees(self, row_score: float) -> bool:
        """Tell whether this is the model that gives the row itself this score, on the user's scale."""
        return True

    def regions(self, max_size: int) -> "list[Region]":
        """Give regions that hold all sets of at most `max_size` features, where the model has bounds.

        A set flips exactly if it flips in one of them.
        """
        raise NotImplementedError(f"a {self.kind} has no bounds")

    def evidence(self, removed: BoolArray) -> FloatArray:
        """Score removal sets on the scale that the user knows; lower is closer to the flip."""
        return self._sign * self.reported(self.scores(removed))

    def evidence_of_row(self) -> float:
        """Score the row itself in the same way."""
        return float(self._sign * self.reported(np.array([self.score]))[0])

    @contextmanager
    def limited_to(self, seconds: float) -> Iterator[None]:
        """Bring the deadline forward for a while."""
        deadline = self.deadline
        self.deadline = min(deadline, time.monotonic() + seconds)
        try:
            yield
        finally:
            self.deadline = deadline

    def check_deadline(self) -> None:
        """Raise `OutOfTime` once the deadline has passed."""
        if time.monotonic() > self.deadline:
            raise OutOfTime

    @abstractmethod
    def _scores(self, removed: BoolArray) -> FloatArray: ...

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        # Block by block: all sets of a row of very many features would be too many to write down.
        step = max(1, MAX_CELLS // max(1, self.n_features))
        blocks = [candidates[start : start + step] for start in range(0, len(candidates), step)]
        scores = [self._scores(self._sets_with_each(removed, some)) for some in blocks]
        return scores[0] if len(scores) == 1 else np.concatenate([np.zeros(0), *scores])

    def _sets_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> BoolArray:
        sets = np.zeros((len(candidates), self.n_features), dtype=bool)
        sets[:, list(removed)] = True
        sets[np.arange(len(candidates)), candidates] = True
        return sets

    def _settled(self, scores: FloatArray, sets: Callable[[IntArray], BoolArray]) -> FloatArray:
        """Correct scores that are too close to the threshold to be sure of; `sets` gives their removals."""
        return scores


def removal_sets(sets: Iterable[tuple[int, ...]], n_features: int) -> BoolArray:
    """Write sets of features as the boolean matrix (sets × m) that local models score."""
    sets = list(sets)
    removed = np.zeros((len(sets), n_features), dtype=bool)
    lines = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    removed[lines, [feature for each in sets for feature in each]] = True
    return removed
