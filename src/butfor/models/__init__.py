"""What a model is, seen from one row; the only place that knows scikit-learn."""

from butfor.models.arrays import BoolArray, FloatArray, IntArray, removal_sets
from butfor.models.calling import Calls
from butfor.models.compiled import kernels
from butfor.models.estimators import as_rest, as_scorer, called_by, closed
from butfor.models.formula.families import recognise
from butfor.models.formula.network import Network
from butfor.models.kind_choice import choose_kind
from butfor.models.local.base import LocalModel
from butfor.models.local.black_box import BlackBox
from butfor.models.local.checking import holds
from butfor.models.local.choosing import local_model
from butfor.models.local.deadline import Deadline, OutOfBudget, OutOfTime
from butfor.models.local.formula import FormulaModel
from butfor.models.local.kernel_block import KernelRows
from butfor.models.local.linear_block import AnsweredRows, LinearRows, sort_terms
from butfor.models.local.network_block import NetworkRows
from butfor.models.local.overlapping import Overlapping
from butfor.models.local.sparse_kernel import SparseKernel
from butfor.models.local.tree_model import TreeModel
from butfor.models.objects import AdaptedModel, encoded, tokens_of
from butfor.models.record_row import RecordRow, stacked_copies
from butfor.models.records import RecordModel, split_record_model
from butfor.models.row import Row
from butfor.models.row_units import with_units
from butfor.models.scorer import Decisions, Scorer
from butfor.models.tables import Table, as_row, as_table, row_at
from butfor.models.text import TextModel, split_text_model, steps_of_texts
from butfor.models.text_row import TextRow

__all__ = [
    "AdaptedModel",
    "AnsweredRows",
    "BlackBox",
    "BoolArray",
    "Calls",
    "Deadline",
    "Decisions",
    "FloatArray",
    "FormulaModel",
    "IntArray",
    "KernelRows",
    "LinearRows",
    "LocalModel",
    "Network",
    "NetworkRows",
    "OutOfBudget",
    "OutOfTime",
    "Overlapping",
    "RecordModel",
    "RecordRow",
    "Row",
    "Scorer",
    "SparseKernel",
    "Table",
    "TextModel",
    "TextRow",
    "TreeModel",
    "as_rest",
    "as_row",
    "as_scorer",
    "as_table",
    "called_by",
    "choose_kind",
    "closed",
    "encoded",
    "holds",
    "kernels",
    "local_model",
    "recognise",
    "removal_sets",
    "row_at",
    "sort_terms",
    "split_record_model",
    "split_text_model",
    "stacked_copies",
    "steps_of_texts",
    "tokens_of",
    "with_units",
]
