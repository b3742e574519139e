"""What a batch explains: rows of matrices and tables, or texts, in chunks that any process can read."""

from butfor.batch.inputs.base import Chunk, Columns, Input, Rows
from butfor.batch.inputs.kinds import open_input

__all__ = ["Chunk", "Columns", "Input", "Rows", "open_input"]
