"""Any model at all: the local model that asks the user's model itself."""

import math
import time
from typing import Self

import numpy as np

from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel
from butfor.models.row import Row
from butfor.models.scorer import Scorer
from butfor.models.text_row import TextRow

MAX_VALUES = 2_000_000
"""How many matrix values one call to the model may carry: some 30 MB, whatever the row and the batch."""
MAX_KEPT = 100_000
"""How many scores near the threshold are kept for a row."""
FIRST_SETS = 10
"""How many sets the first call carries in any case: a single row says little of what a batch costs."""


class BlackBox(LocalModel):
    """Score removal sets by one call to the model on a CSR matrix with a line for every set.

    A batch is cut only where its matrix would grow beyond `MAX_VALUES`, or where the model's pace so far
    says that one call would run far past the deadline.
    """

    kind = "black box"

    def __init__(self, scorer: Scorer, row: Row | TextRow, *, row_score: float, seconds: float = 0.0) -> None:
        super().__init__(
            n_features=row.n_units,
            score=row_score,
            threshold=scorer.threshold,
            positive=scorer.is_positive(row_score),
        )
        self._scorer = scorer
        self._row = row
        self._sets_a_call = max(1, MAX_VALUES // max(1, row.n_values))
        self._seconds_a_set = max(1e-9, seconds)
        self._least = FIRST_SETS
        self._alone: dict[bytes, float] = {}

    @classmethod
    def asking(
        cls, scorer: Scorer, row: Row | TextRow, row_score: float | None = None, seconds: float = 0.0
    ) -> Self:
        """Ask for the row itself, if need be; how long that takes is the first that is known of its pace."""
        if row_score is not None:
            return cls(scorer, row, row_score=row_score, seconds=seconds)
        began = time.monotonic()
        row_score = float(scorer.scores(row.whole())[0])
        return cls(scorer, row, row_score=row_score, seconds=time.monotonic() - began)

    def _scores(self, removed: BoolArray) -> FloatArray:
        scores = np.empty(len(removed))
        done = 0
        while done < len(removed):
            self.check_deadline()
            end = done + self._sets_in_next_call(len(removed) - done)
            began = time.monotonic()
            in_doubt = self._score_together(removed[done:end], scores[done:end])
            self._seconds_a_set = max(1e-9, (time.monotonic() - began) / (end - done))
            self._least = 1
            for i in in_doubt:
                scores[done + i] = self._score_alone(removed[done + i])
            done = end
        return scores

    def _score_together(self, removed: BoolArray, scores: FloatArray) -> IntArray:
        """Score sets in one call, into `scores`; return those that must be asked about alone."""
        rows = self._row.without(removed)
        if len(removed) == 1:
            scores[:] = self._scorer.scores(rows)
            return np.arange(0)
        outputs = self._scorer.outputs(rows)
        scores[:] = self._scorer.turned(self._scorer.by_score(outputs))
        return self._scorer.in_doubt(outputs)

    def _score_alone(self, removed: BoolArray) -> float:
        """Score one set by itself, once: near the threshold no more counts than what users see of the row.

        The last bit of a score may depend on the rows beside it.
        """
        key = np.packbits(removed).tobytes()
        if key not in self._alone:
            self.check_deadline()
            score = float(self._scorer.scores(self._row.without(removed[np.newaxis]))[0])
            if len(self._alone) >= MAX_KEPT:
                return score
            self._alone[key] = score
        return self._alone[key]

    def _sets_in_next_call(self, wanted: int) -> int:
        wanted = min(wanted, self._sets_a_call)
        seconds_left = self.deadline - time.monotonic()
        if wanted * self._seconds_a_set <= seconds_left:
            return wanted
        return min(wanted, max(self._least, math.floor(seconds_left / self._seconds_a_set)))
