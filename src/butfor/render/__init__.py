"""Explanations made visible; nothing is computed here, and everything from the user is escaped."""

from butfor.render.html import card, marked_items, marked_text, page
from butfor.render.plain import facts

__all__ = ["card", "facts", "marked_items", "marked_text", "page"]
