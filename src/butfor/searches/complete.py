"""Complete search: every set of one unit, of two, of three, …"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from butfor.budget import Budget
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding
from butfor.searches.shared.enumeration import search_sizes


@dataclass(frozen=True)
class Complete:
    """Score all sets of size 1, then 2, …; the answer is the strongest flip of the first size that has one.

    It proves its answer on any model, in exponential time and constant memory.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> why = Explainer(lambda X: X @ np.array([3, 2, 2]), threshold=4, search=Complete()).explain([1, 1, 1])
    >>> why.size, why.proven_minimum
    (2, True)
    """

    name: ClassVar[str] = "complete"

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield each proven size, and each set of the flipping size that is stronger than the last."""
        return search_sizes(local, range(1, budget.largest(local.n_features) + 1))
