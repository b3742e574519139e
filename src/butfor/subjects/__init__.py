"""What is explained: a row or a text, and what can be removed of it."""

from butfor.subjects.base import Reader, Subject, together
from butfor.subjects.rows import Rows
from butfor.subjects.texts import Texts, one_text

__all__ = ["Reader", "Rows", "Subject", "Texts", "one_text", "together"]
