"""LIME-C (Algorithm 2 of the paper): LIME ranks the units, lin-SEDC removes them."""

from typing import ClassVar

from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.rankings import lime_weights
from butfor.searches.shared.surrogate import Surrogate


class LimeC(Surrogate):
    """LIME ranks the units, lin-sedc removes them from the top: large answers take no longer than small ones.

    Parameters
    ----------
    n_samples : int, default=5000
        How many removal sets LIME scores.
    """

    name: ClassVar[str] = "lime-c"

    def _weights(self, local: LocalModel, seed: int) -> FloatArray:
        return lime_weights(local, self.n_samples, seed)
