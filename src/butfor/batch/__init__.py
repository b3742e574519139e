"""Explaining many rows as a job: from files to files, on one machine or many."""

from butfor.batch.inputs import Columns
from butfor.batch.inventory import Inventory, check_batch
from butfor.batch.run import run_batch
from butfor.batch.summary import Summary

__all__ = ["Columns", "Inventory", "Summary", "check_batch", "run_batch"]
