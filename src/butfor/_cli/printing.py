"""The output of `butfor explain`: sentences, marked texts and facts for a terminal, or JSON."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import typer
from rich.console import Console
from rich.text import Text

from butfor import ButforError, Explanation
from butfor._cli.failing import print_failure
from butfor._files import NumberedRow
from butfor._render import facts
from butfor._render.evidence import Piece, pieces, shown_columns
from butfor._render.words import printable, shortened

AROUND = 60
"""Characters that are shown on each side of a span of evidence."""
PLACES = 20
"""Spans of evidence that are shown, at most."""
LONGEST_LABEL = 60
LONGEST_EVIDENCE = 400
"""Characters of one span of evidence that are shown, at most."""
BREAK = re.compile(r"\s*\n\s*")


class SentenceOptions(TypedDict):
    """Options of `Explanation.sentence`: who is decided upon, and what was decided."""

    subject: str | None
    decision: str | None


@dataclass(frozen=True)
class Printer:
    """Prints explanations and failures, as text or as JSON."""

    options: SentenceOptions
    as_json: bool

    def explanation(self, item: NumberedRow, why: Explanation) -> None:
        """Print one explanation."""
        if self.as_json:
            _print_json({"row": item.number, **why.to_dict()})
            return
        label = _label(item)
        sentence = why.sentence(**self.options)
        lines = [Text.assemble((label, "dim"), (sentence, "bold" if why else ""))]
        if why.table:
            lines += [_indented(line, len(label)) for line in _marked_record(why)]
        if why.text is not None:
            marked = _marked_text(why, why.text).split("\n")
            lines += [_indented(line, len(label)) for line in marked if line.plain.strip()]
        lines.append(_indented(Text(facts(why), "dim"), len(label)))
        console = Console(highlight=False)
        for line in lines:
            console.print(line, soft_wrap=True)

    def failure(self, item: NumberedRow, error: ButforError) -> None:
        """Print the error of one row or text."""
        if self.as_json:
            _print_json({"row": item.number, "error": str(error)})
        print_failure(error, _label(item).strip())


def excerpt(text: Sequence[Piece], around: int = AROUND, places: int = PLACES) -> list[Piece]:
    """Return a text cut down to the spans of evidence and the characters around them.

    >>> excerpt([("Hello and good morning, ", False), ("free", True), (" gifts for all", False)], around=10)
    [('… morning, ', False), ('free', True), (' gifts …', False)]
    """
    if len(text) == 1 and not text[0][1]:
        return [(shortened(text[0][0], 3 * around), False)]
    shown: list[Piece] = []
    n_places = 0
    for i, (piece, gone) in enumerate(text):
        n_places += gone
        if n_places > places:
            n_more = sum(gone for _, gone in text[i:])
            return [*shown, (f"… and {n_more:,} more", False)]
        last = i == len(text) - 1
        cut = (
            shortened(piece, LONGEST_EVIDENCE) if gone else _cut(piece, around * (i > 0), around * (not last))
        )
        shown.append((cut, gone))
    return shown


def _cut(piece: str, first: int, last: int) -> str:
    """Return the first and last characters of a piece, cut between words if possible."""
    if len(piece) <= first + last:
        return piece
    head, tail = piece[:first], piece[len(piece) - last :]
    head = head[: head.rfind(" ") + 1] or head
    tail = tail[max(tail.find(" "), 0) :]
    return f"{head}…{tail}"


def _label(item: NumberedRow) -> str:
    return f"{printable(shortened(item.label, LONGEST_LABEL))}  "


def _marked_record(why: Explanation) -> Iterator[Text]:
    """Yield the columns of a record that are shown, line by line."""
    columns, others = shown_columns(why)
    for name, cell in columns:
        yield Text(f"{printable(shortened(name, LONGEST_LABEL))}: ", "dim").append_text(_marked(cell, " "))
    if others:
        yield Text(f"… and {len(others):,} more columns", "dim")


def _marked_text(why: Explanation, text: str) -> Text:
    """Return the text around the evidence; the evidence is highlighted and in brackets."""
    return _marked(list(pieces(text, why.spans)), "\n")


def _marked(text: Sequence[Piece], line_break: str) -> Text:
    marked = Text()
    for piece, gone in excerpt(text) if text else ():
        piece = printable(BREAK.sub(line_break, piece), keep="\n\t")
        marked.append(f"[{piece}]" if gone else piece, "bold reverse" if gone else "")
    return marked


def _indented(line: Text, width: int) -> Text:
    """Return a line indented, so that no line of a user's text looks like one of ours."""
    return Text(" " * width).append_text(line)


def _print_json(values: Mapping[str, Any]) -> None:
    """Print one line of JSON; control characters are written as JSON escapes, which mean the same."""
    line = json.dumps(values, ensure_ascii=False)
    typer.echo(
        line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
    )
