"""Steps that raise the slopes of linear functions below trees, and with them the bound of their sum.

Their length is Polyak's, and their direction is deflected by the one before (Camerini, Fratta and Maffioli).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from butfor.models.arrays import FloatArray, IntArray
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import Minorant
from butfor.models.compiled import tree_kernels

STEPS = 40
"""How many steps are taken."""
PATIENCE = 5
"""After so many steps without a better bound the steps become shorter."""
SHORTER = 0.7
DEFLECTION = 1.5
WORTH = 0.5
"""A bound is worth a try at fixing units if it leaves at most this share of the gap of the last one."""
LONG = 5_000
"""From this length on scalar products are computed without BLAS."""

QuickMinimum = Callable[[Minorant], tuple[float, IntArray]]
"""Returns the minimum of a minorant over a region, and its minimiser."""
PACE, STALLED, HIGHEST, TRIED, STEEPNESS, N_STEPS, OFFSET, IS_NEW = range(8)


@dataclass(eq=False)
class Ascent:
    """Where the steps stand: those of numpy and compiled ones go on from the same numbers."""

    trees: OpenTrees
    constant: float
    linear: FloatArray
    k: int
    aim: float
    """The bound at which steps aim."""
    best: FloatArray
    """The slopes with the highest bound so far; the array is changed in place."""
    quick_minimum: QuickMinimum | None = None
    """How to find the minimum of a minorant, if it is not the sum of the k lowest coefficients."""
    slopes: FloatArray = field(init=False)
    """The slopes at which the next step is taken."""
    coefficients: FloatArray = field(init=False)
    """Those of the minorant with the highest bound."""
    direction: FloatArray = field(init=False)
    uphill: FloatArray = field(init=False)
    """How much the trees disagreed at the last step: for each pair, the minimiser less the tree's bottom."""
    state: FloatArray = field(init=False)
    """By the names above: the pace; steps without a better bound; the highest bound; the last that was
    returned, relaxed; the squared length of the last direction; steps so far; the offset of the highest
    bound; and whether that has not been returned yet."""

    def __post_init__(self) -> None:
        self.slopes = self.best.copy()
        self.coefficients = np.empty(len(self.linear))
        self.direction, self.uphill = np.zeros_like(self.slopes), np.zeros_like(self.slopes)
        self.state = np.array([1.0, 0.0, -np.inf, -np.inf, 1.0, 0.0, 0.0, 0.0])

    @property
    def minorant(self) -> Minorant:
        """The minorant with the highest bound so far."""
        return Minorant(self.constant + float(self.state[OFFSET]), self.coefficients.copy())

    @property
    def is_new(self) -> bool:
        """Whether it has not been worth a try so far."""
        return bool(self.state[IS_NEW])

    def advance(self) -> bool:
        """Take steps until a bound is worth a try, and return True; return False after the last step."""
        kernels = tree_kernels()
        if kernels is None or self.quick_minimum is not None:
            while self.state[N_STEPS] < STEPS:
                if self._step():
                    return True
            return False
        goal, habits = (self.constant, self.aim, self.k), (STEPS, PATIENCE, SHORTER, DEFLECTION, WORTH)
        changed = (self.slopes, self.best, self.coefficients, self.direction, self.uphill, self.state)
        return bool(kernels.climb(self.trees.flat, goal, habits, self.linear, *changed))

    def _step(self) -> bool:
        """Take one step; return whether the bound before it is worth a try."""
        state, unit_of_pair = self.state, self.trees.unit_of_pair
        bottom = self.trees.bottom(self.slopes)
        by_trees = np.bincount(unit_of_pair, self.slopes, minlength=len(self.linear))
        minorant = Minorant(self.constant + bottom.offset, self.linear + by_trees)
        bound, chosen = (self.quick_minimum or self._lowest)(minorant)
        is_worth = bound > state[TRIED]
        state[N_STEPS] += 1
        state[STALLED] += 1
        if bound > state[HIGHEST]:
            state[STALLED], state[HIGHEST], state[OFFSET], state[IS_NEW] = 0, bound, bottom.offset, 1
            self.best[:] = self.slopes
            self.coefficients[:] = minorant.coefficients
        if is_worth:
            state[TRIED], state[IS_NEW] = max(bound, WORTH * bound), 0
        if state[STALLED] == PATIENCE:
            state[PACE], state[STALLED] = SHORTER * state[PACE], 0
        removed = np.zeros(len(self.linear))
        removed[chosen] = 1.0
        self.uphill[:] = removed[unit_of_pair] - bottom.removed
        back = _dot(self.direction, self.uphill)  # a direction must not go back on the last one
        turn = 0.0 if back >= 0 else -DEFLECTION * back / state[STEEPNESS]
        self.direction[:] = self.uphill + turn * self.direction
        state[STEEPNESS] = _dot(self.direction, self.direction)
        if state[STEEPNESS] < 1e-18:
            state[N_STEPS] = STEPS
        else:
            self.slopes += state[PACE] * (self.aim - bound) / state[STEEPNESS] * self.direction
        return bool(is_worth)

    def _lowest(self, minorant: Minorant) -> tuple[float, IntArray]:
        """Return the minimum of a minorant over sets of at most k units, and its minimiser."""
        c, k = minorant.coefficients, self.k
        chosen = np.argpartition(c, k)[:k] if k < len(c) else np.arange(len(c))
        chosen = chosen[c[chosen] < 0]
        return minorant.constant + float(c[chosen].sum()), chosen


def _dot(one: FloatArray, other: FloatArray) -> float:
    """Return the scalar product; of long vectors without BLAS, whose threads cost more than they save."""
    return float(one @ other if len(one) < LONG else np.einsum("i,i", one, other))
