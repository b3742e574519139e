"""Supervised models of fastText."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.objects.base import LabelledTexts

WORDS = re.compile(r"[^ \n\r\t\v\f\0]+")
"""Words are what these signs separate."""


@dataclass(eq=False, kw_only=True)
class FastText(LabelledTexts):
    """A supervised model: the mean of the vectors of words, and a softmax or, for each label, a sigmoid."""

    model: Any
    prefix: str
    """What the model writes before each label, such as "__label__"."""
    name: str = "FastText.predict"

    @property
    def identity(self) -> Any:
        """The words, the labels and their vectors."""
        vectors = self.model.get_input_matrix(), self.model.get_output_matrix()
        return self.model.get_words(), self.labels, self.one, vectors

    def scores_of_labels(self, texts: list[str]) -> FloatArray:
        """Return the score of each label for each text."""
        found, scored = self.model.predict(texts, k=-1, threshold=-1.0)
        number = {f"{self.prefix}{label}": i for i, label in enumerate(self.labels)}
        scores = np.zeros((len(found), len(self.labels)))
        for line, labels, own in zip(scores, found, scored, strict=True):
            line[[number[label] for label in labels]] = own
        return scores if self.apart else scores / scores.sum(axis=1, keepdims=True)  # 1 but for some 1e-5

    def tokens(self, text: str) -> Sequence[tuple[int, int]] | None:
        """Return the places of what blanks separate: that is a word to fastText."""
        return [match.span() for match in WORDS.finditer(text)]


def of_fast_text(model: Any) -> FastText:
    """Return a model of fastText as a classifier of texts; raise unless it is supervised."""
    told = model.f.getArgs()
    if told.model.name != "supervised":
        raise InputError(
            f"model must be a supervised model of fastText, got one of the kind {told.model.name}, which has "
            "vectors of words and no labels."
        )
    labels = tuple(label.removeprefix(told.label) for label in model.get_labels())
    return FastText(model=model, prefix=told.label, labels=labels, apart=told.loss.name == "ova")
