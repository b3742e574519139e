"""Bounds for functions that are divided by a norm, and for networks over them.

Lines below the layers turn the score into a sum of ratios L / √Q + C, where L and Q are functions of the
removals. Where there is one norm, the sign of the score is that of L + C · √Q, and a line below C · √Q on the
range of Q makes it a linear function: its chord where C is positive, otherwise any tangent. Where there are
several norms, each ratio is bounded on the ranges of L and Q (McCormick).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray
from butfor.models.bounds.counts import OpenCounts
from butfor.models.bounds.deep import linear_below, unknown_ranges
from butfor.models.bounds.linear import LinearRegion
from butfor.models.bounds.lines import largest_sums
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import Minimum, Minorant, Region, at_candidates
from butfor.models.bounds.trees import TreeRegion
from butfor.models.formula.network import Layer
from butfor.models.formula.ratios import Changes, Ratios

WIDE = 1.25
"""A region is split by a norm whose largest value is more than so many times its least."""
ROUNDING = 1e-13
"""How far a sum may be off, in relation to the sum of the absolute values of its terms."""


class Forms(NamedTuple):
    """Functions constant − r · drops + the values of the leaves that r reaches."""

    constants: FloatArray
    drops: FloatArray
    values: FloatArray | None


class Range(NamedTuple):
    """The least and the largest value of some numbers."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioRegion(Region):
    """A region of sets for the score that layers make of ratios of raw functions z − r · drops + leaves."""

    ratios: Ratios
    layers: tuple[Layer, ...]
    """The layers; the last one is turned to the row's side, and the limit is subtracted from its bias."""
    constant: float
    weights: FloatArray
    """Without layers the score is constant + weights · ratios."""
    z: FloatArray
    drops: FloatArray
    trees: OpenTrees | None
    """The trees, with a number for each raw function at each leaf."""
    counts: OpenCounts | None
    """The counts of columns that have tables."""
    candidate: BoolArray
    """Which free units the candidate removes, near which lines touch."""
    size: FloatArray
    """The sums of the absolute terms of the raw functions, to which rounding errors are relative."""
    slopes: FloatArray | None = None
    """The slopes of the trees so far, for each pair; None: not known."""
    norm_range: tuple[float, float] = (0.0, np.inf)
    """With one norm: the region is of those sets only whose norm lies in this range."""

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of linear functions below the score, for a few candidates."""
        raw = self._raw_range()
        norms = list(self.ratios.norm_at.values())
        if (raw.low[norms] > raw.high[norms]).any():  # no set has a norm in the range
            yield self.lowest(Minorant(1.0, np.zeros(len(self.free))))
            return
        yield from at_candidates(self.candidate, lambda: self.minima_of(self._below(raw)))

    def _after_fixing(self, gone: BoolArray, stays: BoolArray, best: Minorant | None) -> "RatioRegion":
        trees, slopes = self.trees, self.slopes
        if trees is not None:
            trees, pairs = trees.narrowed(gone, stays)
            slopes = None if slopes is None else slopes[pairs]
        return replace(
            self,
            z=self.z - self.drops[gone].sum(axis=0),
            drops=self.drops[stays],
            trees=trees,
            slopes=slopes,
            counts=None if self.counts is None else self.counts.narrowed(gone, stays),
            candidate=self.candidate[stays],
        )

    def _below(self, raw: Range) -> Region:
        """Return a region of the same sets with a linear score, or a sum of trees, instead of this one's.

        Where that score is above zero, this region's score is, too.
        """
        constant, weights = self.constant, self.weights
        at = self._at_candidate()
        if self.layers:
            ranges = (self._range(raw), *unknown_ranges(self.layers[1:]))

            def least(weights: FloatArray) -> FloatArray:
                return self._least(raw, weights)

            functions = self.ratios.value(at[np.newaxis])[0]
            constant, weights = linear_below(self.layers, functions, ranges, least)
        constant, of_raw = self._over_raw(raw, at, constant, weights)
        constant -= ROUNDING * (abs(constant) + float(self.size @ np.abs(of_raw)))
        forms = self._forms(of_raw[:, np.newaxis])
        same: dict[str, Any] = {
            "free": self.free,
            "k": self.k,
            "check_deadline": self.check_deadline,
            "costs": self.costs,
            "capacity": self.capacity,
        }
        constant += float(forms.constants[0])
        drops = forms.drops[:, 0]
        if self.trees is None or forms.values is None:
            return LinearRegion(**same, constant=constant, drops=drops)
        trees = replace(self.trees, values=forms.values[:, 0], number=None)
        if self.slopes is not None and np.isnan(self.slopes).any():
            self.slopes[:] = trees.changes_of_single_removals()
        return TreeRegion.root(**same, constant=constant, linear=-drops, trees=trees, memory=self.slopes)

    def _at_candidate(self) -> FloatArray:
        """Return the raw functions at the candidate."""
        at = self.z - self.drops[self.candidate].sum(axis=0)
        if self.trees is not None:
            at = at + self.trees.value(self.candidate)
        if self.counts is not None:
            at = at[np.newaxis].copy()
            changes = self.counts.at(self.candidate, self.trees)
            self.ratios.change(at, Changes.at_one(changes))
            at = at[0]
        return np.asarray(at)

    def _forms(self, of_raw: FloatArray) -> "Forms":
        """Return weighted sums of the raw functions (functions × sums), with lines below what tables add."""
        constants, drops = self.z @ of_raw, self.drops @ of_raw
        values = None if self.trees is None else self.trees.values @ of_raw
        if self.counts is None:
            return Forms(constants, drops, values)
        at = self.counts.at(self.candidate, self.trees)
        offsets, slopes = self.counts.lines_below(self.ratios, of_raw, at)
        constants = constants + offsets + self.counts.moved @ slopes
        drops = drops + self.counts.of_units(slopes)
        if values is not None and self.trees is not None:
            values = values + self.counts.of_leaves(slopes, self.trees)
        return Forms(constants, drops, values)

    def _least_of(self, of_raw: FloatArray) -> FloatArray:
        """Bound weighted sums of the raw functions from below (functions × sums)."""
        forms = self._forms(of_raw)
        low = forms.constants - largest_sums(forms.drops, self.k)
        if self.trees is not None and forms.values is not None:
            low = low + replace(self.trees, values=forms.values).least(self.k)
        return np.asarray(low)

    def _raw_range(self) -> Range:
        """Return the ranges of the raw functions; norms are not negative."""
        self.check_deadline()
        if self.counts is not None:
            everything = np.eye(len(self.z))
            low, high = self._least_of(np.hstack([everything, -everything])).reshape(2, -1)
            high = -high
        else:
            low = self.z - largest_sums(self.drops, self.k)
            high = self.z + largest_sums(-self.drops, self.k)
            if self.trees is not None:
                low = low + self.trees.least(self.k)
                high = high - replace(self.trees, values=-self.trees.values).least(self.k)
        low, high = np.minimum(low, high), np.maximum(low, high)  # which rounding may have turned around
        norms = list(self.ratios.norm_at.values())
        slack = ROUNDING * self.size[norms]
        low[norms] = np.maximum(low[norms] - slack, 0.0)
        high[norms] = np.maximum(high[norms], 0.0) + slack
        if self._has_one_norm:
            low[norms], high[norms] = (
                np.maximum(low[norms], self.norm_range[0]),
                np.minimum(high[norms], self.norm_range[1]),
            )
        return Range(low, high)

    @property
    def _has_one_norm(self) -> bool:
        return len(self.ratios.norms) == 1 and self.ratios.norms[0] is not None

    def halves(self) -> "list[RatioRegion]":
        """Split the region by the norm, where that is open; otherwise on one unit."""
        is_convex = not self.layers and self.constant + float(self.ratios.bias @ self.weights) < 0
        if not self._has_one_norm or is_convex:
            return super().halves()
        raw, norm = self._raw_range(), self.ratios.norm_at[0]
        ranges = halves_of_norm(float(raw.low[norm]), float(raw.high[norm]), self.norm_range)
        if not ranges:
            return super().halves()
        return [
            replace(
                self,
                norm_range=each,
                candidate=self.candidate.copy(),
                slopes=None if self.slopes is None else self.slopes.copy(),
            )
            for each in ranges
        ]

    def _range(self, raw: Range) -> Range:
        """Return the ranges of the functions."""
        ratios = self.ratios
        low, high = ratios.bias.copy(), ratios.bias.copy()
        for branch, norm in enumerate(ratios.norms):
            parts = ratios.parts(branch)
            part = Range(raw.low[parts], raw.high[parts])
            own = part if norm is None else self._quotient(raw, branch, part, ratios.sizes[branch])
            filled = self._filled(raw, branch, ratios.filled[branch])
            low, high = low + own.low + filled.low, high + own.high + filled.high
        return Range(low, high)

    def _least(self, raw: Range, weights: FloatArray) -> FloatArray:
        """Bound weighted sums of the functions from below (functions × sums)."""
        self.check_deadline()
        ratios = self.ratios
        total = ratios.bias @ weights
        for branch, norm in enumerate(ratios.norms):
            own = self._range_of_sums(ratios.parts(branch), weights)
            if norm is not None:
                own = self._quotient(raw, branch, own, ratios.sizes[branch] @ np.abs(weights))
            total = total + own.low + self._filled(raw, branch, ratios.filled[branch] @ weights).low
        return np.asarray(total)

    def _range_of_sums(self, parts: slice, weights: FloatArray) -> Range:
        """Return the ranges of weighted sums of some raw functions."""
        of_raw = np.zeros((len(self.z), weights.shape[1]))
        of_raw[parts] = weights
        low, high = self._least_of(np.hstack([of_raw, -of_raw])).reshape(2, -1)
        return Range(low, -high)

    def _quotient(self, raw: Range, branch: int, part: Range, size: FloatArray) -> Range:
        """Return the ranges of parts divided by the norm of their branch; `size` bounds them in any case."""
        small, large = self._factors(raw, branch)
        with np.errstate(invalid="ignore"):
            low = np.where(part.low >= 0, part.low * small, part.low * large)
            high = np.where(part.high >= 0, part.high * large, part.high * small)
        low = np.where(np.isnan(low), -size, low)
        high = np.where(np.isnan(high), size, high)
        return Range(np.minimum(np.maximum(low, -size), size), np.maximum(np.minimum(high, size), -size))

    def _factors(self, raw: Range, branch: int) -> tuple[float, float]:
        """Return the least and the largest factor by which a norm multiplies."""
        at = self.ratios.norm_at[branch]
        norms = np.array([raw.high[at], raw.low[at]])
        norms = np.sqrt(norms) if self.ratios.norms[branch] == "l2" else norms
        with np.errstate(divide="ignore"):
            small, large = 1 / norms
        return float(small), float(large)

    def _filled(self, raw: Range, branch: int, filled: FloatArray) -> Range:
        """Return the ranges of what is added unless a norm is zero."""
        if self.ratios.norms[branch] is None or raw.low[self.ratios.norm_at[branch]] > 0:
            return Range(filled, filled)
        return Range(np.minimum(filled, 0.0), np.maximum(filled, 0.0))

    def _over_raw(
        self, raw: Range, at: FloatArray, constant: float, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Turn constant + weights · functions into a linear function of the raw ones that is lower.

        It touches near the raw values `at`. Where there is one norm, the score is multiplied by it.
        """
        ratios = self.ratios
        of_raw = np.zeros(ratios.n_raw)
        constant += float(ratios.bias @ weights)
        if self._has_one_norm:
            of_raw[ratios.parts(0)] = weights
            constant += float(ratios.filled[0] @ weights)
            norm = ratios.norm_at[0]
            if ratios.norms[0] != "l2":
                of_raw[norm] = constant
                return 0.0, of_raw
            low, high = raw.low[norm], raw.high[norm]
            offset, of_raw[norm] = root_line(constant, at[norm], low, high)
            # Near zero a root magnifies what rounding left of the norm.
            slack = ROUNDING * float(self.size[norm])
            doubt = min(math.sqrt(slack), slack / (2 * math.sqrt(low)) if low > 0 else np.inf)
            return offset - abs(constant) * doubt, of_raw
        for branch, norm_kind in enumerate(ratios.norms):
            parts = ratios.parts(branch)
            if norm_kind is None:
                of_raw[parts] = weights
                continue
            constant += float(self._filled(raw, branch, ratios.filled[branch] @ weights).low)
            part = self._range_of_sums(parts, weights[:, np.newaxis])
            small, large = self._factors(raw, branch)
            if (
                not np.isfinite(large)
                or raw.low[ratios.norm_at[branch]] <= 1e-9 * raw.high[ratios.norm_at[branch]]
            ):
                size = ratios.sizes[branch] @ np.abs(weights)
                constant += float(self._quotient(raw, branch, part, np.array([size])).low[0])
                continue
            norm = ratios.norm_at[branch]
            exponent = -0.5 if norm_kind == "l2" else -1.0
            value = float(at[parts] @ weights)
            planes = [
                _factor_plane(float(part.low[0]), small, exponent, at[norm], raw.low[norm], raw.high[norm]),
                _factor_plane(float(part.high[0]), large, exponent, at[norm], raw.low[norm], raw.high[norm]),
            ]
            best = max(planes, key=lambda plane: plane[0] + plane[1] * value + plane[2] * at[norm])
            constant += best[0]
            of_raw[parts] = best[1] * weights
            of_raw[norm] = best[2]
        return constant, of_raw


