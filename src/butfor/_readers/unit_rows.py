"""Rows whose units are more than single features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from butfor._readers.base import ReadRow
from butfor._readers.costs import Costs
from butfor.models import BoolArray, Row, with_units


def row_of_units(
    row: Row,
    names: Sequence[str],
    clauses: Sequence[Sequence[tuple[int, ...]]],
    protected: BoolArray,
    costs: Costs | None,
    **others: Any,
) -> ReadRow:
    """Return a row with units that share its active features; protected units are never removed.

    `clauses` holds, for each active feature, the clauses of units that keep it: the feature is gone once each
    of its clauses has lost a unit.
    """
    removable = np.flatnonzero(~protected)
    number = {unit: i for i, unit in enumerate(removable.tolist())}
    left = [
        [tuple(number[unit] for unit in clause if unit in number) for clause in of_feature]
        for of_feature in clauses
    ]
    return ReadRow(
        row=with_units(row, left, len(removable)),
        items=tuple(names),
        removable=removable,
        costs=None if costs is None else costs.of_names([names[unit] for unit in number]),
        **others,
    )
