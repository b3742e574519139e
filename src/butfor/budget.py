"""The limits of one explanation."""

from dataclasses import dataclass

from butfor._checks import require_count, require_seconds


@dataclass(frozen=True)
class Budget:
    """The limits of one explanation: how large it may be and how long it may take.

    The defaults are the paper's: at most 30 features, two minutes.

    Parameters
    ----------
    max_size : int, default 30
        The most units that an explanation may remove.
    max_seconds : float, default 120.0
        The most seconds that a search may take for one row. Infinity means no limit.

    Raises
    ------
    InputError
        If `max_size` is not a whole number of at least 1, or `max_seconds` is not positive.

    Examples
    --------
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
        """Return the most units that an explanation of a row may remove.

        Parameters
        ----------
        n_features : int
            The number of units of the row that may be removed.

        Returns
        -------
        int
            The smaller of `max_size` and `n_features`.

        Examples
        --------
        >>> Budget(max_size=30).largest(12)
        12
        """
        return min(self.max_size, n_features)
