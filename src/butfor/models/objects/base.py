"""What a model of another library is to butfor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.labels import index_of_label
from butfor.models.objects.chain import ChainPart

DOUBT_OF_SINGLES = 1e-4
"""How close to the threshold a score of single precision may be on the other side once the row is alone."""


class AdaptedModel:
    """A model of another library, seen as a classifier of rows or texts.

    Unless it returns labels, the highest score decides, or the threshold.

    Attributes
    ----------
    name : str
        What its scores are called in messages.
    classes_ : sequence
        The classes that it tells apart; empty where it returns one score a row, or where that is not known
        before the first row.
    n_features_in_ : int or None
        How many columns a row has; None where it is not known, and for texts.
    """

    name: str = ""
    classes_: Sequence[Any] = ()
    n_features_in_: int | None = None
    takes_texts: bool = False
    """Whether it reads texts."""
    doubt: float = DOUBT_OF_SINGLES
    """How close to the threshold a score leaves the decision in doubt."""
    ties_to_first: bool = False
    """Whether of two classes with equal scores the first is decided for, as by the highest score."""
    predict: Callable[[Any], Any] | None = None
    """Its own decisions, if it returns labels besides scores."""
    chain: tuple[ChainPart, ...] | None = None
    """The layers of a network on rows, where they are known."""
    mask_token: str | None = None
    """What stands for a word that is not there, if the model has such a token."""

    @property
    def identity(self) -> Any:
        """What equal models have in common, in every process: by its hash a batch knows its model again."""
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the score of each class, one row of them for each row; or one score for each row."""
        raise NotImplementedError

    def of_label(self, label: Any) -> "AdaptedModel":
        """Return the decision about one label, of a model that decides about several labels at once."""
        if label is not None:
            raise InputError(
                f"label must not be given for {self.name}, which makes one decision a row, got {label!r}. To "
                "ask for a flip to a class give target."
            )
        return self

    def tokens(self, text: str) -> Sequence[tuple[int, int]] | None:
        """Return the places of the tokens that it reads in a text; None where they are not known."""
        return None

    def rows(self, rows: Any) -> Any:
        """Return rows as a matrix, where users pass them in a form of the library; else as they are."""
        return rows


@dataclass(eq=False, kw_only=True)
class LabelledTexts(AdaptedModel):
    """A model that gives a text a score for each label.

    Parameters
    ----------
    labels : tuple
        The labels, one for each score; empty where they have no names.
    apart : bool, default False
        Whether each label is decided about by itself, so that a text may have several.
    one : int, optional
        The number of the label in question, then.
    """

    labels: tuple[Any, ...]
    apart: bool = False
    one: int | None = None
    takes_texts = True

    @property
    def ties_to_first(self) -> bool:  # type: ignore[override]
        """Whether the highest score decides, and not the one of the label in question."""
        return self.one is None

    @property
    def classes_(self) -> Sequence[Any]:  # type: ignore[override]
        """The labels; for one label "no" and "yes" as 0 and 1."""
        return (0, 1) if self.one is not None else self.labels if len(self.labels) > 1 else ()

    def of_label(self, label: Any) -> AdaptedModel:
        """Return the decision about one label, where each is decided about by itself."""
        if not self.apart or len(self.labels) < 2:
            return super().of_label(label)
        return replace(self, one=index_of_label(self.name, self.labels, label))

    def predict_proba(self, X: Any) -> Any:
        """Return the score of each label for each text."""
        scores = self.scores_of_labels(list(X))
        if self.one is not None:
            return np.column_stack([1 - scores[:, self.one], scores[:, self.one]])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def scores_of_labels(self, texts: list[str]) -> FloatArray:
        """Return the score of each label for each text (texts × labels)."""
        raise NotImplementedError


def kinds_of(thing: Any) -> list[tuple[str, str]]:
    """Return the class of an object and those above it, each as the names of its library and of the class.

    >>> kinds_of(True)[:2]
    [('builtins', 'bool'), ('builtins', 'int')]
    """
    return [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__]


class AsProbabilities:
    """Makes probabilities of a network's outputs for each class, whatever they are: their order stays.

    Probabilities stay as they are. Logits and logarithms of probabilities become probabilities. Which of them
    the network returns shows in its first outputs. One score a row stays one.

    >>> as_probabilities = AsProbabilities()
    >>> as_probabilities(np.log([[0.25, 0.75]]))
    array([[0.25, 0.75]])
    """

    def __init__(self, are_probabilities: bool | None = None) -> None:
        self.are_probabilities = are_probabilities

    def __call__(self, returned: Any) -> FloatArray:
        """Return probabilities of outputs (rows × classes), or one score a row as it is."""
        outputs: FloatArray = np.asarray(returned, dtype=np.float64)
        if outputs.ndim != 2 or outputs.shape[1] < 2:
            return outputs
        if self.are_probabilities is None:
            self.are_probabilities = add_up_to_one(outputs, 1e-5)
        if not self.are_probabilities:
            return np.asarray(softmax(outputs, axis=1))
        if not add_up_to_one(outputs):
            raise ValueError("probabilities that add up to 1 expected, as for the first rows, got others")
        return outputs


def add_up_to_one(outputs: FloatArray, tolerance: float = 1e-3) -> bool:
    """Return whether each row holds numbers from 0 to 1 that add up to 1.

    >>> add_up_to_one(np.array([[0.25, 0.75]])), add_up_to_one(np.array([[2.0, -1.0]]))
    (True, False)
    """
    within = (outputs >= -tolerance) & (outputs <= 1 + tolerance)
    return bool(within.all() and np.allclose(outputs.sum(axis=1), 1, rtol=0, atol=tolerance))
