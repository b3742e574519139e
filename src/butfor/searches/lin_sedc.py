"""lin-SEDC: remove the units of a ranking from the top (Algorithm 2 of the paper, step 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from butfor.budget import Budget
from butfor.models.local.base import LocalModel
from butfor.rankings import Ranking, removal_weights, weigh
from butfor.searches.base import Finding
from butfor.searches.shared.prefixes import shortest_prefix


@dataclass(frozen=True)
class LinSEDC:
    """Rank the units, remove the top 1, 2, 3, … until the class flips: minimum for linear models.

    Only positive weights count as evidence.

    Parameters
    ----------
    weights : Ranking, default=removal_weights
        The ranking; by default a unit's weight is what its removal does alone.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> why = Explainer(lambda X: X @ np.array([3, 2, 2]), threshold=4, search=LinSEDC()).explain([1, 1, 1])
    >>> why.columns
    (0, 1)
    """

    name: ClassVar[str] = "lin-sedc"
    weights: Ranking = removal_weights

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the shortest prefix of the ranking that flips."""
        yield shortest_prefix(local, budget, weigh(self.weights, local, seed))
