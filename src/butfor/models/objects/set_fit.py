"""Models of SetFit: a SentenceTransformer with a head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.calling.returned import as_outputs
from butfor.models.objects.base import LabelledTexts
from butfor.models.objects.hugging_face import tokens_of
from butfor.models.objects.torch_calls import content_of


@dataclass(eq=False, kw_only=True)
class SetFit(LabelledTexts):
    """A model of SetFit, whose scores are those of its own `predict_proba`."""

    model: Any
    name: str = "SetFitModel.predict_proba"

    @property
    def identity(self) -> Any:
        """The numbers of the SentenceTransformer, and the head."""
        head = self.model.model_head
        known = content_of(head) if hasattr(head, "state_dict") else head
        return content_of(self.model.model_body), known, self.labels, self.one

    def scores_of_labels(self, texts: list[str]) -> FloatArray:
        """Return the score of each label for each text."""
        returned = self.model.predict_proba(texts, as_numpy=True, show_progress_bar=False)
        return np.asarray(as_outputs(returned), dtype=np.float64)

    def tokens(self, text: str) -> Sequence[tuple[int, int]] | None:
        """Return the places of the tokens that the model reads."""
        known = tokens_of(self.model.model_body)
        return None if known is None else known(text)


def of_set_fit(model: Any) -> SetFit:
    """Return a model of SetFit as a classifier of texts."""
    head = model.model_head
    classes = getattr(head, "classes_", None)
    apart = getattr(model, "multi_target_strategy", None) is not None
    labels = model.labels if getattr(model, "labels", None) else classes
    if labels is None:
        labels = range(int(head.out_features)) if hasattr(head, "out_features") else None
    if labels is None:
        raise InputError(
            "model must be fitted, got a SetFitModel whose head knows no classes. Train it first."
        )
    return SetFit(model=model, labels=tuple(labels), apart=apart)
