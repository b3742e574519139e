"""The default: the best that is known for the model at hand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from math import comb
from typing import ClassVar

from butfor.budget import Budget
from butfor.checks import require_count
from butfor.models.base import LocalModel
from butfor.searches.base import Finding, removal_sets
from butfor.searches.complete import search_sizes
from butfor.searches.lin_sedc import LinSEDC
from butfor.searches.sedc import SEDC
from butfor.searches.shrink import shrink


@dataclass(frozen=True)
class Auto:
    """The smaller answer of lin-sedc and sedc, made irreducible, and proven minimum where that is cheap.

    Sizes below the answer's are searched completely, smallest first, as long as their sets fit into
    `max_proof_scorings`: as many as LIME or SHAP take for one row.
    """

    name: ClassVar[str] = "auto"
    max_proof_scorings: int = 5_000

    def __post_init__(self) -> None:
        require_count("max_proof_scorings", self.max_proof_scorings)

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield ever better answers and bounds, a quick answer first."""
        best = Finding(reason="neither lin-sedc nor sedc found a set that flips")
        for heuristic in (LinSEDC(), SEDC()):
            for finding in heuristic(local, budget, seed):
                best = _better(local, best, finding)
                yield best
        if len(best.removed) > best.lower_bound:
            best = replace(best, removed=shrink(local, best.removed))
            yield best
        for finding in search_sizes(local, self._sizes_to_prove(local, budget, best)):
            best = _better(local, best, finding)
            yield best

    def _sizes_to_prove(self, local: LocalModel, budget: Budget, best: Finding) -> list[int]:
        """Give the sizes that could improve on the best and are cheap enough to search completely."""
        end = len(best.removed) or min(budget.max_size, local.n_features) + 1
        sizes = range(best.lower_bound, end)
        costs = accumulate(comb(local.n_features, size) for size in sizes)
        return [size for size, cost in zip(sizes, costs, strict=True) if cost <= self.max_proof_scorings]


def _better(local: LocalModel, best: Finding, finding: Finding) -> Finding:
    """Merge two findings: the smaller set, of equally small ones the stronger, and the higher bound."""
    bound = max(best.lower_bound, finding.lower_bound)
    old, new = best.removed, finding.removed
    if not new or (old and len(old) < len(new)):
        return replace(best, lower_bound=bound)
    if len(old) == len(new) and old != new:
        of_old, of_new = local.scores(removal_sets([old, new], local.n_features))
        new = new if of_new < of_old else old
    return Finding(new, bound)
