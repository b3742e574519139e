"""Certified: the smallest set, proven by branch and bound over linear minorants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from butfor.budget import Budget
from butfor.models.base import LocalModel
from butfor.searches.base import Finding
from butfor.searches.cheapest import cheapest
from butfor.searches.proving import prove
from butfor.searches.sedc import SEDC


@dataclass(frozen=True)
class Certified:
    """From sedc's answer of size s: prove that no set of at most s − 1 features flips, or find one.

    For a region of sets the local model gives a linear function below the score. If its minimum over the
    region lies above the threshold no set of the region flips. Otherwise the minimiser is scored, features
    are settled that every flipping set must remove or keep, and what is left is split in two.

    Needs a local model with bounds: scikit-learn's linear models, naive Bayes, neural networks and kernel
    machines. Among minimum sets the answer is the one with the lowest score that was met, which is not proven
    to be the lowest of all.
    """

    name: ClassVar[str] = "certified"
    minimises_cost: ClassVar[bool] = True

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield sedc's answer, then ever smaller ones and ever higher bounds, until they meet."""
        if local.costs is not None:
            yield from cheapest(local, budget)
            return
        best = Finding()
        for finding in SEDC()(local, budget, seed):
            best = replace(finding, reason="")
            yield best
        if local.has_bounds:
            yield from prove(local, budget, best)
        else:
            yield replace(best, reason=f"a {local.kind} has no bounds to prove with")
