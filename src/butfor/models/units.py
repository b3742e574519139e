"""Units of a row: what goes together when something is removed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.models.holders import Holders, Holding
from butfor.models.row import Row


def with_units(row: Row, holdings: Sequence[Sequence[Holding]], n_units: int) -> Row:
    """Give the row with units in the place of single features.

    `holdings` has for every active feature what holds it: it goes once each of its holdings has lost a unit.
    A feature without holdings, or with an empty one, never goes.

    >>> from butfor.models.row import as_row
    >>> films = as_row([1, 1, 1])
    >>> horror, comedy = 0, 1
    >>> grouped = with_units(films, [[(horror,)], [(horror, comedy)], [(comedy,)]], n_units=2)
    >>> grouped.without(np.array([[True, False], [False, True]])).toarray()
    array([[0, 0, 1],
           [1, 0, 0]])
    """
    removable = [place for place, held in enumerate(holdings) if held and all(held)]
    places = np.array(removable, dtype=np.intp)
    single = all(len(holdings[place]) == 1 and len(holdings[place][0]) == 1 for place in removable)
    if single:
        part_of = np.array([holdings[place][0][0] for place in removable], dtype=np.intp)
        if len(set(part_of.tolist())) == n_units:
            return replace(row, removable=places, part_of=part_of, holders=None)
    parts: dict[tuple[Holding, ...], int] = {}
    part_of = np.array(
        [parts.setdefault(tuple(sorted(set(holdings[place]))), len(parts)) for place in removable],
        dtype=np.intp,
    )
    return replace(row, removable=places, part_of=part_of, holders=Holders.of(list(parts), n_units))
