"""Bounds for kernel machines: thousands of neurons of both signs, for which lines would add up their errors.

Below each weight · φ lies a parabola that touches it at the candidate set. Since r² = r, their sum is one
quadratic function of the removals, in which opposite signs cancel before anything is bounded. Its minimum
over at most k removals is bounded unit by unit (Gilmore and Lawler): by what a unit does, alone and with the
k − 1 others that go best with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.region import Minorant, TouchingRegion
from butfor.models.formula.activations import Curved

MAX_PAIRS = 500_000
"""How many pairs of units are held at once."""
MAX_PRODUCTS = 3_000_000
"""How many numbers are multiplied before the deadline is checked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticRegion(TouchingRegion):
    """A region of sets for the score constant + Σ weights · φ(z − r · drops)."""

    constant: float
    activation: Curved
    weights: FloatArray
    z: FloatArray
    drops: Any
    """CSR, free units × neurons."""

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "QuadraticRegion":
        return replace(
            self,
            z=self.z - self.drops.T @ gone.astype(np.float64),
            drops=self.drops[np.flatnonzero(stays)],
            candidate=self.candidate[stays],
        ).without_idle_neurons()

    def without_idle_neurons(self) -> "QuadraticRegion":
        """Move the neurons that no free unit changes into the constant."""
        moved = np.bincount(self.drops.indices, minlength=len(self.z)) > 0
        idle = self.weights[~moved] @ self.activation.value(self.z[~moved])
        return replace(
            self,
            constant=self.constant + float(idle),
            weights=self.weights[moved],
            z=self.z[moved],
            drops=self.drops[:, np.flatnonzero(moved)],
        )

    @cached_property
    def _unit_of(self) -> IntArray:
        """The free unit of each entry of the drops."""
        return np.repeat(np.arange(self.drops.shape[0]), np.diff(self.drops.indptr))

    @cached_property
    def _ranges(self) -> tuple[FloatArray, FloatArray]:
        """The range of each affine function under at most k removals.

        It falls by at most k times its largest change, and by at most the sum of all changes.
        """
        neurons, n = self.drops.indices, len(self.z)
        largest = self.k * abs(self.drops).max(axis=0).toarray().ravel() if n else np.zeros(0)
        fall = np.bincount(neurons, np.maximum(self.drops.data, 0.0), minlength=n)
        rise = np.bincount(neurons, np.maximum(-self.drops.data, 0.0), minlength=n)
        return self.z - np.minimum(fall, largest), self.z + np.minimum(rise, largest)

    def _minorant(self) -> Minorant:
        drops, (low, high) = self.drops, self._ranges
        move = drops.T @ self.candidate.astype(np.float64)
        at = self.z - move
        bends = self.activation.bend_below(self.weights, at, low, high)
        tilts = self.weights * self.activation.slope(at)
        values = self.weights * self.activation.value(at)
        constant = self.constant + float((values + move * (tilts + bends * move)).sum())
        width = high - low
        rounding = 1e-12 * (np.abs(values) + width * (np.abs(tilts) + width * np.abs(bends)))
        constant -= float(rounding.sum())
        tilts += 2 * bends * move
        squares = np.bincount(self._unit_of, drops.data**2 * bends[drops.indices], minlength=len(self.free))
        linear = squares - drops @ tilts
        bounds, idle = self._bounds_by_unit(linear, bends)
        return Minorant(constant + self.k * idle, bounds - idle)

    def _bounds_by_unit(self, linear: FloatArray, bends: FloatArray) -> tuple[FloatArray, float]:
        """Bound what each unit adds if it is one of at most k, and what an empty place adds."""
        pairs = Pairs.of(self.drops, bends)
        return bounds_by_unit(linear, self.k, pairs.costs, pairs.at_once(len(linear)), self.check_deadline)


@dataclass(frozen=True, eq=False)
class Pairs:
    """What pairs of units add to a sum of parabolas over sparse drops."""

    bent: Any
    """Units × neurons, CSR: the drops times the bends."""
    drops: Any

    @staticmethod
    def of(drops: Any, bends: FloatArray) -> "Pairs":
        """Return the pairs of drops (units × neurons, CSR) under parabolas of these bends."""
        bent = drops.copy()
        bent.data *= bends[bent.indices]
        return Pairs(bent, drops)

    def costs(self, some: IntArray) -> FloatArray:
        """Return what each of some units adds with each unit; half of what a pair adds."""
        return np.asarray((self.bent[some] @ self.drops.T).toarray())

    def at_once(self, n_units: int) -> int:
        """Return for how many units to compute this at once."""
        products_a_unit = self.bent.nnz**2 / max(1, self.bent.shape[0] * self.bent.shape[1])
        return max(1, min(MAX_PAIRS // max(1, n_units), int(MAX_PRODUCTS / (1 + products_a_unit))))


def bounds_by_unit(
    linear: FloatArray,
    k: int,
    costs_of: Callable[[IntArray], FloatArray],
    at_once: int,
    check_deadline: Callable[[], None],
) -> tuple[FloatArray, float]:
    """Bound what each unit adds to a quadratic function if it is one of at most k; and an empty place.

    Half of each linear term stays with its unit, and half goes to the k − 1 others. Half of each pair goes to
    each of the two. So the shares of the units of a set add up to its true value. The share of a unit is at
    least what the k − 1 others that suit it best would make of it. `costs_of` returns the halves of the pairs
    of some units with all units.
    """
    if k <= 1:
        return linear, 0.0
    shared = 0.5 * linear / (k - 1)
    bounds = 0.5 * linear
    for start in range(0, len(linear), at_once):
        check_deadline()
        some = np.arange(start, min(start + at_once, len(linear)))
        costs = costs_of(some) + shared
        costs[np.arange(len(some)), some] = 0.0  # a unit makes no pair with itself
        bounds[some] += _sum_of_lowest(costs, k - 1)
    return bounds, float(_sum_of_lowest(shared[np.newaxis], k - 1)[0])


def _sum_of_lowest(costs: FloatArray, k: int) -> FloatArray:
    """Return the sum of the k lowest negative costs of each matrix row."""
    if k < costs.shape[1]:
        costs = np.partition(costs, k - 1, axis=1)[:, :k]
    return np.asarray(np.minimum(costs, 0.0).sum(axis=1))
