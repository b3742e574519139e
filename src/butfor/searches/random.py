"""The paper's baseline: remove units at random."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding


@dataclass(frozen=True)
class Random:
    """Remove random units, each only if the score drops, until the flip: a baseline for other searches.

    As in the paper it has no limit on the size.
    """

    name: ClassVar[str] = "random"

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the set at which the decision flips."""
        lowest = local.score
        removed: tuple[int, ...] = ()
        for unit in np.random.default_rng(seed).permutation(local.n_features):
            score = local.scores_with_each(removed, np.array([unit]))
            if score[0] < lowest:
                lowest = score[0]
                removed = (*removed, int(unit))
                if local.flips(score)[0]:
                    yield Finding(removed)
                    return
        yield Finding(reason="every feature was tried once without a flip")
