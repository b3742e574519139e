"""Which local model a row gets."""

import logging
import math
from dataclasses import replace
from functools import partial

from butfor.models.arrays import FloatArray
from butfor.models.counted import NoFormula
from butfor.models.formula.network import Network
from butfor.models.formula.trees.growing import TooManyLeaves
from butfor.models.local.base import LocalModel
from butfor.models.local.black_box import BlackBox
from butfor.models.local.deadline import Deadline
from butfor.models.local.formula import FormulaModel
from butfor.models.local.normed import NormedModel
from butfor.models.local.overlapping import Overlapping
from butfor.models.local.sparse_kernel import SparseKernel
from butfor.models.local.tree_model import TreeModel
from butfor.models.record_row import AnyRow
from butfor.models.row import Row
from butfor.models.scorer import Scorer

LOG = logging.getLogger(__name__)


def local_model(
    scorer: Scorer,
    network: Network | None,
    row: AnyRow,
    *,
    row_score: float | None = None,
    seconds: float = 0.0,
    deadline: float = math.inf,
    costs: FloatArray | None = None,
    max_scorings: int | None = None,
) -> LocalModel:
    """Return the model as seen from one row: by its formula where that is known, else as a black box.

    Parameters
    ----------
    scorer : Scorer
        The user's model.
    network : Network or None
        Its formula; None if it was not recognised.
    row : Row, TextRow or RecordRow
        What the model decides on.
    row_score : float, optional
        The model's score of the row. If it is not given, a black box is asked for it.
    seconds : float, default=0.0
        How long the model took for `row_score`.
    deadline : float, default=math.inf
        The `time.monotonic()` after which scoring raises `OutOfTime`.
    costs : array of shape (n_units,), optional
        What the removal of each unit costs; if it is not given, each costs one.
    max_scorings : int, optional
        How many rows a black box may be asked to score.

    Returns
    -------
    LocalModel
        A function of the removal set.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor.models import as_row, as_scorer
    >>> scorer = as_scorer(lambda X: X @ np.array([3, 2, 1]), threshold=4)
    >>> local = local_model(scorer, None, as_row([1, 1, 1]))
    >>> local.kind, local.path((1, 0))
    ('black box', array([4., 1.]))
    """
    ask = partial(
        BlackBox.asking,
        row_score=row_score,
        seconds=seconds,
        deadline=Deadline(deadline),
        max_scorings=max_scorings,
    )
    if not isinstance(row, Row) or row.unit_map is None:
        return _without_shared_features(scorer, network, row, ask, costs)
    inner = _without_shared_features(scorer, network, replace(row, unit_map=None), ask, None)
    return Overlapping(inner, row.unit_map, costs=costs)


def _without_shared_features(
    scorer: Scorer,
    network: Network | None,
    row: AnyRow,
    ask: "partial[BlackBox]",
    costs: FloatArray | None,
) -> LocalModel:
    """Return the local model of a row in which each feature goes with one unit."""
    if network is not None and row.n_units:
        if scorer.margin is not None:
            network = replace(network, margin=scorer.margin)
        try:
            local = _family(network)(network, scorer, row, deadline=ask.keywords["deadline"], costs=costs)
        except TooManyLeaves:
            LOG.info("the row leaves too much of the trees open: the model is asked as a black box")
        except NoFormula:
            LOG.info("what the steps make of the row is not known: the model is asked as a black box")
        else:
            if local.is_finite:
                return local
    return ask(scorer, row, costs=costs)


def _family(network: Network) -> type[FormulaModel]:
    """Return the class of the local model of a formula."""
    if network.has_trees:
        return TreeModel
    if network.has_ratios:
        return NormedModel
    return SparseKernel if network.sparse else FormulaModel
