"""Searches that were there before, or elsewhere, for black boxes: what `benchmarks.calls` compares with."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from math import comb

import numpy as np

from butfor import SEDC, Budget, Finding, LocalModel
from butfor.models import removal_sets
from butfor.searches.shared.enumeration import search_sizes
from butfor.searches.shared.prefixes import shortest_prefix
from butfor.searches.shared.shrink import shrink

ABLATABLE, ABLATIONS = 10, 5
"""LIT's limits: the tokens that it considers, and how many of them it removes."""


def ablation_flip(local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
    """Search as LIT's Ablation Flip does: all sets of up to five of the ten strongest single removals.

    LIT asks the model about one set after the other. It goes on to ten answers; here it stops at the first.
    """
    singles = local.scores_with_each((), np.arange(local.n_features))
    strongest = np.argsort(singles, kind="stable")[:ABLATABLE].tolist()
    for size in range(1, min(len(strongest), ABLATIONS) + 1):
        for removed in combinations(strongest, size):
            if local.flips(local.scores(removal_sets([removed], local.n_features)))[0]:
                yield Finding(removed)
                return
    yield Finding(reason="no set of up to five of the ten strongest tokens flips the decision")


def auto_of_0_1(local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
    """Search as `auto` did on black boxes in version 0.1: lin-sedc, sedc, shrink, then up to 5,000 sets."""
    singles = local.scores_with_each((), np.arange(local.n_features))
    flipping = np.flatnonzero(local.flips(singles))
    if flipping.size:
        yield Finding((int(flipping[np.argmin(singles[flipping])]),))
        return
    best = replace(shortest_prefix(local, budget, local.score - singles), lower_bound=2, weights=())
    yield best
    if len(best.removed) == best.lower_bound:
        return
    for finding in islice(SEDC()(local, budget, seed), SEDC().max_iterations):
        bound = max(best.lower_bound, finding.lower_bound)
        smaller = finding.removed and not 0 < len(best.removed) <= len(finding.removed)
        best = replace(best, removed=finding.removed if smaller else best.removed, lower_bound=bound)
        yield best
    if best.removed:
        best = replace(best, removed=shrink(local, best.removed))
        yield best
    largest, n_sets, sizes = len(best.removed) or budget.largest(local.n_features) + 1, 0, []
    for size in range(best.lower_bound, largest):
        n_sets += comb(local.n_features, size)
        if n_sets > 5_000:
            break
        sizes.append(size)
    for finding in search_sizes(local, sizes):
        best = replace(finding, removed=finding.removed or best.removed)
        yield best
