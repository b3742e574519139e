"""The default search: what works best for the model at hand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, islice, takewhile
from math import comb, inf
from typing import ClassVar

import numpy as np

from butfor._checks import require_count, require_seconds
from butfor.budget import Budget
from butfor.models.arrays import removal_sets
from butfor.models.local.base import LocalModel
from butfor.models.local.deadline import OutOfBudget, OutOfTime
from butfor.searches.base import Finding, cost_of
from butfor.searches.sedc import SEDC
from butfor.searches.shared.cheapest import cheapest
from butfor.searches.shared.enumeration import search_sizes
from butfor.searches.shared.prefixes import shortest_prefix
from butfor.searches.shared.proving import prove, prove_at_once, prove_size_by_size
from butfor.searches.shared.shrink import shrink
from butfor.searches.thrifty import Thrifty

FIRST_ITERATIONS = SEDC().max_iterations
MORE_ITERATIONS, MOST_SETS = 1_000, 5_000_000
"""The limits of sedc where nothing was found: iterations, and sets that it holds in memory (80 MB)."""


@dataclass(frozen=True)
class Auto:
    """The default search: heuristics first, then as much proof as the limits allow.

    If the model has bounds, it takes lin-sedc's answer; where that is not proven minimum, sedc's; and makes
    it irreducible. The proof is that of `Certified`. It ends as soon as an answer is proven.

    A black box is asked as little as possible: the answer is that of `Thrifty`. For a proof all smaller sets
    are scored, smallest size first, where the sets of a size fit into `max_proof_scorings`, and into
    `max_proof_seconds` at the model's pace. After that the best answer stands, with the lower bound that is
    proven. If nothing was found, the search uses the whole budget: sedc for up to 1,000 iterations, then all
    sets are scored, smallest first, until `max_seconds` or `max_scorings`.

    Parameters
    ----------
    max_proof_seconds : float, default=1.0
        How long a proof may take.
    max_proof_scorings : int, default=5000
        How many sets a proof by scoring may take: as many as LIME or SHAP score for one row.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> why = Explainer(lambda X: X @ np.array([3, 2, 2]), threshold=4, search=Auto()).explain([1, 1, 1])
    >>> why.size, why.proven_minimum
    (2, True)
    """

    name: ClassVar[str] = "auto"
    minimises_cost: ClassVar[bool] = True
    max_proof_seconds: float = 1.0
    max_proof_scorings: int = 5_000

    def __post_init__(self) -> None:
        require_seconds("max_proof_seconds", self.max_proof_seconds)
        require_count("max_proof_scorings", self.max_proof_scorings)

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield better and better answers and bounds, a quick answer first; end once one is proven."""
        if local.costs is not None:
            yield from self._cheapest(local, budget, seed)
        elif local.has_bounds:
            yield from self._by_bounds(local, budget, seed)
        else:
            yield from self._by_asking(local, budget, seed)

    def _by_bounds(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Search and prove with a formula."""
        best = Finding(reason="neither lin-sedc nor sedc found a set that flips")
        tried = -1  # the size of the best finding that one region could not prove
        for heuristic in (_lin_sedc(local, budget), islice(_sedc(local, budget, seed), FIRST_ITERATIONS)):
            for finding in heuristic:
                best = _better(local, best, finding)
                yield best
            if _is_proven(local, budget, best):
                return
            if len(best.removed) != tried:
                for finding in self._limited(local, prove_at_once(local, budget, best)):
                    best = finding
                    yield best
                tried = len(best.removed)
            if _is_proven(local, budget, best):
                return
        if best.removed:
            best = replace(best, removed=shrink(local, best.removed))
            yield best
        proof = prove_size_by_size if len(best.removed) == tried else prove
        for finding in self._limited(local, proof(local, budget, best)):
            best = _better(local, best, finding)
            yield best
        if not _is_proven(local, budget, best):
            limit = f"max_proof_seconds={self.max_proof_seconds:g}"
            yield replace(best, reason=f'{limit} reached; search="certified" goes on to max_seconds')

    def _by_asking(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Search a black box, in stages: each is worth its scorings more than the next."""
        best = Finding()
        for best in Thrifty()(local, budget, seed):
            yield best
        for finding in search_sizes(local, self._sizes_to_search(local, budget, best)):
            best = _better(local, best, finding)
            yield best
        if not (best.removed or _is_proven(local, budget, best)):
            for finding in _until_the_end(local, budget, best, _sedc(local, budget, seed)):
                best = finding
                yield best
        if best.removed and not _is_proven(local, budget, best):
            yield replace(best, reason=self._proof_left(local, budget, best))

    def _proof_left(self, local: LocalModel, budget: Budget, best: Finding) -> str:
        """Return what a proof would still take, and which search goes on from here."""
        n_sets = sum(comb(local.n_features, size) for size in range(best.lower_bound, len(best.removed)))
        first = f"a proof takes {_rounded(n_sets)} scorings"
        if n_sets * local.seconds_a_scoring > self.max_proof_seconds:
            first += f", some {_duration(n_sets * local.seconds_a_scoring)}"
        return f'{first}; search="complete" goes on to max_seconds'

    def _cheapest(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Minimise what the removals cost."""
        best = Finding()
        limited = partial(self._limited, local)
        for best in cheapest(local, budget, limited=limited, max_scorings=self.max_proof_scorings):
            yield best
        if not local.has_bounds and not best.removed and best.cost_bound < inf:
            sedc = _sedc(local, budget, seed)
            for found in _until_the_end(local, budget, Finding(), sedc):
                is_none = not found.removed and _is_proven(local, budget, found)
                bound = inf if is_none else best.cost_bound
                best = replace(best, removed=found.removed, reason=found.reason, cost_bound=bound)
                yield best
        cost = cost_of(local, best.removed) if best.removed else inf
        if best.cost_bound < cost and local.has_bounds:
            limit = f"max_proof_seconds={self.max_proof_seconds:g}"
            yield replace(best, reason=f'{limit} reached; search="certified" goes on to max_seconds')
        elif best.cost_bound < cost and best.removed:
            limit = f"max_proof_scorings={self.max_proof_scorings}"
            yield replace(best, reason=f"{limit} reached; a larger one proves more")

    def _limited(self, local: LocalModel, proof: Iterator[Finding]) -> Iterator[Finding]:
        """Go on with a proof for `max_proof_seconds`."""
        try:
            with local.limited_to(self.max_proof_seconds):
                yield from proof
        except OutOfTime:
            local.check_deadline()  # raises if the whole time is over, not only the time for the proof

    def _sizes_to_search(self, local: LocalModel, budget: Budget, best: Finding) -> list[int]:
        """Return the sizes that could improve on the best and have few enough sets to score all."""
        sizes = range(best.lower_bound, _first_useless_size(local, budget, best))
        costs = accumulate(comb(local.n_features, size) for size in sizes)
        in_time = self.max_proof_seconds / max(1e-9, local.seconds_a_scoring)
        most = min(self.max_proof_scorings, in_time, local.scorings_left)
        affordable = takewhile(lambda cost: cost <= most, costs)
        return [size for size, _ in zip(sizes, affordable, strict=False)]


def _is_proven(local: LocalModel, budget: Budget, best: Finding) -> bool:
    """Return whether nothing better is possible."""
    return _first_useless_size(local, budget, best) <= best.lower_bound


def _first_useless_size(local: LocalModel, budget: Budget, best: Finding) -> int:
    """Return the size from which on no set is better than what is known, or allowed."""
    return len(best.removed) or budget.largest(local.n_features) + 1


def _sedc(local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
    """Run sedc for as many iterations as memory allows."""
    most = MOST_SETS // max(1, local.n_features)
    yield from SEDC(max(FIRST_ITERATIONS, min(MORE_ITERATIONS, most)))(local, budget, seed)


def _until_the_end(
    local: LocalModel, budget: Budget, best: Finding, sedc: Iterator[Finding]
) -> Iterator[Finding]:
    """Search on where nothing was found: sedc as far as it goes, then all sets, smallest first."""
    try:
        for finding in sedc:
            best = _better(local, best, finding)
            yield best
        if best.removed:
            yield replace(best, removed=shrink(local, best.removed))
        else:
            sizes = range(best.lower_bound, budget.largest(local.n_features) + 1)
            for finding in search_sizes(local, sizes):
                best = _better(local, best, finding)
                yield best
    except OutOfBudget as over:
        if best.removed:
            raise
        other = "" if local.costs is not None else ', search="lime-sedc"'
        what_to_try = f"try a larger {over.limit}{other} or groups of features"
        yield replace(best, reason=f"{budget.reached(over.limit)}; {what_to_try}")


def _lin_sedc(local: LocalModel, budget: Budget) -> Iterator[Finding]:
    """Run lin-sedc, and keep what its ranking by single removals proves: whether one unit is enough."""
    scores = local.scores_with_each((), np.arange(local.n_features))
    flipping = local.flips(scores).nonzero()[0]
    if flipping.size:
        yield Finding((int(flipping[np.argmin(scores[flipping])]),))
    else:
        yield shortest_prefix(local, budget, local.score - scores, lower_bound=2)


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


def _rounded(count: int) -> str:
    """Return a number of scorings, large ones rounded.

    >>> _rounded(4950), _rounded(166_650_000)
    ('4,950', 'over 1e+08')
    """
    return f"{count:,}" if count < 1e7 else f"over {10 ** (len(str(count)) - 1):.0e}"


def _duration(seconds: float) -> str:
    """Return how long something takes, roughly.

    >>> _duration(50), _duration(4000), _duration(1e9)
    ('50 s', '67 min', 'many days')
    """
    for unit, length in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 120 * length:
            return f"{seconds / length:.0f} {unit}"
    return "many days"
