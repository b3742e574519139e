"""What is known of a model whose scores vary."""

from dataclasses import dataclass

from butfor._checks import is_number, require_count, require_finite
from butfor.errors import InputError


@dataclass(frozen=True)
class Noise:
    """Declares that a model gives the same row another score each time, as language models that sample do.

    The decision is that of the mean score. While butfor searches, a removal set has the mean of `repeats`
    scores. The decision on the row and the flip of the answer are then confirmed with fresh scores, by a
    sequential test: the model is asked until the mean is known to be on one side of the threshold, or
    `max_repeats` is reached. The chance that an explanation is wrong about one of its two decisions is at
    most 1 - `confidence`. Nothing is called proven.

    Parameters
    ----------
    confidence : float, default 0.95
        How sure an answer must be.
    repeats : int, default 5
        How often a removal set is scored while searching.
    max_repeats : int, default 200
        How often the row, and an answer, are scored at most to confirm them.
    low, high : float, default 0.0 and 1.0
        Between which numbers all scores lie. The test needs that.

    Raises
    ------
    InputError
        Where an argument is not what is expected.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> rng = np.random.default_rng(0)
    >>> def votes(X):  # 0 or 1, each time anew
    ...     return (rng.random(X.shape[0]) < 0.1 + X @ np.array([0.5, 0.2, 0.1])).astype(float)
    >>> why = Explainer(votes, threshold=0.5, noise=Noise(confidence=0.99)).explain([1, 1, 1])
    >>> why.columns, why.confidence, why.proven_minimum
    ((0,), 0.99, False)
    """

    confidence: float = 0.95
    repeats: int = 5
    max_repeats: int = 200
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not is_number(self.confidence) or not 0.5 <= self.confidence < 1:
            raise InputError(f"confidence must be a number from 0.5 to below 1, got {self.confidence!r}.")
        require_count("repeats", self.repeats)
        require_count("max_repeats", self.max_repeats, at_least=10)
        require_finite("low", self.low)
        require_finite("high", self.high)
        if self.low >= self.high:
            raise InputError(f"low must be below high, got {self.low:g} and {self.high:g}.")
