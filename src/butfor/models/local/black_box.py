"""The local model of any model: it asks the user's model itself."""

import math
import time
from typing import Self

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.local.base import LocalModel
from butfor.models.local.deadline import Deadline
from butfor.models.record_row import AnyRow
from butfor.models.scorer import Scorer

MAX_VALUES = 2_000_000
"""How many matrix values one call to the model may carry: some 30 MB, whatever the row and the batch."""
MAX_KEPT = 100_000
"""How many scores near the threshold are kept for a row."""
FIRST_SETS = 10
"""How many sets the first call carries at least: the time of a single row says little about a batch."""


class BlackBox(LocalModel):
    """Score removal sets by calls to the model, each on a CSR matrix with one copy of the row for each set.

    A batch is cut only where its matrix would exceed `MAX_VALUES`, or where one call would run far past the
    deadline at the pace of the calls before.

    Parameters
    ----------
    scorer : Scorer
        The user's model.
    row : Row, TextRow or RecordRow
        What the model decides on.
    row_score : float
        The model's score of the row.
    seconds : float, default=0.0
        How long the model took for that score.
    deadline : Deadline, optional
        When scoring begins to raise `OutOfTime`.
    costs : array of shape (n_units,), optional
        What the removal of each unit costs.
    """

    kind = "black box"

    def __init__(
        self,
        scorer: Scorer,
        row: AnyRow,
        *,
        row_score: float,
        seconds: float = 0.0,
        deadline: Deadline | None = None,
        costs: FloatArray | None = None,
    ) -> None:
        super().__init__(
            n_features=row.n_units,
            score=row_score,
            threshold=scorer.threshold,
            positive=scorer.is_positive(row_score),
            deadline=deadline,
            costs=costs,
        )
        self._scorer = scorer
        self._row = row
        self._sets_a_call = max(1, MAX_VALUES // max(1, row.n_values))
        self._seconds_a_set = max(1e-9, seconds)
        self._least = FIRST_SETS
        self._alone: dict[bytes, float] = {}

    @classmethod
    def asking(
        cls,
        scorer: Scorer,
        row: AnyRow,
        *,
        row_score: float | None = None,
        seconds: float = 0.0,
        deadline: Deadline | None = None,
        costs: FloatArray | None = None,
    ) -> Self:
        """Return a black box; score the row itself, and measure how long that takes, unless it was scored."""
        if row_score is None:
            began = time.monotonic()
            row_score = float(scorer.scores(row.whole())[0])
            seconds = time.monotonic() - began
        return cls(scorer, row, row_score=row_score, seconds=seconds, deadline=deadline, costs=costs)

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
        """Score sets in one call, into `scores`; return the positions of those that must be scored alone."""
        rows = self._row.without(removed)
        if len(removed) == 1:
            scores[:] = self._scorer.scores(rows)
            return np.arange(0)
        outputs = self._scorer.outputs(rows)
        scores[:] = self._scorer.turned(self._scorer.by_score(outputs))
        return self._scorer.in_doubt(outputs)

    def _score_alone(self, removed: BoolArray) -> float:
        """Score one set by itself, and keep its score.

        The last bit of a score may depend on the rows beside it. Near the threshold the score of the row
        alone counts, since that is what users see.
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
        seconds_left = self.deadline.seconds_left
        if wanted * self._seconds_a_set <= seconds_left:
            return wanted
        return min(wanted, max(self._least, math.floor(seconds_left / self._seconds_a_set)))
