"""lime-c and shap-c without their ranking: a surrogate model ranks the units, lin-sedc removes them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

from butfor._checks import require_count
from butfor.budget import Budget
from butfor.models.arrays import FloatArray
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding
from butfor.searches.shared.prefixes import shortest_prefix


@dataclass(frozen=True)
class Surrogate(ABC):
    """A search by a ranking that comes from samples."""

    n_samples: int = 5_000

    def __post_init__(self) -> None:
        require_count("n_samples", self.n_samples, at_least=2)

    @abstractmethod
    def _weights(self, local: LocalModel, seed: int) -> FloatArray: ...

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield the shortest prefix of the surrogate's ranking that flips."""
        weights = self._weights(local, seed)
        finding = shortest_prefix(local, budget, weights)
        if not weights.any():
            finding = replace(
                finding, reason=f"all weights are zero: n_samples={self.n_samples} do not tell features apart"
            )
        yield finding
