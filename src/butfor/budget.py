"""The limits of one explanation."""

from dataclasses import dataclass

from butfor._checks import require_count, require_positive, require_seconds

FEWEST_SCORINGS = 10
"""The row, a few removal sets, and the row and its answer once more to confirm them."""


@dataclass(frozen=True)
class Budget:
    """The limits of one explanation: how large it may be, how long it may take, what it may ask.

    The defaults are the paper's: at most 30 features, two minutes.

    Parameters
    ----------
    max_size : int, default 30
        The most units that an explanation may remove.
    max_seconds : float, default 120.0
        The most seconds that a search may take for one row. Infinity means no limit.
    max_scorings : int, optional
        The most rows that a black box may be asked to score for one explanation, the row itself and the
        confirmation included. A model that is evaluated by its formula is not limited. None means no limit.
    price : float, optional
        What one scoring costs, in any currency. `Explanation.spent` is what the answer cost then.

    Raises
    ------
    InputError
        If `max_size` is not a whole number of at least 1, `max_seconds` or `price` is not positive, or
        `max_scorings` is not a whole number of at least 10.

    Examples
    --------
    >>> Budget(max_size=5).max_seconds
    120.0
    >>> Budget(max_size=0)
    Traceback (most recent call last):
    butfor.errors.InputError: max_size must be a whole number of at least 1, got 0.
    """

    max_size: int = 30
    max_seconds: float = 120.0
    max_scorings: int | None = None
    price: float | None = None

    def __post_init__(self) -> None:
        require_count("max_size", self.max_size)
        require_seconds("max_seconds", self.max_seconds)
        if self.max_scorings is not None:
            require_count("max_scorings", self.max_scorings, at_least=FEWEST_SCORINGS)
        if self.price is not None:
            require_positive("price", self.price)

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

    def reached(self, limit: str) -> str:
        """Return that a limit is reached, for the reason of an explanation.

        Parameters
        ----------
        limit : str
            The name of the limit.

        Returns
        -------
        str

        Examples
        --------
        >>> Budget(max_seconds=5).reached("max_seconds")
        'max_seconds=5 reached'
        """
        return f"{limit}={getattr(self, limit):g} reached"
