"""Explanations as HTML: no script, no outside resource, light and dark, readable without colour.

`card`, `bars` and `more` return elements; `wrapped` makes HTML for a notebook of them, `page` a whole page.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING

from butfor._render.evidence import Column, Piece, items, not_in_text, pieces, shown_columns
from butfor._render.plain import effort, extent, removal
from butfor._render.scale import scale
from butfor._render.sentences import sentence
from butfor._render.words import (
    NOUNS,
    REMOVED,
    amount,
    class_named,
    counted,
    is_text,
    listed,
    printable,
    shortened,
)

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

TITLE = "But for this evidence, the decision would be another"
"""The title of a page of explanations."""
ITEMS_SHOWN = 60
ITEMS_UNFOLDED = 1000
"""Items in the folded list, at most."""
LONGEST_ITEM = 200
NOT_FOR_HTML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that are not allowed in HTML, or that a browser would drop."""
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
OPEN, CLOSE = "\ufdd0", "\ufdd1"
"""Mark the names in a sentence until it is HTML; names cannot hold them, since `printable` escapes them."""


def fragment(why: "Explanation") -> str:
    """Return one explanation as HTML for a notebook; its styles apply to nothing else."""
    return wrapped(card(why))


def wrapped(*elements: str) -> str:
    """Return elements together with the styles that they need."""
    return f'<div class="butfor"><style>{_style("fragment.css")}</style>{"".join(elements)}</div>'


