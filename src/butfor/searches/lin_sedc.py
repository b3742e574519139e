"""lin-SEDC: remove the features of a ranking from the top (Algorithm 2 of the paper, step 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.models.base import FloatArray, LocalModel
from butfor.rankings import Ranking, removal_weights, weigh
from butfor.searches.base import Finding


@dataclass(frozen=True)
class LinSEDC:
    """Rank the features, remove the top 1, 2, 3, … until the class flips: minimum for linear models.

    Only positive weights count as evidence. The default ranking is what each removal does alone.
    """

    name: ClassVar[str] = "lin-sedc"
    weights: Ranking = removal_weights

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the shortest prefix of the ranking that flips."""
        yield from_the_top(local, budget, weigh(self.weights, local, seed))


def from_the_top(local: LocalModel, budget: Budget, weights: FloatArray) -> Finding:
    """Find the shortest prefix of a ranking that flips: only positive weights, at most `max_size`."""
    ranking = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights > 0)][: budget.max_size]
    if not len(ranking):
        return Finding(reason="no feature has a positive weight")
    prefixes = np.zeros((len(ranking), local.n_features), dtype=bool)
    prefixes[:, ranking] = np.tri(len(ranking), dtype=bool)
    flipping = np.flatnonzero(local.flips(local.scores(prefixes)))
    if not flipping.size:
        return Finding(reason=f"removing the {len(ranking)} top-ranked features does not flip the decision")
    removed = ranking[: flipping[0] + 1]
    return Finding(tuple(map(int, removed)), weights=tuple(map(float, weights[removed])))
