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
COMMON, BEND = 0.5, 0.5
"""How far all drops together may be larger or smaller in company: everywhere, and in large sets."""
LEAST_DROP = 0.1
"""Units without effect are treated as if they had this share of the largest drop."""
ROUGHNESS = 0.01
"""How far a score is from what units and pairs make of it, as a share of the largest drop."""
PRIOR_WEIGHT = 1.0
"""How many scores the doubts above are worth, against the scores that show how far they are right."""


@dataclass(frozen=True, eq=False)
class PairModel:
    """What is believed of the drops of removal sets, given those that are known.

    The drop of a set is the sum of the weights of its units and of its pairs, of a multiple of what its units
    do alone in sum, and of a multiple of the square of that sum. At first all these weights are independent
    and normal: the mean of a unit's weight is its drop alone, that of the others is zero. Sets are lines of a
    matrix (sets × units).

    Parameters
    ----------
    alone : array of shape (n_units,)
        How far each unit alone lowers the score.
    sets, drops : arrays
        The sets that are known, and how far each lowers the score.
    size : int
        The size of the sets in question: in company of so many units, `PAIRS` says how far a drop may change.
    """

    alone: FloatArray
    sets: FloatArray
    drops: FloatArray
    size: int

    def predict(self, sets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the standard deviations of the drops of sets."""
        shared = self._covariance(sets, self.sets)
        means = sets @ self.alone + shared @ self._solved
        own = sets @ self._variances + self._pairs(sets @ self._squares, sets @ self._squares**2)
        own = own + (self._commons(sets) ** 2).sum(axis=1)
        known = self._whitening @ shared.T
        variances = own - (known * known).sum(axis=0) + self._noise
        return means, np.sqrt(self._scale * np.maximum(variances, self._noise))

    def marginals(self, near: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the variances of what each unit adds to the drop of a set.

        For a unit of the set that is what it adds to the others. To first order, the best set of a size near
        this one has the units that add most.
        """
        every = np.arange(len(near))
        shared, gains = self._shared(near, every), self._common_gains(near)
        known = self._whitening @ shared
        own = self._own(near) + (gains * gains).sum(axis=1)
        return self.alone + shared.T @ self._solved, self._scale * (own - (known * known).sum(axis=0))

    def covariance(self, near: FloatArray, units: IntArray) -> FloatArray:
        """Return the covariance of what some units, given by position, add to the drop of a set."""
        known, gains = self._whitening @ self._shared(near, units), self._common_gains(near)[units]
        inside = (near * self._squares)[units]
        prior = self._pair_scale * np.outer(inside, inside)
        np.fill_diagonal(prior, self._own(near)[units])
        return np.asarray(self._scale * (prior + gains @ gains.T - known.T @ known))

    def _shared(self, near: FloatArray, units: IntArray) -> FloatArray:
        """Return the covariance of the known drops with what units add to a set, doubts not yet scaled."""
        company = self.sets @ (near * self._squares)
        others = company[:, np.newaxis] - self.sets[:, units] * (near * self._squares)[units]
        pairs = self._pair_scale * self._squares[units] * others
        own = self.sets[:, units] * (self._variances[units] + pairs)
        return np.asarray(own + self._commons(self.sets) @ self._common_gains(near)[units].T)

    def _own(self, near: FloatArray) -> FloatArray:
        """Return the variance of what each unit adds by itself and by its pairs, before anything is known."""
        inside = near * self._squares
        return np.asarray(self._variances + self._pair_scale * self._squares * (inside.sum() - inside))

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
    def _pair_scale(self) -> float:
        strongest = np.sort(self._squares)[::-1][: self.size]
        return float(PAIRS**2 / strongest.sum())

    @cached_property
    def _noise(self) -> float:
        return (ROUGHNESS * self._largest) ** 2

    def _pairs(self, squares: FloatArray, fourths: FloatArray) -> FloatArray:
        """Return the variance of the pairs of sets, given the sums of their units' squares."""
        return self._pair_scale * (squares * squares - fourths) / 2

    def _covariance(self, some: FloatArray, others: FloatArray) -> FloatArray:
        units = (some * self._variances) @ others.T
        squares, fourths = (some * self._squares) @ others.T, (some * self._squares**2) @ others.T
        common = self._commons(some) @ self._commons(others).T
        return np.asarray(units + self._pairs(squares, fourths) + common)

    def _commons(self, sets: FloatArray) -> FloatArray:
        """Return what sets share by the sum of what their units do alone: it may be scaled, and bent."""
        sums = sets @ np.maximum(self.alone, 0)
        return np.column_stack([COMMON * sums, BEND * sums * sums / self._reach])

    def _common_gains(self, near: FloatArray) -> FloatArray:
        """Return the same for what each unit adds to a set."""
        alone = np.maximum(self.alone, 0)
        others = near @ alone - near * alone
        return np.column_stack([COMMON * alone, BEND * alone * (alone + 2 * others) / self._reach])

    @cached_property
    def _reach(self) -> float:
        return float(np.sort(np.maximum(self.alone, 0))[::-1][: self.size].sum()) or 1.0

    @cached_property
    def _surprise(self) -> FloatArray:
        return np.asarray(self.drops - self.sets @ self.alone)

    @cached_property
    def _whitening(self) -> FloatArray:
        """What makes the known drops independent of each other: the inverse of their covariance's root."""
        among = self._covariance(self.sets, self.sets) + self._noise * np.eye(len(self.sets))
        return np.asarray(np.linalg.inv(np.linalg.cholesky(among)), dtype=float)

    @cached_property
    def _solved(self) -> FloatArray:
        return np.asarray(self._whitening.T @ (self._whitening @ self._surprise))

    @cached_property
    def _scale(self) -> float:
        """How far the doubts are right, judged by the known drops."""
        seen = float(self._surprise @ self._solved)
        return (PRIOR_WEIGHT + seen) / (PRIOR_WEIGHT + len(self.drops))


def as_matrix(sets: "list[tuple[int, ...]] | Mapping[tuple[int, ...], float]", units: IntArray) -> FloatArray:
    """Return sets as a matrix (sets × units), given the sorted units, which must hold all of theirs."""
    matrix = np.zeros((len(sets), len(units)))
    lines = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    matrix[lines, np.searchsorted(units, [unit for each in sets for unit in each])] = 1.0
    return matrix
