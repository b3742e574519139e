"""A Gaussian process over removal sets: every unit has a weight, and every pair of units one of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dtrtri, dtrtrs

from butfor._blas import one_thread
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
ROUGHNESSES = 0.01, 0.03, 0.1, 0.2
"""How far scores may be from what units and pairs make of them, as shares of the largest drop."""
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

    @one_thread()
    def predict(self, sets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the standard deviations of the drops of sets."""
        totals = self._totals(sets)
        shared = self._covariance(self._overlaps(sets, self.sets), totals, self._known)
        means = sets @ self.alone + shared @ self._solved
        known = self._whitening @ shared.T
        own = self._drop_variances(self._weights @ sets.T, totals)
        variances = own - (known * known).sum(axis=0) + self._noise
        return means, np.sqrt(self._scale * np.maximum(variances, self._noise))

    @one_thread()
    def unforeseen(self, which: IntArray) -> FloatArray:
        """Return how much more some of the known drops are, given by position, than the others would say."""
        return np.asarray(np.linalg.solve(self._inverse[np.ix_(which, which)], self._solved[which]))

    @one_thread()
    def marginals(self, near: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the variances of what each unit adds to the drop of a set.

        For a unit of the set that is what it adds to the others. To first order, the best set of a size near
        this one has the units that add most.
        """
        change = self._change(near, np.arange(len(near)))
        shared = self._shared(self.sets, self._known, change)
        known = self._whitening @ shared
        itself = near[np.newaxis]
        with_itself = change.signs * self._shared(itself, self._totals(itself), change)[0]
        before = self._drop_variances(self._weights @ itself.T, self._totals(itself))
        after = self._drop_variances((self._weights @ near)[:, np.newaxis] + change.weights, change.totals)
        variances = after - before - 2 * with_itself - (known * known).sum(axis=0)
        return self.alone + shared.T @ self._solved, self._scale * variances

    @one_thread()
    def covariance(self, near: FloatArray, units: IntArray) -> FloatArray:
        """Return the covariance of what some units, given by position, add to the drop of a set."""
        change = self._change(near, units)
        known = self._whitening @ self._shared(self.sets, self._known, change)
        sets, itself = np.tile(near, (len(units), 1)), near[np.newaxis]
        sets[np.arange(len(units)), units] += change.signs
        after = self._shared(sets, change.totals, change)
        before = self._shared(itself, self._totals(itself), change)
        prior = change.signs[:, np.newaxis] * (after - before)
        return np.asarray(self._scale * (prior - known.T @ known))

    def _change(self, near: FloatArray, units: IntArray) -> "_Change":
        signs = 1 - 2 * near[units]
        sums = near @ self._helpful + signs * self._helpful[units]
        totals = self._totals_of(near.sum() + signs, sums)
        return _Change(near, units, signs, signs * self._weights[:, units], totals)

    def _shared(self, sets: FloatArray, totals: "_Totals", change: "_Change") -> FloatArray:
        """Return the covariance of the drops of sets with what units add to one, doubts not yet scaled."""
        before = ((self._weights * change.near) @ sets.T)[:, :, np.newaxis]
        after = before + change.weights[:, np.newaxis] * sets[:, change.units]
        near = self._totals(change.near[np.newaxis])
        difference = self._covariance(after, totals, change.totals) - self._covariance(before, totals, near)
        return np.asarray(change.signs * difference)

    def _drop_variances(self, weights: FloatArray, totals: "_Totals") -> FloatArray:
        """Return the variances of the drops of sets, given the weights of their units in sum."""
        linear, squares, _ = weights
        common = (totals.commons**2).sum(axis=1) + LOCAL**2 / self.size * totals.sums**2
        return np.asarray(linear + self._pair_scale / 2 * squares**2 + common)

    def _covariance(self, overlaps: FloatArray, some: "_Totals", others: "_Totals") -> FloatArray:
        """Return the covariance of the drops of sets, given the weights of the units that they share."""
        linear, squares, counts = overlaps
        apart = some.counts[:, np.newaxis] + others.counts - 2 * counts
        local = np.exp(apart / (-NEARBY * self.size)) * (LOCAL**2 / self.size * some.sums)[:, np.newaxis]
        common = some.commons @ others.commons.T
        return np.asarray(linear + self._pair_scale / 2 * squares**2 + common + local * others.sums)

    def _overlaps(self, some: FloatArray, others: FloatArray) -> FloatArray:
        """Return the sums of each kind of weight over the units that sets share."""
        return np.asarray((some * self._weights[:, np.newaxis]) @ others.T)

    def _totals(self, sets: FloatArray) -> "_Totals":
        return self._totals_of(sets.sum(axis=1), sets @ self._helpful)

    def _totals_of(self, counts: FloatArray, sums: FloatArray) -> "_Totals":
        """Return what sets share by how many units they have, and by what these do alone in sum."""
        crowd = np.sqrt(self.n_in_row / (self.n_in_row + 1 - np.maximum(counts, 1))) - 1
        commons = np.array([COMMON * sums, BEND / self._reach * sums * sums, CROWD * sums * crowd]).T
        return _Totals(counts, sums, commons)

    @cached_property
    def _known(self) -> "_Totals":
        return self._totals(self.sets)

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self.alone).max(initial=0.0)) or 1.0

    @cached_property
    def _helpful(self) -> FloatArray:
        """How far each unit alone lowers the score, if it does."""
        return np.maximum(self.alone, 0)

    @cached_property
    def _squares(self) -> FloatArray:
        """The squared strength of each unit, from which its doubts follow."""
        return np.asarray((np.abs(self.alone) + LEAST_DROP * self._largest) ** 2)

    @cached_property
    def _weights(self) -> FloatArray:
        """Weights of units: their sums over what two sets share say how far the sets' drops go together.

        A pair of units in both counts for the product of their squares, so half the square of the sum of
        these, without each unit's own.
        """
        linear = DOUBT**2 * self._squares - self._pair_scale / 2 * self._squares**2
        return np.array([linear, self._squares, np.ones(len(self.alone))])

    @cached_property
    def _pair_scale(self) -> float:
        strongest = np.sort(self._squares)[::-1][: self.size]
        return float(PAIRS**2 / strongest.sum())

    @cached_property
    def _reach(self) -> float:
        return float(np.sort(self._helpful)[::-1][: self.size].sum()) or 1.0

    @cached_property
    def _surprise(self) -> FloatArray:
        return np.asarray(self.drops - self.sets @ self.alone)

    @cached_property
    def _root(self) -> tuple[FloatArray, float]:
        """The root of the covariance of the known drops, and the noise in it that explains them best."""
        among = self._covariance(self._overlaps(self.sets, self.sets), self._known, self._known)
        noises = [(roughness * self._largest) ** 2 for roughness in ROUGHNESSES]
        roots = [np.asarray(np.linalg.cholesky(among + each * np.eye(len(among))), float) for each in noises]
        best = int(np.argmax([self._log_likelihood(root) for root in roots]))
        return roots[best], noises[best]

    def _log_likelihood(self, root: FloatArray) -> float:
        """Return how likely the known drops are, whatever the doubts are worth, but for a constant."""
        alike = dtrtrs(root, self._surprise, lower=1)[0]
        n_scores = PRIOR_WEIGHT + len(root)
        return float(-np.log(root.diagonal()).sum() - n_scores / 2 * np.log(PRIOR_WEIGHT + alike @ alike))

    @cached_property
    def _noise(self) -> float:
        return self._root[1]

    @cached_property
    def _whitening(self) -> FloatArray:
        """What makes the known drops independent of each other: the inverse of their covariance's root."""
        return np.asarray(dtrtri(self._root[0], lower=1)[0])

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


@dataclass(frozen=True)
class _Change:
    """A set, and what becomes of it where a unit is added, or taken away if it is in the set."""

    near: FloatArray
    units: IntArray
    signs: FloatArray
    """1 for units that are added, -1 for those that are taken away."""
    weights: FloatArray
    """How far each kind of weight changes with each unit."""
    totals: _Totals
    """What the totals of the set are after the change."""


def as_matrix(sets: "list[tuple[int, ...]] | Mapping[tuple[int, ...], float]", units: IntArray) -> FloatArray:
    """Return sets as a matrix (sets × units), given the sorted units, which must hold all of theirs."""
    matrix = np.zeros((len(sets), len(units)))
    lines = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    matrix[lines, np.searchsorted(units, [unit for each in sets for unit in each])] = 1.0
    return matrix
