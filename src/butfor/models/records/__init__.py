"""Records: rows with cells of any kind, such as texts, categories, lists of items and numbers."""

from butfor.models.records.absence import (
    LEFT_OUT,
    MISSING,
    Absence,
    as_absence,
    is_same,
    relaxed,
    shown_value,
)
from butfor.models.records.cells import Kind, RecordCell, items_of, without_items
from butfor.models.records.native import native_record_model
from butfor.models.records.record_model import RecordModel, split_record_model
from butfor.models.records.record_table import (
    Column,
    DictTable,
    RecordTable,
    are_dicts,
    as_record_table,
    frame_of,
    is_list,
    is_missing,
    is_record,
    require_columns,
)

__all__ = [
    "LEFT_OUT",
    "MISSING",
    "Absence",
    "Column",
    "DictTable",
    "Kind",
    "RecordCell",
    "RecordModel",
    "RecordTable",
    "are_dicts",
    "as_absence",
    "as_record_table",
    "frame_of",
    "is_list",
    "is_missing",
    "is_record",
    "is_same",
    "items_of",
    "native_record_model",
    "relaxed",
    "require_columns",
    "shown_value",
    "split_record_model",
    "without_items",
]
