"""Bounds for kernel machines: thousands of neurons of both signs, for which lines would add up their errors.

A neuron that one or two free units move is itself a quadratic function of the removals. Below each other
weight · φ lies a parabola that touches it at the candidate set. Since r² = r, their sum is one quadratic
function of the removals, in which opposite signs cancel before anything is bounded. Its minimum over at most
k removals is bounded unit by unit (Gilmore and Lawler): by what a unit does, alone and with the k − 1 others
that go best with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.region import CANDIDATES, Minorant, RegionCheck, TouchingRegion
from butfor.models.compiled import machine_kernels
from butfor.models.formula.activations import COMPILED_CURVES, Curved

MAX_PAIRS = 500_000
"""How many pairs of units are held at once."""
MAX_PRODUCTS = 3_000_000
"""How many numbers are multiplied before the deadline is checked."""
MAX_COMPILED = 5_000_000
"""With more products of drops compiled loops would not look at the clock for too long: some 50 ms."""
FEW_UNITS = 2
"""A neuron that so many free units move is a quadratic function of the removals."""


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticRegion(TouchingRegion):
    """A region of sets for the score constant + Σ weights · φ(z − r · drops)."""

    constant: float
    activation: Curved
    weights: FloatArray
    z: FloatArray
    drops: Any
    """CSR, free units × neurons."""

    def check(self) -> RegionCheck:
        """Have the minorants fix units and propose sets."""
        compiled = machine_kernels()
        if compiled is None or self.costs is not None or self._n_products > MAX_COMPILED:
            return super().check()
        self.check_deadline()
        refuted, highest, constant, coefficients, gone, kept, proposed, n_proposed = compiled.check(
            curve_of(self.activation), self._sums, self.k, self.candidate, CANDIDATES
        )
        sets = [tuple(np.sort(each[each >= 0]).tolist()) for each in proposed[:n_proposed]]
        return RegionCheck(
            refuted, -highest, Minorant(constant, coefficients), gone, kept & ~gone, self._with_removed(sets)
        )

    @property
    def _sums(self) -> tuple[Any, ...]:
        """The score as compiled loops get it."""
        drops = (*compiled_rows(self.drops), np.ones(self.drops.nnz))
        return self.constant, self.weights, self.z, self.activation.value(self.z), drops

    @property
    def _n_products(self) -> int:
        """How many products of pairs of drops a minorant takes, and how many pairs there are."""
        return int((np.bincount(self.drops.indices) ** 2).sum()) + len(self.free) ** 2

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "QuadraticRegion":
        compiled = machine_kernels()
        if compiled is not None:
            constant, weights, z, _, (*rows, drops, _) = compiled.narrowed(
                curve_of(self.activation), self._sums, gone, ~(gone | stays)
            )
            left = sparse.csr_array((drops, *reversed(rows)), shape=(len(self.free), len(z)))
            candidate = self.candidate[stays]
            return replace(self, constant=constant, weights=weights, z=z, drops=left, candidate=candidate)
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
    def _is_bent(self) -> BoolArray:
        """Which neurons are no quadratic functions of the removals."""
        return np.asarray(np.bincount(self.drops.indices, minlength=len(self.z)) > FEW_UNITS)

    @cached_property
    def _exact(self) -> "Quadratic":
        """The sum of all neurons that are quadratic functions of the removals, and the constant."""
        few, n = np.flatnonzero(~self._is_bent), len(self.free)
        drops, weights, z = self.drops[:, few].tocsc(), self.weights[few], self.z[few]
        neuron_of = np.repeat(np.arange(len(few)), np.diff(drops.indptr))
        own = weights * self.activation.value(z)
        after = weights[neuron_of] * self.activation.value(z[neuron_of] - drops.data)
        linear = np.bincount(drops.indices, after - own[neuron_of], minlength=n).astype(np.float64)
        pairs = np.flatnonzero(np.diff(drops.indptr) == FEW_UNITS)
        first = drops.indptr[pairs]
        moved = z[pairs] - drops.data[first] - drops.data[first + 1]
        both = weights[pairs] * self.activation.value(moved)
        halves = 0.5 * (both - after[first] - after[first + 1] + own[pairs])
        one, other = drops.indices[first], drops.indices[first + 1]
        matrix = sparse.csr_array((halves, (one, other)), shape=(n, n))
        rounding = 1e-12 * (np.abs(own).sum() + np.abs(after).sum() + np.abs(both).sum())
        return Quadratic(self.constant + float(own.sum() - rounding), linear, matrix + matrix.T)

    @cached_property
    def _bent(self) -> "BentNeurons":
        """The neurons that are no quadratic functions of the removals, and their ranges.

        An affine function falls by at most k times its largest change, and by at most the sum of all changes.
        """
        which = np.flatnonzero(self._is_bent)
        drops, z = self.drops[:, which], self.z[which]
        largest = self.k * abs(drops).max(axis=0).toarray().ravel() if drops.nnz else np.zeros(len(z))
        fall = np.bincount(drops.indices, np.maximum(drops.data, 0.0), minlength=len(z))
        rise = np.bincount(drops.indices, np.maximum(-drops.data, 0.0), minlength=len(z))
        low, high = z - np.minimum(fall, largest), z + np.minimum(rise, largest)
        return BentNeurons(self.weights[which], z, drops, low, high)

    def _minorant(self) -> Minorant:
        exact, (weights, z, drops, low, high) = self._exact, self._bent
        move = drops.T @ self.candidate.astype(np.float64)
        at = z - move
        bends = self.activation.bend_below(weights, at, low, high)
        tilts = weights * self.activation.slope(at)
        values = weights * self.activation.value(at)
        constant = exact.constant + float((values + move * (tilts + bends * move)).sum())
        width = high - low
        rounding = 1e-12 * (np.abs(values) + width * (np.abs(tilts) + width * np.abs(bends)))
        constant -= float(rounding.sum())
        tilts += 2 * bends * move
        linear = exact.linear + squares_by_unit(drops, bends) - drops @ tilts
        pairs = Pairs.of(drops, bends, exact.pairs)
        bounds, idle = bounds_by_unit(
            linear, self.k, pairs.costs, pairs.at_once(len(linear)), self.check_deadline
        )
        return Minorant(constant + self.k * idle, bounds - idle)


class Quadratic(NamedTuple):
    """A quadratic function of the removals."""

    constant: float
    linear: FloatArray
    pairs: Any
    """Units × units, CSR and symmetric: half of what a pair adds."""


class BentNeurons(NamedTuple):
    """Neurons below which parabolas lie."""

    weights: FloatArray
    z: FloatArray
    drops: Any
    """CSR, free units × neurons."""
    low: FloatArray
    high: FloatArray


def curve_of(activation: Any) -> tuple[int, int]:
    """Return a curve as compiled loops get it: its kind, and the degree of a power."""
    return COMPILED_CURVES[type(activation)], getattr(activation, "degree", 0)


def compiled_rows(matrix: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a CSR matrix as compiled loops get it."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


@dataclass(frozen=True, eq=False)
class Pairs:
    """What pairs of units add to a sum of parabolas over sparse drops."""

    bent: Any
    """Units × neurons, CSR: the drops times the bends."""
    drops: Any
    exact: Any = None
    """Units × units, CSR: half of what pairs add besides."""

    @staticmethod
    def of(drops: Any, bends: FloatArray, exact: Any = None) -> "Pairs":
        """Return the pairs of drops (units × neurons, CSR) under parabolas of these bends."""
        bent = drops.copy()
        bent.data *= bends[bent.indices]
        return Pairs(bent, drops, exact)

    def costs(self, some: IntArray) -> FloatArray:
        """Return what each of some units adds with each unit; half of what a pair adds."""
        costs = self.bent[some] @ self.drops.T
        return np.asarray((costs if self.exact is None else costs + self.exact[some]).toarray())

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


def squares_by_unit(drops: Any, bends: FloatArray) -> FloatArray:
    """Return Σ bend · drop² for each unit."""
    unit_of = np.repeat(np.arange(drops.shape[0]), np.diff(drops.indptr))
    squares = np.bincount(unit_of, drops.data**2 * bends[drops.indices], minlength=drops.shape[0])
    return squares.astype(np.float64)
