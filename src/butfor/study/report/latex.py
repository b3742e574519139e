"""A table as LaTeX, for a paper; it needs the packages booktabs and graphicx."""

from collections.abc import Sequence

from butfor.study.cells import Cell, ReportTable

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # after a line break a bare bracket would open an option
    "]": "{]}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
WIDE = 7
"""A table with more columns is scaled to the width of the page."""


def table_text(table: ReportTable) -> str:
    """Return one table as a LaTeX float with caption and label."""
    words, numbers = "l" * table.n_labels, "r" * (len(table.columns) - table.n_labels)
    first_of_summary = len(table.rows) - table.n_summary
    body, summary = table.rows[:first_of_summary], table.rows[first_of_summary:]
    lines = [
        f"\\begin{{tabular}}{{{words}{numbers}}}",
        r"\toprule",
        _line([escaped(column) for column in table.columns]),
        r"\midrule",
        *(_line([_cell(cell) for cell in row]) for row in body),
        *([r"\midrule", *(_line([_cell(cell) for cell in row]) for row in summary)] if summary else []),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if len(table.columns) > WIDE:
        lines = [r"\resizebox{\textwidth}{!}{%", *lines, "}"]
    caption = f"\\caption{{\\textbf{{{escaped(table.title)}.}} {escaped(table.caption)}}}"
    head = [r"\begin{table*}", r"\centering", caption, f"\\label{{tab:{table.name}}}"]
    return "\n".join([*head, *lines, r"\end{table*}"]) + "\n"


def escaped(text: str) -> str:
    """Escape a text so that LaTeX shows it as it is, on one line.

    >>> print(escaped("50% of movielens_1m"))
    50\\% of movielens\\_1m
    """
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))


def _line(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\"


def _cell(cell: Cell) -> str:
    return _marked(cell) + (f" {{\\scriptsize [{_marked(cell.paper)}]}}" if cell.paper else "")


def _marked(cell: Cell) -> str:
    text = escaped(cell.text)
    text = f"\\textbf{{{text}}}" if cell.bold else text
    return f"\\underline{{{text}}}" if cell.underlined else text
