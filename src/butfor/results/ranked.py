"""The features of one row with their weights: the result of a ranking."""

from typing import Any, SupportsIndex, overload

from butfor._extras import optional
from butfor._render import bars, framed, wrapped
from butfor._render.words import check_at_most


class Ranked(list[tuple[str, float]]):
    """A list of (name, weight), highest weight first, that can show itself; see `Explainer.rank`.

    Parameters
    ----------
    iterable : iterable of (str, float)
        Names and weights, highest weight first.

    Examples
    --------
    >>> ranked = Ranked([("free", 0.5), ("prize", 0.25), ("mum", -1.0)])
    >>> ranked[0], ranked[:2] == [("free", 0.5), ("prize", 0.25)]
    (('free', 0.5), True)
    >>> ranked.to_dict()
    {'feature': ['free', 'prize', 'mum'], 'weight': [0.5, 0.25, -1.0]}
    >>> ranked.strongest(2)
    [('free', 0.5), ('mum', -1.0)]
    """

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[str, float]: ...

    @overload
    def __getitem__(self, index: slice) -> "Ranked": ...

    def __getitem__(self, index: SupportsIndex | slice) -> "tuple[str, float] | Ranked":
        return Ranked(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def strongest(self, at_most: int) -> "Ranked":
        """Return the largest weights, for the decision or against it, in their order.

        Parameters
        ----------
        at_most : int
            How many to return.

        Returns
        -------
        Ranked
        """
        check_at_most(at_most)
        by_size = sorted(range(len(self)), key=lambda i: -abs(self[i][1]))
        return Ranked(self[i] for i in sorted(by_size[:at_most]))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return names and weights as two columns, ready for JSON or a data frame.

        Returns
        -------
        dict
            Lists of equal length under "feature" and "weight".
        """
        return {"feature": [name for name, _ in self], "weight": [weight for _, weight in self]}

    def to_frame(self) -> Any:
        """Return a data frame with the columns feature and weight: `pip install "butfor[frame]"`.

        Returns
        -------
        pandas.DataFrame
        """
        return optional("pandas", extra="frame").DataFrame(self.to_dict())

    def plot(self, ax: Any = None, *, at_most: int = 20) -> Any:
        """Draw the strongest weights as bars.

        Needs matplotlib: `pip install "butfor[plot]"`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        at_most : int, default 20
            How many weights are drawn.

        Returns
        -------
        matplotlib Figure, or `ax` if it was given
        """
        shown = self.strongest(at_most)
        return optional("butfor._render.plots", extra="plot").plot_bars(
            [name for name, _ in shown],
            [weight for _, weight in shown],
            ax,
            xlabel=f"evidence for the decision{self._left_out(shown)}",
        )

    def _repr_html_(self) -> str:
        shown = self.strongest(20)
        rows = [(name, weight, f"{weight:.3g}") for name, weight in shown]
        caption = (
            "Evidence for the decision; below zero: against it" if rows else "No active features to rank"
        )
        return wrapped(framed(bars(rows, caption=f"{caption}{self._left_out(shown)}")))

    def _left_out(self, shown: "Ranked") -> str:
        n_more = len(self) - len(shown)
        return f" ({n_more:,} weaker not shown)" if n_more else ""
