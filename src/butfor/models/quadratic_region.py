"""Proofs for kernel machines: thousands of units of both signs, whose lines would add up their errors.

Below every weight · φ lies a parabola that touches it where a candidate set leads. With r² = r their sum is
one quadratic function of the removals, in which the signs cancel before anything is bounded. Its least value
over at most k removals is bounded row by row (Gilmore and Lawler): what a feature does, alone and with the
k − 1 others that go best with it.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.models.activations import Curved
from butfor.models.base import BoolArray, FloatArray, IntArray
from butfor.models.region import Minorant, TouchingRegion

MAX_PAIRS = 500_000
"""How many pairs of features are held at once."""
MAX_PRODUCTS = 3_000_000
"""How many numbers are multiplied before a look at the clock."""


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticRegion(TouchingRegion):
    """A region of sets for constant + Σ weights · φ(z − r · drops)."""

    constant: float
    activation: Curved
    weights: FloatArray
    z: FloatArray
    drops: Any
    """CSR, free features × units"""

    def _settled(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "QuadraticRegion":
        return replace(
            self,
            z=self.z - self.drops.T @ gone.astype(np.float64),
            drops=self.drops[np.flatnonzero(stays)],
            candidate=self.candidate[stays],
        ).without_idle_units()

    def without_idle_units(self) -> "QuadraticRegion":
        """Move the units that no free feature moves into the constant."""
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
    def _lines(self) -> IntArray:
        """The line of every entry of the drops."""
        return np.repeat(np.arange(self.drops.shape[0]), np.diff(self.drops.indptr))

    @cached_property
    def _ranges(self) -> tuple[FloatArray, FloatArray]:
        """Give what at most k removals can make of each form: k times the largest change, or all of them."""
        units, n = self.drops.indices, len(self.z)
        largest = self.k * abs(self.drops).max(axis=0).toarray().ravel() if n else np.zeros(0)
        fall = np.bincount(units, np.maximum(self.drops.data, 0.0), minlength=n)
        rise = np.bincount(units, np.maximum(-self.drops.data, 0.0), minlength=n)
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
        squares = np.bincount(self._lines, drops.data**2 * bends[drops.indices], minlength=len(self.free))
        linear = squares - drops @ tilts
        rows, idle = self._row_bounds(linear, bends)
        return Minorant(constant + self.k * idle, rows - idle)

    def _row_bounds(self, linear: FloatArray, bends: FloatArray) -> tuple[FloatArray, float]:
        """Bound what each feature adds if it is one of at most k, and what an empty place adds.

        Half of every linear term stays with its feature, half goes to the k − 1 others; half of every pair
        goes to each of the two. So the rows of a set add up to its true value, and each row is at least what
        the k − 1 others that suit it best would make of it.
        """
        if self.k <= 1:
            return linear, 0.0
        shared = 0.5 * linear / (self.k - 1)
        bent = self.drops.copy()
        bent.data *= bends[bent.indices]
        bounds = 0.5 * linear
        products_a_line = bent.nnz**2 / max(1, bent.shape[0] * bent.shape[1])
        step = max(1, min(MAX_PAIRS // len(linear), int(MAX_PRODUCTS / (1 + products_a_line))))
        for start in range(0, len(linear), step):
            self.check_deadline()
            lines = np.arange(start, min(start + step, len(linear)))
            costs = (bent[lines] @ self.drops.T).toarray() + shared
            costs[np.arange(len(lines)), lines] = 0.0  # a feature makes no pair with itself
            bounds[lines] += _sum_of_lowest(costs, self.k - 1)
        return bounds, float(_sum_of_lowest(shared[np.newaxis], self.k - 1)[0])


def _sum_of_lowest(costs: FloatArray, k: int) -> FloatArray:
    """Sum the k lowest negative costs of every line."""
    if k < costs.shape[1]:
        costs = np.partition(costs, k - 1, axis=1)[:, :k]
    return np.asarray(np.minimum(costs, 0.0).sum(axis=1))
