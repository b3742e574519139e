"""Readers: from a row or text that a user passes to its units, with names, costs and places."""

from butfor._readers.base import Reader, ReadRow, stacked_rows
from butfor._readers.records import RecordAt, RecordReader
from butfor._readers.rows import RowReader
from butfor._readers.texts import TextReader, one_text

__all__ = [
    "ReadRow",
    "Reader",
    "RecordAt",
    "RecordReader",
    "RowReader",
    "TextReader",
    "one_text",
    "stacked_rows",
]
