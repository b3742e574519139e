"""What a model is, seen from one row; the only place that knows scikit-learn."""

from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel, OutOfTime
from butfor.models.black_box import BlackBox
from butfor.models.row import Row, as_row
from butfor.models.scorer import Scorer, as_scorer

__all__ = [
    "BlackBox",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "LocalModel",
    "OutOfTime",
    "Row",
    "Scorer",
    "as_row",
    "as_scorer",
    "local_model",
]


def local_model(scorer: Scorer, row: Row, *, row_score: float) -> LocalModel:
    """Choose how to evaluate the model around this row: the one place that recognises a model."""
    return BlackBox(scorer, row, row_score=row_score)
