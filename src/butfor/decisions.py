"""What a model decides on many rows, before any search."""

from typing import Any

import numpy as np

from butfor.blocks import in_pieces
from butfor.errors import ButforError
from butfor.inquiry import Inquiry
from butfor.models import FloatArray, IntArray
from butfor.models.lead import Lead

ROWS_AT_ONCE = 8192
"""Rows, or texts, of one call of the model."""


def decide(inquiry: Inquiry, rows: Any) -> tuple[FloatArray, IntArray]:
    """Give the score and the class of every row; nan and -1 where the model fails on it."""
    rows = inquiry.reader.many(rows)
    given = rows if hasattr(rows, "shape") else list(rows)
    pieces = [_decided(inquiry, piece) for piece in in_pieces(given, ROWS_AT_ONCE)]
    if not pieces:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    scores, classes = zip(*pieces, strict=True)
    return np.concatenate(scores), np.concatenate(classes)


def _decided(inquiry: Inquiry, rows: Any) -> tuple[FloatArray, IntArray]:
    """Ask the model about rows together; where it fails, about each half: so the bad ones are found."""
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    try:
        return _judged(inquiry, rows)
    except ButforError:
        if n_rows == 1:
            return np.array([np.nan]), np.array([-1])
    halves = [_decided(inquiry, half) for half in in_pieces(rows, (n_rows + 1) // 2)]
    return np.concatenate([scores for scores, _ in halves]), np.concatenate([of for _, of in halves])


def _judged(inquiry: Inquiry, rows: Any) -> tuple[FloatArray, IntArray]:
    scorer, given = inquiry.asked_about(rows)
    said = scorer.said(given, by_predict=inquiry.network is None, alone=True)
    if not scorer.has_many_classes:
        return said.outputs, said.classes
    target = inquiry.scorer.target
    if target is not None:  # then the lead is the same, whichever class is ahead
        return Lead(target, target).of(said.outputs), said.classes
    ordered = np.sort(said.outputs, axis=1)
    return ordered[:, -1] - ordered[:, -2], said.classes
