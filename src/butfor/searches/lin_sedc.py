"""lin-SEDC: remove the features of a ranking from the top (Algorithm 2 of the paper, step 2)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.models.base import FloatArray, LocalModel
from butfor.rankings import removal_weights
from butfor.searches.base import Finding


@dataclass(frozen=True)
class LinSEDC:
    """Rank the features, remove the top 1, 2, 3, … until the class flips: minimum for linear models.

    Only positive weights count as evidence. The default ranking is what each removal does alone.
    """

    name: ClassVar[str] = "lin-sedc"
    weights: Callable[[LocalModel], FloatArray] = removal_weights

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the shortest prefix of the ranking that flips."""
        weights = self.weights(local)
        ranking = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights > 0)]
        ranking = ranking[: budget.max_size]
        if not len(ranking):
            yield Finding(reason="no feature has a positive weight")
            return
        prefixes = np.zeros((len(ranking), local.n_features), dtype=bool)
        prefixes[:, ranking] = np.tri(len(ranking), dtype=bool)
        flipping = np.flatnonzero(local.flips(local.scores(prefixes)))
        if flipping.size:
            yield Finding(tuple(map(int, ranking[: flipping[0] + 1])))
        else:
            yield Finding(
                reason=f"removing the {len(ranking)} top-ranked features does not flip the decision"
            )
