"""Subjects whose units are more than single features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from butfor.models import BoolArray, Row, with_units
from butfor.subjects.base import Subject
from butfor.subjects.costs import Costs


def subject_of_units(
    row: Row,
    names: Sequence[str],
    holdings: Sequence[Sequence[tuple[int, ...]]],
    protected: BoolArray,
    costs: Costs | None,
    **others: Any,
) -> Subject:
    """Make a subject of units that hold the active features of a row; the protected ones never let go."""
    removable = np.flatnonzero(~protected)
    number = {unit: i for i, unit in enumerate(removable.tolist())}
    left = [
        [tuple(number[unit] for unit in holding if unit in number) for holding in held] for held in holdings
    ]
    return Subject(
        row=with_units(row, left, len(removable)),
        items=tuple(names),
        removable=removable,
        costs=None if costs is None else costs.of_names([names[unit] for unit in number]),
        **others,
    )
