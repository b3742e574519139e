"""The tables of a report as cells of text with marks, and functions that format numbers."""

import re
from dataclasses import dataclass

MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """One cell of a table. Beside our figure it may hold the paper's."""

    text: str
    bold: bool = False
    underlined: bool = False
    paper: "Cell | None" = None


@dataclass(frozen=True)
class ReportTable:
    """A table that can be written as Markdown, HTML or LaTeX."""

    name: str
    """The name of its file: letters, digits and hyphens."""
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_labels: int = 1
    """Number of leading columns that hold words; all others hold numbers."""
    n_summary: int = 0
    """Number of trailing rows that sum up the others."""


def cells(*texts: str) -> tuple[Cell, ...]:
    """Return cells without marks."""
    return tuple(Cell(text) for text in texts)


def file_name(words: str) -> str:
    """Return a file name that is made of any words.

    >>> file_name("Size, my/model_2")
    'size-my-model_2'
    """
    return "-".join(re.findall(r"[a-z0-9_]+", words.lower()))


def shown_dataset(dataset: str) -> str:
    """Return the name of a data set as a report shows it.

    >>> shown_dataset("flickr:generated")
    'flickr (generated)'
    """
    name, _, generated = dataset.partition(":")
    return f"{name} ({generated})" if generated else name


def trimmed(value: float, decimals: int = 2) -> str:
    """Return a number as text, without trailing zeros.

    >>> trimmed(100.0), trimmed(99.666), trimmed(8.5)
    ('100', '99.67', '8.5')
    """
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def two_digits(value: float) -> str:
    """Return a number as text, with at least two significant digits.

    >>> two_digits(0.4321), two_digits(4.321), two_digits(4321)
    ('0.43', '4.3', '4,321')
    """
    return f"{value:,.{2 if value < 0.995 else 1 if value < 9.95 else 0}f}"
