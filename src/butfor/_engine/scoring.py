"""Scores and decisions of many rows, without any search."""

from typing import Any

import numpy as np

from butfor._engine.engine import Engine
from butfor._engine.slices import in_pieces
from butfor.errors import ButforError
from butfor.models import FloatArray, IntArray
from butfor.models.margin import Margin
from butfor.models.rows import n_rows_in

ROWS_AT_ONCE = 8192
"""Rows, or texts, of one call of the model."""


def decide(engine: Engine, rows: Any) -> tuple[FloatArray, IntArray]:
    """Return the score and the class of every row; nan and -1 where the model fails on it."""
    rows = engine.settings.reader.many(rows)
    rows = rows if hasattr(rows, "shape") else list(rows)
    pieces = [_decide(engine, piece) for piece in in_pieces(rows, ROWS_AT_ONCE)]
    if not pieces:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    scores, classes = zip(*pieces, strict=True)
    return np.concatenate(scores), np.concatenate(classes)


def _decide(engine: Engine, rows: Any) -> tuple[FloatArray, IntArray]:
    """Have the model decide on rows together; where it fails, on each half, to find the bad rows."""
    n_rows = n_rows_in(rows)
    try:
        return _decide_together(engine, rows)
    except ButforError:
        if n_rows == 1:
            return np.array([np.nan]), np.array([-1])
    halves = [_decide(engine, half) for half in in_pieces(rows, (n_rows + 1) // 2)]
    return np.concatenate([scores for scores, _ in halves]), np.concatenate([of for _, of in halves])


def _decide_together(engine: Engine, rows: Any) -> tuple[FloatArray, IntArray]:
    model = engine.model
    scorer, handed = model.scorer_of(rows, engine.settings.reader)
    decisions = scorer.decide(handed, by_predict=model.network is None, alone=True)
    if not scorer.has_many_classes:
        return decisions.outputs, decisions.classes
    target = model.scorer.target
    if target is not None:  # then the margin is the same, whichever class is ahead
        return Margin(target, target).of(decisions.outputs), decisions.classes
    ordered = np.sort(decisions.outputs, axis=1)
    return ordered[:, -1] - ordered[:, -2], decisions.classes
