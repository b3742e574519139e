"""SHAP-C (Algorithm 2 of the paper): kernel SHAP ranks the units, lin-SEDC removes them."""

from typing import ClassVar

from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.rankings import kernel_shap_weights
from butfor.searches.shared.surrogate import Surrogate


class ShapC(Surrogate):
    """Kernel SHAP ranks the units, lin-sedc removes them from the top.

    On very unbalanced data, where scores are tiny, all weights may be zero, and nothing is found. Use
    `shap-sedc` there.

    Parameters
    ----------
    n_samples : int, default=5000
        How many removal sets kernel SHAP scores.
    """

    name: ClassVar[str] = "shap-c"

    def _weights(self, local: LocalModel, seed: int) -> FloatArray:
        return kernel_shap_weights(local, self.n_samples, seed)
