"""A Gaussian process over removal sets: every unit has a weight, and every pair of units one of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.models.arrays import FloatArray, IntArray

DOUBT = 0.5
"""How far a unit's drop may change in company: the share of it that is one standard deviation."""
PAIRS = 0.3
"""The same for the part of the change that depends on which units are its company."""
COMMON, BEND, CROWD = 0.5, 0.2, 1.0
"""How far all drops may be larger or smaller: everywhere, in strong sets, and where few units are left."""
LOCAL, NEARBY = 0.3, 2.0
"""How far drops may differ from all that, alike in sets near each other, and how near that is."""
LEAST_DROP = 0.1
"""Units without effect are treated as if they had this share of the largest drop."""
ROUGHNESS = 0.01
"""How far a score is from what units and pairs make of it, as a share of the largest drop."""
PRIOR_WEIGHT = 0.5
"""How many scores the doubts above are worth, against the scores that show how far they are right."""


@dataclass(frozen=True)
class PairModel:
    """What is believed of the drops of removal sets, given those that are known.

    The drop of a set is the sum of the weights of its units and pairs, of multiples of what units do alone in
    sum, of the square of that, and of the same times a measure of how few units are left; and of a part
    that changes slowly from set to set. At first all are independent and normal: the mean of a unit's weight
    is its drop alone, that of the others is zero. Sets are lines of a matrix (sets × units).

    Parameters
    ----------
    alone : array of shape (n_units,)
        How far each unit alone lowers the score.
    sets, drops : arrays
        The sets that are known, and how far each lowers the score.
    size : int
        The size of the sets in question: in company of so many units, `PAIRS` says how far a drop may change.
    n_in_row : int
        How many units the row has, those that no set holds included.
    """

    alone: FloatArray
    sets: FloatArray
    drops: FloatArray
    size: int
    n_in_row: int

    def predict(self, sets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the standard deviations of the drops of sets."""
        totals = self._totals(sets)
        shared = self._covariance(self._overlaps(sets, self.sets), totals, self._known)
        means = sets @ self.alone + shared @ self._solved
        known = self._whitening @ shared.T
        own = self._drop_variances(sets, totals)
        variances = own - (known * known).sum(axis=0) + self._noise
        return means, np.sqrt(self._scale * np.maximum(variances, self._noise))

    def unforeseen(self, which: IntArray) -> FloatArray:
        """Return how much more some of the known drops are, given by position, than the others would say."""
        return np.asarray(np.linalg.solve(self._inverse[np.ix_(which, which)], self._solved[which]))

    def marginals(self, near: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the variances of what each unit adds to the drop of a set.

        For a unit of the set that is what it adds to the others. To first order, the best set of a size near
        this one has the units that add most.
        """
        shared = self._shared(near, np.arange(len(near)))
        known = self._whitening @ shared
        variances = self._scale * (self._own(near) - (known * known).sum(axis=0))
        return self.alone + shared.T @ self._solved, variances

    def covariance(self, near: FloatArray, units: IntArray) -> FloatArray:
        """Return the covariance of what some units, given by position, add to the drop of a set."""
        known = self._whitening @ self._shared(near, units)
        more, less = self._more_and_less(near, units)
        weights, inside = self._weights[:, units], near[units]
        gone = (weights * inside)[:, np.newaxis]
        all_of_it = (self._weights @ near)[:, np.newaxis, np.newaxis] * np.ones((1, len(units), len(units)))
        same = weights[:, np.newaxis] * np.eye(len(units))
        crossed = self._covariance(all_of_it - gone, more, less)
        both_more = self._covariance(all_of_it + same * (1 - inside), more, more)
        both_less = self._covariance(all_of_it - gone - gone.transpose(0, 2, 1) + same * inside, less, less)
        prior = both_more - crossed - crossed.T + both_less
        return np.asarray(self._scale * (prior - known.T @ known))

    def _shared(self, near: FloatArray, units: IntArray) -> FloatArray:
        """Return the covariance of the known drops with what units add to a set, doubts not yet scaled."""
        more, less = self._more_and_less(near, units)
        together = (self._weights * near) @ self.sets.T
        own = self._weights[:, np.newaxis, units] * self.sets[:, units]
        with_it = together[:, :, np.newaxis] + own * (1 - near[units])
        without = together[:, :, np.newaxis] - own * near[units]
        return self._covariance(with_it, self._known, more) - self._covariance(without, self._known, less)

    def _own(self, near: FloatArray) -> FloatArray:
        """Return the variance of what each unit adds to a set, before anything is known."""
        more, less = self._more_and_less(near, np.arange(len(near)))
        others = near @ self._squares - near * self._squares
        alike = np.exp(-1 / (NEARBY * self.size))
        local = more.sums**2 + less.sums**2 - 2 * alike * more.sums * less.sums
        commons = ((more.commons - less.commons) ** 2).sum(axis=1)
        pairs = self._pair_scale * self._squares * others
        return np.asarray(self._variances + pairs + commons + LOCAL**2 / self.size * local)

    def _drop_variances(self, sets: FloatArray, totals: "_Totals") -> FloatArray:
        """Return the variances of the drops of sets, before anything is known."""
        variances, squares, fourths, _ = self._weights @ sets.T
        pairs = self._pair_scale * (squares * squares - fourths) / 2
        common = (totals.commons**2).sum(axis=1) + LOCAL**2 / self.size * totals.sums**2
        return np.asarray(variances + pairs + common)

    def _covariance(self, overlaps: FloatArray, some: "_Totals", others: "_Totals") -> FloatArray:
        """Return the covariance of the drops of sets, given the weights of the units that they share."""
        variances, squares, fourths, counts = overlaps
        pairs = self._pair_scale * (squares * squares - fourths) / 2
        apart = some.counts[:, np.newaxis] + others.counts - 2 * counts
        local = np.exp(-apart / (NEARBY * self.size)) * np.outer(some.sums, others.sums)
        common = some.commons @ others.commons.T
        return np.asarray(variances + pairs + common + LOCAL**2 / self.size * local)

    def _overlaps(self, some: FloatArray, others: FloatArray) -> FloatArray:
        """Return the sums of each kind of weight over the units that sets share."""
        return np.array([(some * weights) @ others.T for weights in self._weights])

    def _totals(self, sets: FloatArray) -> "_Totals":
        return self._totals_of(sets.sum(axis=1), sets @ np.maximum(self.alone, 0))

    def _more_and_less(self, near: FloatArray, units: IntArray) -> "tuple[_Totals, _Totals]":
        """Return the totals of a set with each of some units, and those of the set without it."""
        alone, inside = np.maximum(self.alone, 0), near[units]
        more = self._totals_of(near.sum() + (1 - inside), near @ alone + (1 - inside) * alone[units])
        less = self._totals_of(near.sum() - inside, near @ alone - inside * alone[units])
        return more, less

    def _totals_of(self, counts: FloatArray, sums: FloatArray) -> "_Totals":
        """Return what sets share by how many units they have, and by what these do alone in sum."""
        crowd = np.sqrt(self.n_in_row / (self.n_in_row + 1 - np.maximum(counts, 1))) - 1
        commons = [COMMON * sums, BEND * sums * sums / self._reach, CROWD * sums * crowd]
        return _Totals(counts, sums, np.column_stack(commons))

    @cached_property
    def _known(self) -> "_Totals":
        return self._totals(self.sets)

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self.alone).max(initial=0.0)) or 1.0

    @cached_property
    def _squares(self) -> FloatArray:
        """The squared strength of each unit, from which its doubts follow."""
        return np.asarray((np.abs(self.alone) + LEAST_DROP * self._largest) ** 2)

    @cached_property
    def _variances(self) -> FloatArray:
        return np.asarray(DOUBT**2 * self._squares)

    @cached_property
    def _weights(self) -> FloatArray:
        """Weights of units: their sums over what two sets share say how far the sets' drops go together."""
        return np.array([self._variances, self._squares, self._squares**2, np.ones(len(self.alone))])

    @cached_property
    def _pair_scale(self) -> float:
        strongest = np.sort(self._squares)[::-1][: self.size]
        return float(PAIRS**2 / strongest.sum())

    @cached_property
    def _noise(self) -> float:
        return (ROUGHNESS * self._largest) ** 2

    @cached_property
    def _reach(self) -> float:
        return float(np.sort(np.maximum(self.alone, 0))[::-1][: self.size].sum()) or 1.0

    @cached_property
    def _surprise(self) -> FloatArray:
        return np.asarray(self.drops - self.sets @ self.alone)

    @cached_property
    def _whitening(self) -> FloatArray:
        """What makes the known drops independent of each other: the inverse of their covariance's root."""
        among = self._covariance(self._overlaps(self.sets, self.sets), self._known, self._known)
        root = np.linalg.cholesky(among + self._noise * np.eye(len(self.sets)))
        return np.asarray(np.linalg.inv(root), dtype=float)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(self._whitening.T @ self._whitening)

    @cached_property
    def _solved(self) -> FloatArray:
        return np.asarray(self._whitening.T @ (self._whitening @ self._surprise))

    @cached_property
    def _scale(self) -> float:
        """How far the doubts are right, judged by the known drops."""
        seen = float(self._surprise @ self._solved)
        return (PRIOR_WEIGHT + seen) / (PRIOR_WEIGHT + len(self.drops))


@dataclass(frozen=True)
class _Totals:
    """What the covariance of the drops of sets depends on besides the units that they share."""

    counts: FloatArray
    sums: FloatArray
    """What the units of each set that help alone do alone, in sum."""
    commons: FloatArray


def as_matrix(sets: "list[tuple[int, ...]] | Mapping[tuple[int, ...], float]", units: IntArray) -> FloatArray:
    """Return sets as a matrix (sets × units), given the sorted units, which must hold all of theirs."""
    matrix = np.zeros((len(sets), len(units)))
    lines = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    matrix[lines, np.searchsorted(units, [unit for each in sets for unit in each])] = 1.0
    return matrix
