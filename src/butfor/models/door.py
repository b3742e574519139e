"""The door to the model: rows go through it in the form in which the model decides on the user's own."""

from dataclasses import dataclass, field, replace

import numpy as np

from butfor.errors import InputError, ModelError
from butfor.models.row import Row
from butfor.models.row_kind import CSR, DENSE, RowKind, frame_kind, is_frame
from butfor.models.scorer import Said, Scorer

SAME = 1e-9
"""How far scores of a row in two forms may differ by rounding."""


@dataclass(frozen=True, eq=False)
class Door:
    """The kinds of tables in which a model gets rows: settled by the first row of each form.

    There the model decides on the row as the user gave it and on the row as butfor hands it over. Where the
    two differ the user's own form is handed over, or the row is refused.
    """

    _settled: dict[tuple[object, ...], RowKind] = field(default_factory=dict)

    def admit(self, scorer: Scorer, row: Row) -> tuple[Row, Said | None]:
        """Return the row in the kind of table in which the model gets it; if it was asked, what it said."""
        given, said = row.given, None
        key = (row.kind, None if given is None else given.signature)
        if key not in self._settled or (given is not None and given.is_cleaned):
            self._settled[key], said = _settled_kind(scorer, row)
        kind = self._settled[key]
        return (row if kind == row.kind else replace(row, kind=kind)), said


def _settled_kind(scorer: Scorer, row: Row) -> tuple[RowKind, Said]:
    kind, said = _first_that_works(scorer, row)
    scorer.require_consistency(said)
    own = _said_of_own(scorer, row)
    if own is None or _is_same(own, said):
        return kind, said
    for other in _frame_kinds(row):
        if _is_same(own, _asked(scorer, row, other)):
            return other, own
    assert row.given is not None
    raise InputError(
        f"row must have one meaning to the model, got one whose score is {own.shown()} {row.given.in_words} "
        f"and {said.shown()} as butfor hands it over. {row.given.remedy}"
    )


def _first_that_works(scorer: Scorer, row: Row) -> tuple[RowKind, Said]:
    """Return the kind of the row itself, or where the model refuses that the next that it takes."""
    try:
        return row.kind, _asked(scorer, row, row.kind)
    except ModelError as error:
        for kind in _other_kinds(scorer, row, error):
            try:
                return kind, _asked(scorer, row, kind)
            except ModelError:
                continue
        raise


def _other_kinds(scorer: Scorer, row: Row, error: ModelError) -> list[RowKind]:
    """Return kinds that hold the same row, for a model that refuses the row's own."""
    if not row.kind.is_sparse:
        is_function = not scorer.method
        return [*_frame_kinds(row), *([CSR] if is_function else [])]
    message = str(error.__cause__).lower()
    refuses_sparse = "sparse" in message or "dense" in message
    return [DENSE] if refuses_sparse else [RowKind("csr_matrix", "float64")]


def _frame_kinds(row: Row) -> list[RowKind]:
    """Return the frame that a row came in, with its columns in the model's order."""
    if row.given is None or not is_frame(row.given.rows):
        return []
    frame = row.given.rows
    return [frame_kind(frame if row.names is None else frame[list(row.names)])]


def _asked(scorer: Scorer, row: Row, kind: RowKind) -> Said:
    return scorer.handing(kind).said(row.whole(), by_predict=True)


def _said_of_own(scorer: Scorer, row: Row) -> Said | None:
    """Have the model decide on the row as the user gave it; None where it is handed over so, or refused."""
    if row.given is None:
        return None
    try:
        return scorer.handing(None).said(row.given.row(row.number), by_predict=True)
    except ModelError:
        return None


def _is_same(one: Said, other: Said) -> bool:
    close = np.allclose(one.outputs, other.outputs, rtol=SAME, atol=SAME)
    return bool(close and one.classes[0] == other.classes[0])
