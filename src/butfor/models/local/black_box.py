"""The local model of any model: it asks the user's model itself."""

import math
import time
from typing import Self

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray, removal_sets
from butfor.models.local.asking import DIRECT, Asker
from butfor.models.local.base import LocalModel
from butfor.models.local.deadline import Deadline, OutOfScorings
from butfor.models.record_row import AnyRow
from butfor.models.scorer import Scorer

MAX_VALUES = 2_000_000
"""How many matrix values one call to the model may carry: some 30 MB, whatever the row and the batch."""
MAX_KEPT = 100_000
"""How many scores are remembered for a row."""
FIRST_SETS = 10
"""How many sets the first call carries at least: the time of a single row says little about a batch."""
TO_CONFIRM = 2
"""Decisions that a search leaves over: on the row, once more, and on its answer."""


class BlackBox(LocalModel):
    """Score removal sets by calls to the model, each on a CSR matrix with one copy of the row for each set.

    A set is scored once: its score is remembered. A batch is cut only where its matrix would exceed
    `MAX_VALUES`, or where one call would run far past the deadline at the pace of the calls before.

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
    max_scorings : int, optional
        How many rows the model may be asked to score, the row itself and its confirmation included.
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
        max_scorings: int | None = None,
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
        self._best_pace = math.inf
        self._least = FIRST_SETS
        a_decision = 1 if scorer.predict is None else 2  # the model scores the row, and predicts it
        self._n_asked = a_decision
        self._most_asked = math.inf if max_scorings is None else max_scorings - TO_CONFIRM * a_decision
        self._known: dict[bytes, float] = {}
        self._asker: Asker = DIRECT

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
        max_scorings: int | None = None,
    ) -> Self:
        """Return a black box; score the row itself, and measure how long that takes, unless it was scored."""
        if row_score is None:
            began = time.monotonic()
            row_score = float(scorer.scores(row.whole())[0])
            seconds = time.monotonic() - began
        return cls(
            scorer,
            row,
            row_score=row_score,
            seconds=seconds,
            deadline=deadline,
            costs=costs,
            max_scorings=max_scorings,
        )

    @property
    def n_asked(self) -> int:
        """How many rows the model was asked to score or to decide, the row itself included."""
        return self._n_asked

    def note_asked(self, n_rows: int) -> None:
        """Count rows that the model was asked about elsewhere."""
        self._n_asked += n_rows

    def ask_by(self, asker: Asker) -> None:
        """Ask the model in another way from now on."""
        self._asker = asker

    def rule_out(self, removed: tuple[int, ...]) -> None:
        """Remember that a set does not flip."""
        below = np.nextafter(self._scorer.threshold, -np.inf)
        (key,) = _keys(removal_sets([removed], self.n_features))
        self._known[key] = self._scorer.threshold if self.positive else float(below)

    def remembered(self, removed: BoolArray) -> list[float | None]:
        """Return the reported scores of the sets that were scored."""
        return [self._known.get(key) for key in _keys(removed)]

    @property
    def scorings_left(self) -> float:
        """How many more removal sets the model may be asked about."""
        if math.isinf(self._most_asked):
            return math.inf
        return max(0, self._most_asked - self._n_asked) // self._asker.rows_a_set

    @property
    def seconds_a_scoring(self) -> float:
        """How long the model took for a set in the call in which it was fastest."""
        return self._best_pace

    @property
    def parts(self) -> tuple[IntArray, ...]:
        """The sentences of a text."""
        return self._row.parts

    def _count(self, n_sets: int) -> None:
        """Count nothing here: sets are counted as the model is asked about them."""

    def _scores(self, removed: BoolArray) -> FloatArray:
        """Return the scores of sets; ask the model only about those that are new."""
        keys = _keys(removed)
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        if len(self._known) + len(new) > MAX_KEPT:
            self._known.clear()
            new = {key: i for i, key in enumerate(keys)}
        if not new:
            return np.array([self._known[key] for key in keys], dtype=float)
        which = np.fromiter(sorted(new.values()), dtype=np.intp)
        self._ask([keys[i] for i in which], removed[which])
        return np.array([self._known[key] for key in keys], dtype=float)

    def _ask(self, keys: list[bytes], removed: BoolArray) -> None:
        """Ask the model about sets, and remember their scores."""
        done = 0
        while done < len(keys):
            self.check_deadline()
            if not self.scorings_left:
                raise OutOfScorings
            end = done + self._sets_in_next_call(len(keys) - done)
            scores, in_doubt = self._score_together(removed[done:end])
            self._least = 1
            self._n_scored += end - done
            self._n_asked += (end - done) * self._asker.rows_a_set
            for i in in_doubt[: int(min(len(in_doubt), self.scorings_left))]:
                scores[i] = self._score_alone(removed[done + i])
            self._known.update(zip(keys[done:end], scores.tolist(), strict=True))
            done = end

    def _score_together(self, removed: BoolArray) -> tuple[FloatArray, IntArray]:
        """Score sets in one call; return the scores, and the positions of those that must be scored alone."""
        began = time.monotonic()
        if len(removed) == 1 and self._asker is DIRECT:  # it is alone
            score, seconds = DIRECT.alone(self._scorer, self._row, removed)
            scores, in_doubt = np.array([score]), np.arange(0)
        else:
            outputs, seconds = self._asker.together(self._scorer, self._row, removed)
            scores, in_doubt = (
                self._scorer.turned(self._scorer.by_score(outputs)),
                self._scorer.in_doubt(outputs),
            )
            self.deadline.put_off(time.monotonic() - began - seconds)
        self._seconds_a_set = max(1e-9, seconds / len(removed))
        self._best_pace = min(self._best_pace, self._seconds_a_set)
        return scores, in_doubt

    def _score_alone(self, removed: BoolArray) -> float:
        """Score one set by itself.

        The last bit of a score may depend on the rows beside it. Near the threshold the score of the row
        alone counts, since that is what users see.
        """
        self.check_deadline()
        self._n_asked += self._asker.rows_a_set
        began = time.monotonic()
        score, seconds = self._asker.alone(self._scorer, self._row, removed[np.newaxis])
        self.deadline.put_off(time.monotonic() - began - seconds)
        return score

    def _sets_in_next_call(self, wanted: int) -> int:
        wanted = int(min(wanted, self._sets_a_call, self.scorings_left))
        seconds_left = self.deadline.seconds_left
        if wanted * self._seconds_a_set <= seconds_left:
            return wanted
        return min(wanted, max(self._least, math.floor(seconds_left / self._seconds_a_set)))


def _keys(removed: BoolArray) -> list[bytes]:
    """Return what each removal set is remembered by."""
    return [line.tobytes() for line in np.packbits(removed, axis=1)]
