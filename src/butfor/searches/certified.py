"""Certified: the smallest set, proven by branch and bound over linear minorants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from butfor.budget import Budget
from butfor.models.local.base import LocalModel
from butfor.searches.base import Finding
from butfor.searches.sedc import SEDC
from butfor.searches.shared.cheapest import cheapest
from butfor.searches.shared.proving import prove


@dataclass(frozen=True)
class Certified:
    """Start from sedc's answer of size s; prove that no set of at most s − 1 units flips, or find one.

    For a region of removal sets the local model has a linear function below the score, a minorant. If its
    minimum over the region lies above the threshold, no set of the region flips. Otherwise the minimiser is
    scored, units are fixed that every flipping set must remove or keep, and the rest of the region is split
    in two.

    The search needs a local model with bounds: scikit-learn's linear models, naive Bayes, neural networks and
    kernel machines, and ensembles of trees. Among minimum sets the answer is the one with the lowest score
    that was met, which is not proven to be the lowest of all.

    Examples
    --------
    A model that is only a function has no bounds. It gets sedc's answer:

    >>> import numpy as np
    >>> from butfor import Explainer
    >>> why = Explainer(lambda X: X @ np.array([3, 2, 2]), threshold=4, search=Certified()).explain([1, 1, 1])
    >>> why.columns, why.reason
    ((0, 1), 'a black box has no bounds to prove with')
    """

    name: ClassVar[str] = "certified"
    minimises_cost: ClassVar[bool] = True

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield sedc's answer, then smaller ones and higher bounds, until they meet."""
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
