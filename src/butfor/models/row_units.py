"""A row with units in the place of single features."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.models.row import Row
from butfor.models.unit_map import Clause, UnitMap


def with_units(row: Row, clauses: Sequence[Sequence[Clause]], n_units: int) -> Row:
    """Return the row with units in the place of single features.

    Parameters
    ----------
    row : Row
        The row.
    clauses : sequence of sequences of tuples of int
        For each active feature the clauses that hold it (see `UnitMap`). A feature goes once each of its
        clauses has lost a unit. A feature without clauses, or with an empty one, is never removed.
    n_units : int
        The number of units.

    Returns
    -------
    Row
        The same row with other units.

    Examples
    --------
    >>> from butfor.models import as_row
    >>> films = as_row([1, 1, 1])
    >>> horror, comedy = 0, 1
    >>> grouped = with_units(films, [[(horror,)], [(horror, comedy)], [(comedy,)]], n_units=2)
    >>> grouped.without(np.array([[True, False], [False, True]])).toarray()
    array([[0, 0, 1],
           [1, 0, 0]])
    """
    removable = [place for place, held in enumerate(clauses) if held and all(held)]
    places = np.array(removable, dtype=np.intp)
    single = all(len(clauses[place]) == 1 and len(clauses[place][0]) == 1 for place in removable)
    if single:
        bundle_of = np.array([clauses[place][0][0] for place in removable], dtype=np.intp)
        if len(set(bundle_of.tolist())) == n_units:
            return replace(row, removable=places, bundle_of=bundle_of, unit_map=None)
    bundles: dict[tuple[Clause, ...], int] = {}
    bundle_of = np.array(
        [bundles.setdefault(tuple(sorted(set(clauses[place]))), len(bundles)) for place in removable],
        dtype=np.intp,
    )
    return replace(row, removable=places, bundle_of=bundle_of, unit_map=UnitMap.of(list(bundles), n_units))
