"""The default: the best that is known for the model at hand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, takewhile
from math import comb, inf
from typing import ClassVar

import numpy as np

from butfor.budget import Budget
from butfor.checks import require_count, require_seconds
from butfor.models.base import LocalModel, OutOfTime, removal_sets
from butfor.searches.base import Finding, cost_of
from butfor.searches.cheapest import cheapest
from butfor.searches.complete import search_sizes
from butfor.searches.lin_sedc import from_the_top
from butfor.searches.proving import largest_better, prove, prove_at_once, prove_size_by_size
from butfor.searches.sedc import SEDC
from butfor.searches.shrink import shrink


@dataclass(frozen=True)
class Auto:
    """lin-sedc's answer, sedc's where that is not proven minimum, made irreducible, proven as far as it goes.

    It ends as soon as an answer is proven. Where the model has bounds the proof is certified's, for
    `max_proof_seconds`; then the best answer stands, with the lower bound that is proven. A black box is
    searched completely, smallest size first, as long as the sets of a size fit into `max_proof_scorings`: as
    many as LIME or SHAP take for one row.
    """

    name: ClassVar[str] = "auto"
    minimises_cost: ClassVar[bool] = True
    max_proof_seconds: float = 1.0
    max_proof_scorings: int = 5_000

    def __post_init__(self) -> None:
        require_seconds("max_proof_seconds", self.max_proof_seconds)
        require_count("max_proof_scorings", self.max_proof_scorings)

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield ever better answers and bounds, a quick answer first; once one is proven, that is all."""
        if local.costs is not None:
            yield from self._cheapest(local, budget)
            return
        best = Finding(reason="neither lin-sedc nor sedc found a set that flips")
        tried = -1  # the size of the best for which one region could not tell
        for heuristic in (_lin_sedc, SEDC()):
            for finding in heuristic(local, budget, seed):
                best = _better(local, best, finding)
                yield best
            if local.has_bounds and len(best.removed) != tried:
                for finding in self._limited(local, prove_at_once(local, budget, best)):
                    best = finding
                    yield best
                tried = len(best.removed)
            if largest_better(local, budget, best) < best.lower_bound:
                return
        if best.removed:
            best = replace(best, removed=shrink(local, best.removed))
            yield best
        if not local.has_bounds:
            proof = search_sizes(local, self._sizes_to_search(local, budget, best))
        elif len(best.removed) == tried:
            proof = self._limited(local, prove_size_by_size(local, budget, best))
        else:
            proof = self._limited(local, prove(local, budget, best))
        for finding in proof:
            best = _better(local, best, finding)
            yield best
        if local.has_bounds and largest_better(local, budget, best) >= best.lower_bound:
            yield replace(best, reason=f"max_proof_seconds={self.max_proof_seconds:g} reached")

    def _cheapest(self, local: LocalModel, budget: Budget) -> Iterator[Finding]:
        """Minimise what the removals cost."""
        best = Finding()
        limited = partial(self._limited, local)
        for best in cheapest(local, budget, limited=limited, max_scorings=self.max_proof_scorings):
            yield best
        cost = cost_of(local, best.removed) if best.removed else inf
        if local.has_bounds and best.cost_bound < cost:
            yield replace(best, reason=f"max_proof_seconds={self.max_proof_seconds:g} reached")

    def _limited(self, local: LocalModel, proof: Iterator[Finding]) -> Iterator[Finding]:
        """Go on with a proof for `max_proof_seconds`."""
        try:
            with local.limited_to(self.max_proof_seconds):
                yield from proof
        except OutOfTime:
            local.check_deadline()  # if it is the whole time that is over, not only the proof's

    def _sizes_to_search(self, local: LocalModel, budget: Budget, best: Finding) -> list[int]:
        """Give the sizes that could improve on the best and are cheap enough to search completely."""
        end = len(best.removed) or budget.largest(local.n_features) + 1
        sizes = range(best.lower_bound, end)
        costs = accumulate(comb(local.n_features, size) for size in sizes)
        affordable = takewhile(lambda cost: cost <= self.max_proof_scorings, costs)
        return [size for size, _ in zip(sizes, affordable, strict=False)]


def _lin_sedc(local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
    """Run lin-sedc, and keep what its ranking by single removals proves: whether one feature is enough."""
    scores = local.scores_with_each((), np.arange(local.n_features))
    flipping = np.flatnonzero(local.flips(scores))
    if flipping.size:
        yield Finding((int(flipping[np.argmin(scores[flipping])]),))
    else:
        yield replace(from_the_top(local, budget, local.score - scores), lower_bound=2)


def _better(local: LocalModel, best: Finding, finding: Finding) -> Finding:
    """Merge two findings: the smaller set, of equally small ones the stronger, and the higher bound."""
    bound = max(best.lower_bound, finding.lower_bound)
    old, new = best.removed, finding.removed
    if not new or (old and len(old) < len(new)):
        return replace(best, lower_bound=bound, reason=finding.reason if old else best.reason)
    if len(old) == len(new) and old != new:
        of_old, of_new = local.scores(removal_sets([old, new], local.n_features))
        new = new if of_new < of_old else old
    return Finding(new, bound, finding.reason)
