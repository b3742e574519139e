"""LIME-C and SHAP-C (Algorithm 2 of the paper): a surrogate ranks the features, lin-SEDC removes them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from butfor.budget import Budget
from butfor.checks import require_count
from butfor.models.base import FloatArray, LocalModel
from butfor.rankings import kernel_shap_weights, lime_weights
from butfor.searches.base import Finding
from butfor.searches.lin_sedc import from_the_top


@dataclass(frozen=True)
class _Surrogate(ABC):
    n_samples: int = 5_000

    def __post_init__(self) -> None:
        require_count("n_samples", self.n_samples, at_least=2)

    @abstractmethod
    def _weights(self, local: LocalModel, seed: int) -> FloatArray: ...

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the shortest prefix of the surrogate's ranking that flips."""
        weights = self._weights(local, seed)
        finding = from_the_top(local, budget, weights)
        if not weights.any():
            finding = replace(
                finding, reason=f"all weights are zero: n_samples={self.n_samples} do not tell features apart"
            )
        yield finding


class LimeC(_Surrogate):
    """LIME ranks the features, lin-sedc removes them from the top: large answers cost no more than small."""

    name: ClassVar[str] = "lime-c"

    def _weights(self, local: LocalModel, seed: int) -> FloatArray:
        return lime_weights(local, self.n_samples, seed)


class ShapC(_Surrogate):
    """Kernel SHAP ranks the features, lin-sedc removes them from the top.

    On very unbalanced data, where scores are tiny, all weights may come out as zero, and nothing is found:
    then use `shap-sedc`.
    """

    name: ClassVar[str] = "shap-c"

    def _weights(self, local: LocalModel, seed: int) -> FloatArray:
        return kernel_shap_weights(local, self.n_samples, seed)
