"""Explanations as sentences, letters, HTML and plots; all names and texts of users are escaped."""

from butfor._render.html import TITLE, bars, card, fragment, framed, more, page, wrapped
from butfor._render.letters import TEMPLATES, letter
from butfor._render.plain import bracketed, facts, highlighted
from butfor._render.sentences import sentence

__all__ = [
    "TEMPLATES",
    "TITLE",
    "bars",
    "bracketed",
    "card",
    "facts",
    "fragment",
    "framed",
    "highlighted",
    "letter",
    "more",
    "page",
    "sentence",
    "wrapped",
]
