"""shap-sedc: a hybrid of SHAP-C and SEDC, which the paper leaves to further research."""

from typing import ClassVar

from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.rankings import kernel_shap_weights
from butfor.searches.shared.hybrid import Hybrid


class ShapSEDC(Hybrid):
    """shap-c's answer, then best-first growth that tries SHAP's units first: never larger, often smaller.

    Where all weights of shap-c are zero, units are selected on scores of unit size.

    Parameters
    ----------
    n_samples : int or sequence of int, default=5000
        How many removal sets kernel SHAP scores. With several numbers, such as (100, 1000, 5000), the search
        goes
        round by round with more samples. It stops once the answer is proven minimum or a round finds nothing
        smaller.
    max_iterations : int, default=50
        How often a set is grown in each round.
    """

    name: ClassVar[str] = "shap-sedc"

    def _weights(self, local: LocalModel, n_samples: int, seed: int) -> FloatArray:
        return kernel_shap_weights(local, n_samples, seed, any_scale=True)