def page(title: str, sections: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return a whole page: a title, and elements under each heading."""
    body = "".join(f"<h2>{shown(heading)}</h2>{''.join(elements)}" for heading, elements in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{shown(title)}</title><style>{_style('fragment.css')}{_style('page.css')}</style></head>"
        f'<body class="butfor butfor-page"><main><h1>{shown(title)}</h1>{body}</main></body></html>\n'
    )


def card(
    why: "Explanation", *, heading: str = "", subject: str | None = None, decision: str | None = None
) -> str:
    """Return one explanation: its sentence, the marked evidence, the scores, what is proven."""
    text = sentence(why, subject=subject, decision=decision, wrap=lambda name: f"{OPEN}{name}{CLOSE}")
    text = escape(text).replace(OPEN, "<bdi>").replace(CLOSE, "</bdi>")
    return framed(
        f'<h3 class="butfor-heading">{shown(heading)}</h3>' if heading else "",
        f'<div class="butfor-sentence">{text}</div>',
        _evidence(why),
        scale(why),
        _note(notes(why)),
        f'<div class="butfor-facts">{shown(f"{extent(why)} · {effort(why)}")}</div>',
    )


def _evidence(why: "Explanation") -> str:
    """Return what was explained, with the evidence marked: a record, a text, or items."""
    if why.table:
        return marked_table(why)
    return marked_items(why) if why.text is None else marked_text(why, why.text)


def marked_table(why: "Explanation") -> str:
    """Return a record as a table, the evidence marked; of a wide one the columns without any are folded."""
    columns, others = shown_columns(why)
    table = _table_of(columns)
    if not others:
        return table
    return table + more(f"and {counted(len(others), ('column', 'columns'))} more", _table_of(others))


def _line(name: str, cell: Sequence[Piece]) -> str:
    """Return a column of a record: its name, and its cell."""
    written = ((_shown_text(piece), gone) for piece, gone in cell)
    marked = "".join(_gone(piece) if gone else piece for piece, gone in written)
    inside = f'<td dir="auto"><div class="butfor-cell">{marked}</div></td>'
    return f'<tr><th scope="row">{_item(name)}</th>{inside}</tr>'


def _table_of(columns: Sequence[Column]) -> str:
    rows = "".join(_line(name, cell) for name, cell in columns)
    return f'<table class="butfor-record"><tbody>{rows}</tbody></table>' if columns else ""


def marked_text(why: "Explanation", text: str) -> str:
    """Return the text with all spans of the evidence marked."""
    written = ((_shown_text(piece), gone) for piece, gone in pieces(text, why.spans))
    marked = "".join(_gone(piece) if gone else piece for piece, gone in written)
    elsewhere = listed(not_in_text(why))
    # A long text scrolls; tabindex lets it scroll by keyboard too.
    return f'<div class="butfor-text" dir="auto" tabindex="0">{marked}</div>' + _note(
        f"Removed as well, from where the text does not tell: {elsewhere}." if elsewhere else ""
    )


def marked_items(why: "Explanation") -> str:
    """Return the list of the row's items, the removed ones marked and first; a long list is folded."""
    written = [
        f"<li>{_gone(_item(name))}</li>" if gone else f"<li>{_item(name)}</li>"
        for name, gone in islice(items(why), max(ITEMS_SHOWN, why.size) + ITEMS_UNFOLDED)
    ]
    if not written:
        return ""
    n_shown = max(ITEMS_SHOWN, why.size)
    n_more = max(len(why.items), why.size) - n_shown
    first = f'<ul class="butfor-items">{"".join(written[:n_shown])}</ul>'
    if n_more <= 0:
        return first
    if n_more > ITEMS_UNFOLDED:
        written.append(f"<li>… and {n_more - ITEMS_UNFOLDED:,} not listed</li>")
    return first + more(f"and {n_more:,} more", f'<ul class="butfor-items">{"".join(written[n_shown:])}</ul>')


def bars(rows: Sequence[tuple[str, float, str]], *, caption: str) -> str:
    """Return a table of bars; a row is a name, a value, and the value as it is written."""
    low, high = min([0.0, *(value for _, value, _ in rows)]), max([0.0, *(value for _, value, _ in rows)])
    per_cent = 100 / ((high - low) or 1.0)
    table_rows = (
        f'<tr><th scope="row">{_item(name)}</th><td><svg class="butfor-bar" width="100%" height="12" '
        f'aria-hidden="true"><rect class="butfor-{"against" if value < 0 else "for"}" height="100%" '
        f'x="{(min(value, 0) - low) * per_cent:.2f}%" width="{abs(value) * per_cent:.2f}%"/></svg></td>'
        f"<td>{shown(written)}</td></tr>"
        for name, value, written in rows
    )
    body = f"<caption>{shown(caption)}</caption><tbody>{''.join(table_rows)}</tbody>"
    return f'<table class="butfor-bars">{body}</table>'


def framed(*elements: str) -> str:
    """Return elements inside one frame."""
    return f'<article class="butfor-card">{"".join(elements)}</article>'


def more(summary: str, inside: str) -> str:
    """Return HTML that is folded away under a summary."""
    return f'<details class="butfor-more"><summary>{shown(summary)}</summary>{inside}</details>'


def shown(text: str) -> str:
    r"""Return any text as HTML: markup is escaped, and control characters are made visible.

    >>> print(shown("<b>\x00"))
    &lt;b&gt;\x00
    """
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    return escape(NOT_FOR_HTML.sub(lambda match: match[0].encode("unicode_escape").decode(), normal))


def _shown_text(text: str) -> str:
    """Return a text as HTML; characters that change the direction of writing are isolated."""
    return DIRECTIONS.sub(r'<bdi class="butfor-turn">\g<0></bdi>', shown(text))


def _item(name: str) -> str:
    return f"<bdi>{shown(printable(shortened(name, LONGEST_ITEM)))}</bdi>"


def _gone(inside: str) -> str:
    return f'<mark class="butfor-gone">{inside}</mark>'


def _note(note: str) -> str:
    return f'<div class="butfor-notes">{shown(note)}</div>' if note else ""


def notes(why: "Explanation") -> str:
    """Return what is proven and, for a text, what removing means; empty if nothing was found."""
    return " ".join(note for note in (proven(why), removal(why)) if note)


def proven(why: "Explanation") -> str:
    """Return a sentence on whether the answer is proven smallest; empty if nothing was found."""
    if not why:
        return ""
    several = NOUNS[why.unit][1]
    if why.proven_minimum:
        kind = "cheaper" if why.costs else "smaller"
        does = "flips the decision"
        if why.target and why.n_classes > 2:
            does = f"turns the decision to {class_named(why.target)}"
        when = f" when {REMOVED[why.removal]}" if is_text(why) else ""
        return f"Proven: no {kind} set of {several} {does}{when}."
    if why.costs:
        return f"Not proven to be the cheapest: at least a cost of {amount(why.lower_bound)} is needed."
    return f"Not proven to be the smallest: at least {amount(why.lower_bound)} needed."


@cache
def _style(name: str) -> str:
    return (files("butfor._render") / name).read_text(encoding="utf-8")
