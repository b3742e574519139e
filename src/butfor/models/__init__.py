"""What a model is, seen from one row; the only place that knows scikit-learn."""

from dataclasses import replace

from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel, OutOfTime, removal_sets
from butfor.models.black_box import BlackBox
from butfor.models.door import Door
from butfor.models.estimators import as_rest, as_scorer, closed
from butfor.models.families import recognise
from butfor.models.linear_block import LinearRows, SortedRows, sort_rows
from butfor.models.network import Network
from butfor.models.overlapping import Overlapping
from butfor.models.partial import Partial
from butfor.models.row import Row, as_row, row_at, stacked
from butfor.models.scorer import Said, Scorer
from butfor.models.sparse_kernel import SparseKernel
from butfor.models.tables import Table, as_table
from butfor.models.text import TextModel, split_text_model
from butfor.models.text_row import TextRow
from butfor.models.units import with_units

__all__ = [
    "BlackBox",
    "BoolArray",
    "Door",
    "FloatArray",
    "IntArray",
    "LinearRows",
    "LocalModel",
    "Network",
    "OutOfTime",
    "Overlapping",
    "Partial",
    "Row",
    "Said",
    "Scorer",
    "SortedRows",
    "SparseKernel",
    "Table",
    "TextModel",
    "TextRow",
    "as_rest",
    "as_row",
    "as_scorer",
    "as_table",
    "closed",
    "local_model",
    "recognise",
    "removal_sets",
    "row_at",
    "sort_rows",
    "split_text_model",
    "stacked",
    "with_units",
]


def local_model(
    scorer: Scorer,
    network: Network | None,
    row: Row | TextRow,
    row_score: float | None = None,
    seconds: float = 0.0,
) -> LocalModel:
    """See the model from this row: by its own formula where it was recognised, else by asking it.

    `row_score` is what the model itself said of the row, if it was asked, and `seconds` how long that took.
    """
    if isinstance(row, TextRow):
        return BlackBox.asking(scorer, row, row_score, seconds)
    if row.holders is not None:
        parts = local_model(scorer, network, replace(row, holders=None), row_score, seconds)
        return Overlapping(parts, row.holders)
    if network is not None and row.n_units:
        if scorer.lead is not None:
            network = replace(network, lead=scorer.lead)
        local = (SparseKernel if network.sparse else Partial)(network, scorer, row)
        if local.is_finite():
            return local
    return BlackBox.asking(scorer, row, row_score, seconds)
