"""Explanations in a terminal: the sentence, the text with the evidence marked, a line of facts; or JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import typer
from rich.console import Console
from rich.text import Text

from butfor import ButforError, Explanation
from butfor.files import Item
from butfor.render import facts
from butfor.render.evidence import Piece, pieces
from butfor.render.words import printable, shortened
from butfor.terminal import print_error, print_warning

AROUND = 60
"""Characters that are shown on each side of a place of the evidence."""
PLACES = 20
"""Places of the evidence that are shown, at most."""
LONGEST_LABEL = 60
LONGEST_EVIDENCE = 400
"""Characters of a sentence that is evidence."""
BREAK = re.compile(r"\s*\n\s*")


class Words(TypedDict):
    """Who is decided upon, and what was decided, for the sentence."""

    subject: str | None
    decision: str | None


@dataclass(frozen=True)
class Printer:
    """Print explanations and failures as they come."""

    words: Words
    as_json: bool

    def explanation(self, item: Item, why: Explanation) -> None:
        """Print one explanation."""
        if self.as_json:
            _print_json({"row": item.number, **why.to_dict()})
            return
        label = _label(item)
        said = why.sentence(**self.words)
        lines = [Text.assemble((label, "dim"), (said, "bold" if why else ""))]
        if why.text is not None:
            marked = _marked_text(why, why.text).split("\n")
            lines += [_indented(line, len(label)) for line in marked if line.plain.strip()]
        lines.append(_indented(Text(facts(why), "dim"), len(label)))
        console = Console(highlight=False)
        for line in lines:
            console.print(line, soft_wrap=True)

    def failure(self, item: Item, error: ButforError) -> None:
        """Print what went wrong with one row or text."""
        if self.as_json:
            _print_json({"row": item.number, "error": str(error)})
        print_failure(error, _label(item).strip())


def print_failure(error: ButforError, label: str = "") -> None:
    """Print an error, and of whom; names in it are shown, never obeyed."""
    print_error(printable(f"{label}: {error}" if label else str(error)))


def print_unknown(warning: str) -> None:
    """Print a warning; names in it are shown, never obeyed."""
    print_warning(printable(warning))


def excerpt(text: Sequence[Piece], around: int = AROUND, places: int = PLACES) -> list[Piece]:
    """Cut a text down to the places of the evidence and what stands around them.

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
    """Keep about so many characters at the start of a piece, and at its end; whole words, if it has any."""
    if len(piece) <= first + last:
        return piece
    head, tail = piece[:first], piece[len(piece) - last :]
    head = head[: head.rfind(" ") + 1] or head
    tail = tail[max(tail.find(" "), 0) :]
    return f"{head}…{tail}"


def _label(item: Item) -> str:
    return f"{printable(shortened(item.label, LONGEST_LABEL))}  "


def _marked_text(why: Explanation, text: str) -> Text:
    """Give the text around the evidence, which stands out, and is in brackets where there is no colour."""
    marked = Text()
    for piece, gone in excerpt(list(pieces(text, why.spans))):
        piece = printable(BREAK.sub("\n", piece), keep="\n\t")
        marked.append(f"[{piece}]" if gone else piece, "bold reverse" if gone else "")
    return marked


def _indented(line: Text, width: int) -> Text:
    """Indent a line: so no line of a text can be taken for one of ours."""
    return Text(" " * width).append_text(line)


def _print_json(values: Mapping[str, Any]) -> None:
    """Print one line of JSON; what a terminal could obey is written as an escape, which reads the same."""
    line = json.dumps(values, ensure_ascii=False)
    typer.echo(
        line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
    )
