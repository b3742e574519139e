"""The choice of the kind of table in which rows reach the model: one in which it decides as on the user's."""

import numpy as np

from butfor.errors import InputError, ModelError
from butfor.models.row import Row
from butfor.models.row_kind import CSR, DENSE, RowKind, frame_kind, is_frame
from butfor.models.scorer import Decisions, Scorer

SAME = 1e-9
"""How far scores of a row in two forms may differ by rounding."""


def choose_kind(scorer: Scorer, row: Row) -> tuple[RowKind, Decisions]:
    """Return the kind of table in which the model gets rows of this form, and its decision on this row.

    The model decides on the row as the user passed it, and on the row as butfor hands it over. Where the two
    differ, the user's own form is handed over, or the row is refused.
    """
    kind, decisions = _first_that_works(scorer, row)
    scorer.require_consistency(decisions)
    own = _decide_on_original(scorer, row)
    if own is None or scorer.varies or _is_same(own, decisions):
        return kind, decisions
    for other in _frame_kinds(row):
        if _is_same(own, _decide(scorer, row, other)):
            return other, own
    original = row.original
    assert original is not None
    raise InputError(
        f"row must have one meaning to the model, got one whose score is {own.shown()} {original.in_words} "
        f"and {decisions.shown()} as butfor hands it over. {original.remedy}"
    )


def _first_that_works(scorer: Scorer, row: Row) -> tuple[RowKind, Decisions]:
    """Return the first kind of table that the model accepts, beginning with the row's own."""
    try:
        return row.kind, _decide(scorer, row, row.kind)
    except ModelError as error:
        for kind in _other_kinds(scorer, row, error):
            try:
                return kind, _decide(scorer, row, kind)
            except ModelError:
                continue
        raise


def _other_kinds(scorer: Scorer, row: Row, error: ModelError) -> list[RowKind]:
    """Return other kinds of tables that hold the same row, for a model that refuses the row's own."""
    if not row.kind.is_sparse:
        is_function = not scorer.method
        return [*_frame_kinds(row), *([CSR] if is_function else [])]
    message = str(error.__cause__).lower()
    refuses_sparse = "sparse" in message or "dense" in message
    return [DENSE] if refuses_sparse else [RowKind("csr_matrix", "float64")]


def _frame_kinds(row: Row) -> list[RowKind]:
    """Return the kind of the frame that a row came in, with its columns in the model's order."""
    if row.original is None or not is_frame(row.original.rows):
        return []
    frame = row.original.rows
    return [frame_kind(frame if row.names is None else frame[list(row.names)])]


def _decide(scorer: Scorer, row: Row, kind: RowKind) -> Decisions:
    return scorer.handing(kind).decide(row.whole(), by_predict=True)


def _decide_on_original(scorer: Scorer, row: Row) -> Decisions | None:
    """Return the decision on the row as the user passed it.

    None where that is the form in which it is handed over, or the model refuses it.
    """
    if row.original is None:
        return None
    try:
        return scorer.handing(None).decide(row.original.row(row.number), by_predict=True)
    except ModelError:
        return None


def _is_same(one: Decisions, other: Decisions) -> bool:
    close = np.allclose(one.outputs, other.outputs, rtol=SAME, atol=SAME)
    return bool(close and one.classes[0] == other.classes[0])
