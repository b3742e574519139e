"""Explaining many rows as a job: from files to files, on one machine or many."""

from butfor.batch.inputs import Columns
from butfor.batch.run import run_batch
from butfor.batch.summary import Summary

__all__ = ["Columns", "Summary", "run_batch"]
