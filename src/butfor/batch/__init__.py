"""Batch jobs: explain all rows of files and write Parquet, on one machine or on many."""

from butfor._files.inputs import ColumnNames as Columns
from butfor.batch.events import BatchEvent
from butfor.batch.inventory import Inventory, check_batch
from butfor.batch.run import run_batch
from butfor.batch.spark import explain_frame
from butfor.batch.statistics import Statistics
from butfor.batch.summary import Summary

__all__ = [
    "BatchEvent",
    "Columns",
    "Inventory",
    "Statistics",
    "Summary",
    "check_batch",
    "explain_frame",
    "run_batch",
]
