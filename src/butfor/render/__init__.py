"""Explanations made visible; nothing is computed here, and everything from the user is escaped."""

from butfor.render.html import TITLE, bars, card, fragment, framed, more, page, wrapped
from butfor.render.letters import TEMPLATES, letter
from butfor.render.plain import bracketed, facts, highlighted
from butfor.render.sentences import sentence

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
