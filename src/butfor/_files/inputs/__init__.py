"""What commands read: rows of numbers, or texts, in chunks that any process can read."""

from butfor._files.inputs.base import Chunk, ColumnNames, Input, InputRows
from butfor._files.inputs.formats import FORMATS, open_input, open_rows

__all__ = ["FORMATS", "Chunk", "ColumnNames", "Input", "InputRows", "open_input", "open_rows"]
