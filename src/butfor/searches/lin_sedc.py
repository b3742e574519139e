"""lin-SEDC: remove the features of a ranking from the top (Algorithm 2 of the paper, step 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.models.base import FloatArray, IntArray, LocalModel
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
        yield Prefixes(local, budget, weigh(self.weights, local, seed)).finding()


class Prefixes:
    """The top 1, 2, 3, … features of a ranking, scored: only positive weights, at most `max_size`."""

    def __init__(self, local: LocalModel, budget: Budget, weights: FloatArray) -> None:
        self._weights = weights
        order = np.argsort(-weights, kind="stable")
        self.ranking: IntArray = order[: np.count_nonzero(weights > 0)][: budget.max_size]
        sets = np.zeros((len(self.ranking), local.n_features), dtype=bool)
        sets[:, self.ranking] = np.tri(len(self.ranking), dtype=bool)
        self.scores = local.scores(sets)
        flips = local.flips(self.scores)
        self.n_without_flip = int(np.argmax(flips)) if flips.any() else len(flips)
        """How many of them come before the first that flips."""

    def finding(self) -> Finding:
        """Give the shortest prefix that flips, or why there is none."""
        if self.n_without_flip < len(self.ranking):
            removed = self.ranking[: self.n_without_flip + 1]
            return Finding(tuple(map(int, removed)), weights=tuple(map(float, self._weights[removed])))
        if len(self.ranking):
            return Finding(
                reason=f"removing the {len(self.ranking)} top-ranked features does not flip the decision"
            )
        return Finding(reason="no feature has a positive weight")
