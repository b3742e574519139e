"""The limits of one explanation, in one object, with units."""

from dataclasses import dataclass

from butfor.checks import require_count, require_seconds


@dataclass(frozen=True)
class Budget:
    """How large an answer may be and how long it may take.

    The defaults are the paper's: at most 30 features, two minutes.

    >>> Budget(max_size=5)
    Budget(max_size=5, max_seconds=120.0)
    >>> Budget(max_size=0)
    Traceback (most recent call last):
    butfor.errors.InputError: max_size must be a whole number of at least 1, got 0.
    """

    max_size: int = 30
    max_seconds: float = 120.0

    def __post_init__(self) -> None:
        require_count("max_size", self.max_size)
        require_seconds("max_seconds", self.max_seconds)

    def largest(self, n_features: int) -> int:
        """Give the most features that an answer may have on a row with so many to remove.

        >>> Budget(max_size=30).largest(12)
        12
        """
        return min(self.max_size, n_features)
