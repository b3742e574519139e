"""A formula held against the model itself, on random removal sets of a row."""

from dataclasses import replace

import numpy as np

from butfor.models.counted import NoFormula
from butfor.models.formula.network import Network
from butfor.models.record_row import AnyRow
from butfor.models.row import Row
from butfor.models.scorer import Scorer

N_SETS, N_TEXTS = 32, 8
"""How many removal sets of a row, and of a text, are scored by the formula and by the model."""


def holds(network: Network, scorer: Scorer, row: AnyRow) -> bool:
    """Return whether a formula and the model give the same scores, up to rounding, to random removal sets.

    Parameters
    ----------
    network : Network
        The formula of the model.
    scorer : Scorer
        The user's model.
    row : Row, TextRow or RecordRow
        A row or text; the same sets are drawn each time.

    Returns
    -------
    bool
        True as well if the row leaves too much of the formula open.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from butfor.models import as_row, as_scorer, recognise
    >>> scorer = as_scorer(DecisionTreeClassifier().fit([[0], [1]], [0, 1]))
    >>> holds(recognise(scorer), scorer, as_row([1]))
    True
    """
    if isinstance(row, Row):
        row = replace(row, unit_map=None)
    try:
        affine = network.at(row)
    except NoFormula:
        return True
    rng = np.random.default_rng(0)
    n_sets = N_SETS if isinstance(row, Row) else N_TEXTS
    removed = rng.random((n_sets, row.n_units)) < rng.random((n_sets, 1))
    removed[0] = False
    ours = network.scores(affine.without(removed))
    theirs = scorer.outputs(row.without(removed)).reshape(ours.shape)
    slope = network.link.steepest(np.abs(ours)) if ours.shape[1] == 1 else 1.0
    allowed = 1e-6 * (1 + np.abs(theirs)) + slope * network.error(affine)
    return bool((np.abs(ours - theirs) <= allowed).all())
