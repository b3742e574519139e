"""Bounds for kernel machines behind an l2 norm: thousands of neurons, each a function of a ratio p / √q.

Below each weight · φ lies a parabola in its ratio that touches it at the candidate set. Their sum, times q,
is c · q + l · √q + Σ bend · p², where c is a number and l a sum of the parts p. A line below √q makes it one
quadratic function of the removals, in which opposite signs cancel before anything is bounded.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.lines import largest_sums
from butfor.models.bounds.quadratic import Pairs, bounds_by_unit, squares_by_unit
from butfor.models.bounds.ratios import ROUNDING, halves_of_norm, root_line
from butfor.models.bounds.region import Minorant, TouchingRegion
from butfor.models.formula.activations import Curved


@dataclass(frozen=True, eq=False, kw_only=True)
class NormedKernelRegion(TouchingRegion):
    """A region of sets for the score constant + Σ weights · φ(bias + (z − r·drops) / √(q − r·squares))."""

    constant: float
    activation: Curved
    weights: FloatArray
    bias: FloatArray
    sizes: FloatArray
    """Bounds on the ratios, whatever is removed."""
    z: FloatArray
    drops: Any
    """CSR, free units × neurons."""
    q: float
    squares: FloatArray
    """Free units: how far q falls when one goes."""
    q_size: float
    """The sum of the absolute terms of q, to which its rounding errors are relative."""
    norm_range: tuple[float, float] = (0.0, np.inf)
    """The region is of those sets only whose q lies in this range."""

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "NormedKernelRegion":
        return replace(
            self,
            z=self.z - self.drops.T @ gone.astype(np.float64),
            drops=self.drops[np.flatnonzero(stays)],
            q=self.q - float(self.squares[gone].sum()),
            squares=self.squares[stays],
            candidate=self.candidate[stays],
        )

    def halves(self) -> "list[NormedKernelRegion]":
        """Split the region by the norm, where that is open; otherwise on one unit."""
        ranges = halves_of_norm(*self._range_of_q(), self.norm_range)
        if not ranges:
            return super().halves()
        return [replace(self, norm_range=each, candidate=self.candidate.copy()) for each in ranges]

    def _range_of_q(self) -> tuple[float, float]:
        slack = ROUNDING * self.q_size
        fall, rise = (
            float(largest_sums(each[:, np.newaxis], self.k)[0]) for each in (self.squares, -self.squares)
        )
        low, high = max(self.q - fall - slack, 0.0), self.q + rise + slack
        return max(low, self.norm_range[0]), min(high, self.norm_range[1])

    def _minorant(self) -> Minorant:
        self.check_deadline()
        low_q, high_q = self._range_of_q()
        if low_q > high_q:  # no set has a norm in the range
            return Minorant(1.0, np.zeros(len(self.free)))
        if low_q <= 0:  # nothing is known of the ratios but their sizes, and the empty row is its own case
            largest = np.abs(self.weights) @ self.activation.largest(np.abs(self.bias) + self.sizes)
            return Minorant(-high_q * (abs(self.constant) + float(largest)), np.zeros(len(self.free)))
        drops, removed = self.drops, self.candidate.astype(np.float64)
        at_q = min(max(self.q - float(self.squares @ removed), low_q), high_q)
        at = (self.z - drops.T @ removed) / np.sqrt(at_q)
        low, high = self._range_of_ratios(low_q, high_q)
        at = np.clip(at, low, high)
        bends = self.activation.bend_below(self.weights, self.bias + at, self.bias + low, self.bias + high)
        tilts = self.weights * self.activation.slope(self.bias + at)
        values = self.weights * self.activation.value(self.bias + at)
        constant = self.constant + float((values - at * (tilts - bends * at)).sum())
        width = high - low
        rounding = np.abs(values) + width * (np.abs(tilts) + width * np.abs(bends))
        constant -= 10 * ROUNDING * float(rounding.sum())
        tilts = tilts - 2 * bends * at
        # Times q: constant · q + l · √q + Σ bend · p², where √q lies above a line.
        l_now, l_drops = float(self.z @ tilts), drops @ tilts
        l_least = l_now - float(largest_sums(l_drops[:, np.newaxis], self.k)[0])
        offset, slope = root_line(1.0, at_q, low_q, high_q)
        own_offset, own_slope = root_line(l_least, at_q, low_q, high_q)
        of_q = constant + own_slope + (l_now - l_least) * slope
        doubt = ROUNDING * self.q_size * float((np.abs(values) + np.abs(tilts) + np.abs(bends)).sum())
        total = -doubt + (l_now - l_least) * offset + own_offset + of_q * self.q + float(bends @ self.z**2)
        linear = -of_q * self.squares - l_drops * (offset + slope * self.q) - 2 * (drops @ (bends * self.z))
        # l · q is quadratic in the removals, too: what a unit makes of it alone, and with each other unit.
        linear += slope * l_drops * self.squares + squares_by_unit(drops, bends)
        pairs = Pairs.of(drops, bends)

        def costs(some: IntArray) -> FloatArray:
            outer = np.outer(l_drops[some], self.squares) + np.outer(self.squares[some], l_drops)
            return pairs.costs(some) + 0.5 * slope * outer

        bounds, idle = bounds_by_unit(linear, self.k, costs, pairs.at_once(len(linear)), self.check_deadline)
        return Minorant(total + self.k * idle, bounds - idle)

    def _range_of_ratios(self, low_q: float, high_q: float) -> tuple[FloatArray, FloatArray]:
        """Return the ranges of the ratios under at most k removals."""
        neurons, n = self.drops.indices, len(self.z)
        largest = self.k * abs(self.drops).max(axis=0).toarray().ravel() if self.drops.nnz else np.zeros(n)
        fall = np.bincount(neurons, np.maximum(self.drops.data, 0.0), minlength=n)
        rise = np.bincount(neurons, np.maximum(-self.drops.data, 0.0), minlength=n)
        low, high = self.z - np.minimum(fall, largest), self.z + np.minimum(rise, largest)
        small, large = 1 / np.sqrt(high_q), 1 / np.sqrt(low_q)
        return (
            np.maximum(np.where(low >= 0, low * small, low * large), -self.sizes),
            np.minimum(np.where(high >= 0, high * large, high * small), self.sizes),
        )
