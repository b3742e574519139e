"""Who asks the user's model about removal sets: each row for itself, or many rows together."""

import time
from typing import Any, Protocol

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.scorer import Scorer


class Asker(Protocol):
    """Asks the model about removal sets of a row."""

    @property
    def rows_a_set(self) -> int:
        """How many rows the model is handed for each removal set."""
        ...

    def together(self, scorer: Scorer, row: Any, removed: BoolArray) -> tuple[FloatArray, float]:
        """Return the model's outputs for removal sets, and the seconds that it took for them."""
        ...

    def alone(self, scorer: Scorer, row: Any, removed: BoolArray) -> tuple[float, float]:
        """Return the score of the row without one set, as the only row of a call, and the seconds it took."""
        ...


class DirectAsker:
    """Calls the model at once."""

    rows_a_set = 1

    def together(self, scorer: Scorer, row: Any, removed: BoolArray) -> tuple[FloatArray, float]:
        """Call the model once for all sets."""
        began = time.monotonic()
        outputs = scorer.outputs(row.without(removed))
        return outputs, time.monotonic() - began

    def alone(self, scorer: Scorer, row: Any, removed: BoolArray) -> tuple[float, float]:
        """Call the model for one set."""
        began = time.monotonic()
        score = float(scorer.scores(row.without(removed))[0])
        return score, time.monotonic() - began


DIRECT = DirectAsker()
