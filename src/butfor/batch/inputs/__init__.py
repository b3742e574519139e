"""What a batch explains: matrices, tables of records, lists or texts, cut into chunks that any process can read."""

from butfor.batch.inputs.base import Chunk, Columns, Input, Rows
from butfor.batch.inputs.kinds import open_input

__all__ = ["Chunk", "Columns", "Input", "Rows", "open_input"]
