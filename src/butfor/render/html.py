"""A self-contained HTML page of explanations: no script, no outside resource, light and dark."""

import re
from collections.abc import Collection, Iterable
from html import escape
from importlib.resources import files

from butfor.explanation import Explanation
from butfor.render.plain import facts

TOKEN = re.compile(r"\b\w\w+\b")
"""What scikit-learn's vectorisers take for a word."""


def page(title: str, sections: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Write a whole page: a title, and under each heading some cards."""
    style = (files("butfor.render") / "page.css").read_text(encoding="utf-8")
    body = "".join(f"<h2>{escape(heading)}</h2>{''.join(cards)}" for heading, cards in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )


def card(why: Explanation, evidence: str, *, heading: str) -> str:
    """Show one explanation: the sentence, the evidence (HTML of `marked_text` or `marked_items`), a scale."""
    return (
        f'<article><h3>{escape(heading)}</h3><p class="sentence">{escape(str(why))}</p>'
        f'{evidence}{_scale(why)}<p class="facts">{escape(facts(why))}</p></article>'
    )


def marked_text(text: str, words: Collection[str]) -> str:
    """Mark every occurrence of the (lower-case) words in a text.

    >>> marked_text("FREE <b>prize</b>", ["free"])
    '<p class="body"><mark>FREE</mark> &lt;b&gt;prize&lt;/b&gt;</p>'
    """
    pieces, end = [], 0
    for match in TOKEN.finditer(text):
        if match[0].lower() in words:
            pieces += [escape(text[end : match.start()]), f"<mark>{escape(match[0])}</mark>"]
            end = match.end()
    return f'<p class="body">{"".join(pieces)}{escape(text[end:])}</p>'


def marked_items(names: Iterable[str], removed: Collection[str]) -> str:
    """List a row's items with the removed ones marked, those first."""
    ordered = sorted(names, key=lambda name: name not in removed)
    items = (f"<li{' class=gone' if name in removed else ''}>{escape(name)}</li>" for name in ordered)
    return f'<ul class="body">{"".join(items)}</ul>'


def _scale(why: Explanation) -> str:
    """Draw the score before and after against the threshold."""
    values = (why.score, why.score_without, why.threshold)
    low, high = (0.0, 1.0) if all(0 <= value <= 1 for value in values) else (min(values), max(values))

    def x(value: float) -> float:
        return round(90 + 420 * (value - low) / ((high - low) or 1.0), 1)

    dots = [(x(why.score), "before", why.score)]
    if why:
        dots = sorted([*dots, (x(why.score_without), "after", why.score_without)])
    crowded = dots[-1][0] - dots[0][0] < 90 and bool(why)
    anchors = ("end", "start") if crowded else ("middle", "middle")
    marks = "".join(
        f'<circle class="{label}" cx="{at}" cy="24" r="6"/>'
        f'<text x="{at}" y="13" text-anchor="{anchor}">{label} {value:.3g}</text>'
        for (at, label, value), anchor in zip(dots, anchors, strict=False)
    )
    t = x(why.threshold)
    return (
        f'<svg viewBox="0 0 600 58" role="img" aria-label="score {why.score:.3g}, without the evidence '
        f'{why.score_without:.3g}, threshold {why.threshold:.3g}">'
        '<line class="axis" x1="90" y1="24" x2="510" y2="24"/>'
        f'<line class="threshold" x1="{t}" y1="14" x2="{t}" y2="36"/>'
        f'<text x="{t}" y="52" text-anchor="middle">threshold {why.threshold:.3g}</text>{marks}</svg>'
    )
