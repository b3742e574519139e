"""What a model of another library is to butfor."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from butfor.errors import InputError
from butfor.models.arrays import FloatArray

DOUBT_OF_SINGLES = 1e-4
"""How close to the threshold a score of single precision may be on the other side once the row is alone."""


class AdaptedModel:
    """A model of another library, seen as a classifier of rows or texts.

    It has scores and no decision of its own: the highest score decides, or the threshold.

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
    method: str = ""
    """What its scores are read as where it returns one a row and its formula is known; else empty."""
    mask_token: str | None = None
    """What stands for a word that is not there, if the model has such a token."""

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


def kinds_of(thing: Any) -> list[tuple[str, str]]:
    """Return the class of an object and those above it, each as the names of its library and of the class.

    >>> kinds_of(True)[:2]
    [('builtins', 'bool'), ('builtins', 'int')]
    """
    return [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__]


def index_of_label(name: str, labels: Sequence[Any], label: Any) -> int:
    """Return the number of the label in question, of a model that decides about several at once."""
    listed = ", ".join(map(repr, labels))
    if label is None:
        raise InputError(
            f"label must be given, as {name} decides about {len(labels):,} labels at once: one of {listed}."
        )
    for index, known in enumerate(labels):
        if type(label) is not bool and (known == label or str(known) == str(label)):
            return index
    raise InputError(f"label must be one of {listed}, got {label!r}.")


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

    def __call__(self, outputs: Any) -> FloatArray:
        outputs = np.asarray(outputs, dtype=np.float64)
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
