"""A table before it is written: cells of text with their marks, and how numbers become text."""

import re
from dataclasses import dataclass

MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """One figure, with the paper's figure beside it where the paper has one."""

    text: str
    bold: bool = False
    underlined: bool = False
    paper: "Cell | None" = None


@dataclass(frozen=True)
class Table:
    """A table that can be written as Markdown, HTML or LaTeX."""

    name: str
    """Letters, digits and hyphens, for its file."""
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_labels: int = 1
    """The first columns that are words; all others are numbers."""
    n_summary: int = 0
    """The last rows that sum up the others."""


def cells(*texts: str) -> tuple[Cell, ...]:
    """Make a line of cells without marks."""
    return tuple(Cell(text) for text in texts)


def file_name(words: str) -> str:
    """Make a name for a file of any words.

    >>> file_name("Size, my/model_2")
    'size-my-model_2'
    """
    return "-".join(re.findall(r"[a-z0-9_]+", words.lower()))


def shown_dataset(dataset: str) -> str:
    """Name a data set as a reader should see it.

    >>> shown_dataset("flickr:generated")
    'flickr (generated)'
    """
    name, _, generated = dataset.partition(":")
    return f"{name} ({generated})" if generated else name


def trimmed(value: float, decimals: int = 2) -> str:
    """Write a number without the zeros that say nothing.

    >>> trimmed(100.0), trimmed(99.666), trimmed(8.5)
    ('100', '99.67', '8.5')
    """
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def two_digits(value: float) -> str:
    """Write a number with at least two digits that count.

    >>> two_digits(0.4321), two_digits(4.321), two_digits(4321)
    ('0.43', '4.3', '4,321')
    """
    return f"{value:,.{2 if value < 0.995 else 1 if value < 9.95 else 0}f}"
