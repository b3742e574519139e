"""What a search is: from a local model to findings, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from butfor.budget import Budget
from butfor.models.base import LocalModel


@dataclass(frozen=True)
class Finding:
    """What a search knows by now; each one that it yields stands in the place of the one before."""

    removed: tuple[int, ...] = ()
    """Features (0 … m−1) whose removal flips the decision, in order of removal; empty: none found yet."""
    lower_bound: int = 1
    """No set of fewer features flips the decision: proven."""
    reason: str = ""
    """Why the search gives up here; empty where it reached its goal."""
    weights: tuple[float, ...] = ()
    """The weights of the removed features, where the search ranks features by weight."""
    cost_bound: float = 0.0
    """No set that costs less flips the decision, where features have costs: proven. Infinite: no set does."""


class Search(Protocol):
    """A callable that yields findings, each at least as good as the last, and ends when it is done.

    It need not watch the clock: past the deadline the local model raises `OutOfTime`, and the last finding
    stands. The same local model, budget and seed must give the same findings.
    """

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Search for the smallest set of features whose removal flips the decision."""
        ...


def cost_of(local: LocalModel, removed: tuple[int, ...]) -> float:
    """Give what these removals cost together: their number, unless features have costs."""
    return len(removed) if local.costs is None else float(local.costs[list(removed)].sum())