def halves_of_norm(low: float, high: float, norm_range: tuple[float, float]) -> list[tuple[float, float]]:
    """Split the range of a norm in two; return nothing where it is narrow, or begins at zero already.

    >>> halves_of_norm(1.0, 4.0, (0.0, np.inf)), halves_of_norm(1.0, 1.1, (0.0, np.inf))
    ([(1.0, 2.0), (2.0, 4.0)], [])
    """
    if high <= WIDE * low or (low <= 0 and norm_range[1] < np.inf):
        return []
    middle = math.sqrt(max(low, 1e-3 * high) * high)
    return [(low, middle), (middle, high)]


def root_line(factor: float, at: float, low: float, high: float) -> tuple[float, float]:
    """Return a line below factor · √q on a range, as offset and slope; it touches near `at` if it can.

    >>> offset, slope = root_line(2.0, 4.0, 1.0, 9.0)
    >>> offset + slope * 1.0, offset + slope * 9.0
    (2.0, 6.0)
    """
    if factor >= 0:
        slope = 1 / max(math.sqrt(low) + math.sqrt(high), 1e-300)
        return factor * (math.sqrt(low) - slope * low), factor * slope
    root = math.sqrt(min(max(at, low, 1e-6 * high, 1e-300), max(high, 1e-300)))
    return factor * root / 2, factor / (2 * root)


def _factor_plane(
    part: float, factor: float, exponent: float, at: float, low: float, high: float
) -> tuple[float, float, float]:
    """Return a plane below p · q^exponent, as constant and slopes in p and q.

    `part` is an end of the range of p, and `factor` the matching end of that of q^exponent: the least of
    both, or the largest of both. Then p · g ≥ part · g + factor · p − part · factor, and part · g has a line
    below it: a tangent where it is convex, its chord where it is concave.
    """
    at = min(max(at, low), high)
    if part >= 0:
        value = at**exponent
        slope = exponent * value / at
        offset = value - slope * at
    else:
        ends = low**exponent, high**exponent
        slope = (ends[1] - ends[0]) / (high - low) if high > low else 0.0
        offset = ends[0] - slope * low
    return part * offset - part * factor, factor, part * slope
