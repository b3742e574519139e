"""What a model is, seen from one row; the only place that knows scikit-learn."""

from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel, OutOfTime
from butfor.models.black_box import BlackBox
from butfor.models.families import recognise
from butfor.models.network import Network
from butfor.models.partial import Partial
from butfor.models.row import Row, as_row
from butfor.models.scorer import Scorer, as_scorer
from butfor.models.sparse_kernel import SparseKernel

__all__ = [
    "BlackBox",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "LocalModel",
    "Network",
    "OutOfTime",
    "Partial",
    "Row",
    "Scorer",
    "SparseKernel",
    "as_row",
    "as_scorer",
    "local_model",
    "recognise",
]


def local_model(scorer: Scorer, network: Network | None, row: Row) -> LocalModel:
    """See the model from this row: by its own formula where it was recognised, else by asking it."""
    if network is not None and len(row.removable):
        local = (SparseKernel if network.sparse else Partial)(network, scorer, row)
        if local.is_finite():
            return local
    return BlackBox.asking(scorer, row)
