"""Text categorizers of spaCy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.objects.base import LabelledTexts, kinds_of


@dataclass(eq=False, kw_only=True)
class SpacyPipeline(LabelledTexts):
    """A pipeline with a text categorizer, whose scores are those in `doc.cats`."""

    nlp: Any
    name: str = "doc.cats"

    @property
    def identity(self) -> Any:
        """The pipeline as spaCy writes it to disk."""
        return self.nlp.to_bytes(), self.one

    def scores_of_labels(self, texts: list[str]) -> FloatArray:
        """Return the score of each label for each text."""
        return np.array([[doc.cats[label] for label in self.labels] for doc in self.nlp.pipe(texts)])

    def tokens(self, text: str) -> Sequence[tuple[int, int]] | None:
        """Return the places of spaCy's own tokens."""
        return [(token.idx, token.idx + len(token.text)) for token in self.nlp.make_doc(text)]


def of_language(nlp: Any) -> SpacyPipeline:
    """Return a pipeline of spaCy as a classifier of texts; raise where it has no text categorizer."""
    for _, component in nlp.pipeline:
        kinds = [name for _, name in kinds_of(component)]
        if "TextCategorizer" in kinds:
            apart = "MultiLabel_TextCategorizer" in kinds
            return SpacyPipeline(nlp=nlp, labels=tuple(component.labels), apart=apart)
    raise InputError(
        "model must be a pipeline with a text categorizer, got a pipeline of spaCy with "
        f"{', '.join(nlp.pipe_names) or 'no components'}."
    )
