"""A report as GitHub's Markdown."""

import re
from collections.abc import Iterable, Sequence

from butfor.study.cells import Cell, ReportTable
from butfor.study.drawing import Picture
from butfor.study.report.about import HOW_TO_READ, PAPER, TITLE, facts
from butfor.study.results import Study


def document(study: Study, tables: Iterable[ReportTable], pictures: Iterable[Picture]) -> str:
    """Return the whole report. Its figures are in the folder `figures` beside it."""
    return f"# {TITLE}\n\n{body(study, tables, pictures, level=2, figures='figures')}"


def body(
    study: Study, tables: Iterable[ReportTable], pictures: Iterable[Picture], *, level: int, figures: str
) -> str:
    """Return the report without its title, to be included in another page."""
    listed = [f"- {name}: {escaped(text)}" for name, text in facts(study)]
    how = [f"- {_cell(cell).replace('<br>', ' ')}: {escaped(text)}" for cell, text in HOW_TO_READ]
    shown = [
        f"{'#' * level} {escaped(each.title)}\n\n{escaped(each.caption)}\n\n"
        f"![{escaped(each.title)}]({figures}/{each.name}.png)"
        for each in pictures
    ]
    head = ["\n".join(listed), "How to read it:", "\n".join(how), escaped(PAPER)]
    return "\n\n".join([*head, *(table_text(each, level=level) for each in tables), *shown]) + "\n"


def table_text(table: ReportTable, *, level: int) -> str:
    """Return one table with its heading, of this level, and its caption."""
    words, numbers = [":--"] * table.n_labels, ["--:"] * (len(table.columns) - table.n_labels)
    lines = [
        _line([escaped(column) for column in table.columns]),
        _line([*words, *numbers]),
        *(_line([_cell(cell) for cell in row]) for row in table.rows),
    ]
    return "\n\n".join([f"{'#' * level} {escaped(table.title)}", escaped(table.caption), "\n".join(lines)])


def escaped(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, on one line.

    >>> print(escaped("a|b *c* <d>"))
    a\\|b \\*c\\* &lt;d&gt;
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", text)


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _cell(cell: Cell) -> str:
    return _marked(cell) + (f"<br><sub>\\[{_marked(cell.paper)}\\]</sub>" if cell.paper else "")


def _marked(cell: Cell) -> str:
    text = escaped(cell.text)
    text = f"**{text}**" if cell.bold else text
    return f"<u>{text}</u>" if cell.underlined else text
