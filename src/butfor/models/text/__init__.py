"""Texts: their words, where these stand, and which columns of a row they touch."""

from butfor.models.text.cutting import CutText
from butfor.models.text.front import steps_of_texts
from butfor.models.text.leaves import Leaf
from butfor.models.text.pipelines import TextModel, split_text_model
from butfor.models.text.spans import Span, places_of_runs, sentences_of, without, words_of
from butfor.models.text.text_units import UNITS, TextUnits, require_unit, units_by_tokens, units_of_text

__all__ = [
    "UNITS",
    "CutText",
    "Leaf",
    "Span",
    "TextModel",
    "TextUnits",
    "places_of_runs",
    "require_unit",
    "sentences_of",
    "split_text_model",
    "steps_of_texts",
    "units_by_tokens",
    "units_of_text",
    "without",
    "words_of",
]
