"""What a search is: a function from a local model to findings, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from butfor.budget import Budget
from butfor.errors import SearchError
from butfor.models.local.base import LocalModel


@dataclass(frozen=True)
class Finding:
    """What a search knows so far. Each finding that a search yields replaces the one before.

    Parameters
    ----------
    removed : tuple of int, default=()
        Units (0 … m−1) whose removal flips the decision, in the order of removal. Empty: none found yet.
    lower_bound : int, default=1
        It is proven that no set of fewer units flips the decision.
    reason : str, default=""
        Why the search gives up here. Empty: it reached its goal.
    weights : tuple of float, default=()
        The weights of the removed units, if the search ranks units by weight.
    cost_bound : float, default=0.0
        If units have costs: it is proven that no set that costs less flips the decision. Infinity: no set
        flips.

    Examples
    --------
    >>> Finding(removed=(2, 0), lower_bound=2)
    Finding(removed=(2, 0), lower_bound=2, reason='', weights=(), cost_bound=0.0)
    """

    removed: tuple[int, ...] = ()
    lower_bound: int = 1
    reason: str = ""
    weights: tuple[float, ...] = ()
    cost_bound: float = 0.0


class Search(Protocol):
    """A callable that yields findings, each at least as good as the last, and ends when it is done.

    A search need not watch the clock. Past the deadline the local model raises `OutOfTime`, and the last
    finding counts. The same local model, budget and seed must lead to the same findings.

    A search that minimises costs sets the attribute `minimises_cost` to True and reads `local.costs`.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> def first_unit(local, budget, seed):
    ...     scores = local.scores_with_each((), np.array([0]))
    ...     yield Finding((0,) if local.flips(scores)[0] else ())
    >>> explainer = Explainer(lambda X: X @ np.array([2, 1]), threshold=2, search=first_unit)
    >>> explainer.explain([1, 1]).columns
    (0,)
    """

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Search for the smallest set of units whose removal flips the decision.

        Parameters
        ----------
        local : LocalModel
            The model seen from the row.
        budget : Budget
            The limits, of which a search observes `max_size`.
        seed : int
            The seed of all randomness.

        Yields
        ------
        Finding
            The best removal set so far, and what is proven.
        """
        ...


def cost_of(local: LocalModel, removed: tuple[int, ...]) -> float:
    """Return what these removals cost together: their number, unless units have costs.

    Parameters
    ----------
    local : LocalModel
        The model seen from the row.
    removed : tuple of int
        Units that are removed.

    Returns
    -------
    float
        The sum of their costs.
    """
    return len(removed) if local.costs is None else float(local.costs[list(removed)].sum())


def check_finding(finding: object, local: LocalModel) -> None:
    """Raise unless a search keeps its contract."""
    if not isinstance(finding, Finding):
        raise SearchError(f"a search must yield Finding objects, got {finding!r}.")
    removed = finding.removed
    if removed and not (
        len(set(removed)) == len(removed) and 0 <= min(removed) <= max(removed) < local.n_features
    ):
        raise SearchError(
            f"a finding must remove distinct features from 0 to {local.n_features - 1}, got {removed}."
        )
    if finding.weights and len(finding.weights) != len(removed):
        raise SearchError(
            f"a finding must have a weight for each feature it removes, {removed}, or none, "
            f"got {finding.weights}."
        )
    if removed and (
        finding.lower_bound > len(removed) or finding.cost_bound > (1 + 1e-9) * cost_of(local, removed)
    ):
        bound = finding.lower_bound if local.costs is None else f"a cost of {finding.cost_bound}"
        raise SearchError(f"a finding cannot prove that {bound} features are needed and flip with {removed}.")
