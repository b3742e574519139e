"""A test of a mean that may be looked at after every number, and stopped at any time."""

import math
from dataclasses import dataclass

BOLDEST = 0.75
"""The largest share of the capital that one number may cost."""
MOST = 1e3
"""The largest bet, where the value in question is next to 0."""


@dataclass(eq=False)
class MeanTest:
    """Whether the mean of random numbers between 0 and 1 is above a value, shown by betting on it.

    The capital starts at 1 and is multiplied by 1 + bet · (number - value), where the bet is chosen before
    the number is seen. If the mean is not above the value, the capital cannot be expected to grow, and the
    chance that it ever reaches 1 / alpha is at most alpha (Ville's inequality). So the test holds however
    long one goes on, and whatever the numbers are distributed like (Waudby-Smith and Ramdas, 2024).

    Parameters
    ----------
    value : float
        The value in question, between 0 and 1.

    Examples
    --------
    >>> test = MeanTest(0.5)
    >>> for number in [0.8, 0.7, 0.9, 0.8] * 4:
    ...     test.take(number)
    >>> test.is_shown(0.05), MeanTest(0.5).is_shown(0.05)
    (True, False)
    """

    value: float
    _n: int = 0
    _sum: float = 0.0
    _squares: float = 0.0
    _capital: float = 0.0
    """Its logarithm."""
    _most: float = 0.0
    """The largest that it has been."""

    def take(self, number: float) -> None:
        """Take a number into account."""
        mean = (0.5 + self._sum) / (1 + self._n)
        variance = (0.25 + self._squares) / (1 + self._n)
        edge = mean - self.value
        boldest = min(MOST, BOLDEST / max(self.value, 1e-12))
        bet = min(boldest, max(0.0, edge / max(1e-12, variance + edge * edge)))
        self._capital += math.log1p(bet * (number - self.value))
        self._most = max(self._most, self._capital)
        self._n += 1
        self._sum += number
        self._squares += (number - mean) ** 2

    def is_shown(self, alpha: float) -> bool:
        """Return whether the mean is above the value, where a wrong yes has a chance of at most `alpha`."""
        return self._most >= math.log(1 / alpha)
