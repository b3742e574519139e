"""lime-sedc: a hybrid of LIME-C and SEDC, which the paper leaves to further research."""

from typing import ClassVar

from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.rankings import lime_weights
from butfor.searches.shared.hybrid import Hybrid


class LimeSEDC(Hybrid):
    """lime-c's answer, then best-first growth that tries LIME's units first: never larger, often smaller.

    Parameters
    ----------
    n_samples : int or sequence of int, default=5000
        How many removal sets LIME scores. With several numbers, such as (100, 1000, 5000), the search goes
        round by
        round with more samples. It stops once the answer is proven minimum or a round finds nothing smaller.
    max_iterations : int, default=50
        How often a set is grown in each round.
    """

    name: ClassVar[str] = "lime-sedc"

    def _weights(self, local: LocalModel, n_samples: int, seed: int) -> FloatArray:
        return lime_weights(local, n_samples, seed)
