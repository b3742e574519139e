"""A report as one HTML file, without scripts or outside resources; for screens, phones and print."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from butfor.study.cells import Cell, ReportTable
from butfor.study.drawing import Picture
from butfor.study.report.about import HOW_TO_READ, PAPER, TITLE, facts
from butfor.study.results import Study


def document(study: Study, tables: Sequence[ReportTable], pictures: Sequence[Picture]) -> str:
    """Return the whole page."""
    style = (files("butfor.study.report") / "page.css").read_text(encoding="utf-8")
    titles = [*(table.title for table in tables), *(picture.title for picture in pictures)]
    sections = [*map(_table, tables), *map(_picture, pictures)]
    numbered = [
        f'<section id="part-{number}"><h2>{escape(title)}</h2>{section}</section>'
        for number, (title, section) in enumerate(zip(titles, sections, strict=True), start=1)
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{style}</style></head>\n"
        f"<body><main><h1>{TITLE}</h1>{_facts(study)}{_how_to_read()}{_contents(titles)}\n"
        + "\n".join(numbered)
        + "</main></body></html>\n"
    )


def _facts(study: Study) -> str:
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts(study))
    return f'<dl class="facts">{listed}</dl>'


def _how_to_read() -> str:
    marks = "".join(f"<dt>{_inside(cell)}</dt><dd>{escape(text)}</dd>" for cell, text in HOW_TO_READ)
    return f'<h2>How to read it</h2><dl class="marks">{marks}</dl><p class="soft">{escape(PAPER)}</p>'


def _contents(titles: Iterable[str]) -> str:
    links = (
        f'<li><a href="#part-{number}">{escape(title)}</a></li>'
        for number, title in enumerate(titles, start=1)
    )
    return f"<nav><ol>{''.join(links)}</ol></nav>"


def _table(table: ReportTable) -> str:
    first_of_summary = len(table.rows) - table.n_summary
    body, summary = table.rows[:first_of_summary], table.rows[first_of_summary:]
    head = "".join(f"<th{_align(at, table)}>{_words(column)}</th>" for at, column in enumerate(table.columns))
    foot = f"<tfoot>{_rows(summary, table)}</tfoot>" if summary else ""
    return (
        f'<p>{escape(table.caption)}</p><div class="scroll" tabindex="0"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{_rows(body, table)}</tbody>{foot}</table></div>"
    )


def _words(heading: str) -> str:
    """Return a heading that may break between words, but not within the name of a search."""
    return " ".join(f"<span>{escape(word)}</span>" for word in heading.split())


def _rows(rows: Iterable[Sequence[Cell]], table: ReportTable) -> str:
    return "".join(
        "<tr>"
        + "".join(f"<td{_align(at, table)}>{_inside(cell)}</td>" for at, cell in enumerate(row))
        + "</tr>\n"
        for row in rows
    )


def _align(column: int, table: ReportTable) -> str:
    return ' class="word"' if column < table.n_labels else ""


def _inside(cell: Cell) -> str:
    return _marked(cell) + (f" <small>[{_marked(cell.paper)}]</small>" if cell.paper else "")


def _marked(cell: Cell) -> str:
    text = escape(cell.text)
    text = f"<b>{text}</b>" if cell.bold else text
    return f"<u>{text}</u>" if cell.underlined else text


def _picture(picture: Picture) -> str:
    label = escape(picture.title)
    return (
        f"<p>{escape(picture.caption)}</p>"
        f'<figure role="img" aria-label="{label}">{picture.inline_svg}</figure>'
    )
