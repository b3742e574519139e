"""What the scores of few removal sets say about others: which are likely to flip the decision."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from butfor._blas import one_thread
from butfor.models.arrays import FloatArray, IntArray
from butfor.models.local.base import LocalModel
from butfor.searches.shared.pair_model import PairModel, as_matrix

FAR, LEAST_FAR = 1.2, 3.0
"""By how many standard deviations the best set of a size may miss the flip to be of interest still."""
LEAST_CHANCE = 0.01
"""How likely a set must be to flip for a round of proposals; a quarter of it for one beside such a set.

Sets that are less likely hardly ever flip: the most likely of many sets is believed to be better than it is.
"""
DRAWS = 60
"""How often weights are drawn for one round of proposals."""
HOPEFUL = 3
"""For how many units they are drawn: times the size of the sets, and 20 more."""
TINY = 1e-15
"""How close to 0 and 1 a probability counts."""


@dataclass(eq=False)
class EvidenceModel:
    """How far removal sets lower the score: at first by their units alone, then as the known sets say.

    A Gaussian process over units and pairs of units (`PairModel`). Scores that are probabilities are taken in
    log-odds, in which models are closer to linear.
    """

    local: LocalModel
    units: IntArray
    """The units that may be proposed."""
    singles: FloatArray
    """The score without each of them."""
    _known: dict[tuple[int, ...], float] = field(default_factory=dict)
    _kept: "tuple[tuple[tuple[int, ...], int], _Belief] | None" = None
    """The last belief, with the set and the number of scores that it is of."""

    def __post_init__(self) -> None:
        self._in_log_odds = _are_probabilities(self.local, self.singles)
        self._whole, threshold = self._linked(np.array([self.local.score, self.local.threshold])).tolist()
        self._needed = self._whole - threshold
        self.drops: FloatArray = self._whole - self._linked(self.singles)
        """How far each unit alone lowers the score."""
        self.order = np.argsort(-self.drops, kind="stable")
        """The positions of units, the largest drop first."""

    def learn(self, sets: "list[tuple[int, ...]]", scores: FloatArray) -> None:
        """Take the scores of sets of several units into account."""
        self._known.update(zip(map(_key, sets), scores.tolist(), strict=True))

    def is_known(self, units: tuple[int, ...]) -> bool:
        """Return whether the score of a set was learned."""
        return _key(units) in self._known

    def by_strength(self, but: tuple[int, ...]) -> list[int]:
        """Return the units outside of a set, those first that alone change the score most, either way."""
        ranked = self.units[np.argsort(-np.abs(self.drops), kind="stable")]
        return [int(unit) for unit in ranked[~np.isin(ranked, but)]]

    def added(self, near: tuple[int, ...], unit: int) -> float:
        """Return how far a unit of a set is believed to lower the score there."""
        belief = self._belief(near)
        return float(belief.means[np.searchsorted(belief.units, unit)])

    def surprises(self, sets: list[tuple[int, ...]]) -> FloatArray:
        """Return how much farther known sets lower the score than is to be expected.

        What is expected of a set follows from the known sets that do not hold all of its units: those that do
        lower the score farther for the same reason.
        """
        units = np.unique([unit for each in self._known for unit in each])
        pairs = self._pairs(np.searchsorted(self.units, units), max(map(len, sets)))
        asked = as_matrix(sets, units)
        holds = asked @ pairs.sets.T == asked.sum(axis=1)[:, np.newaxis]
        surprises = []
        for which in map(np.flatnonzero, holds):
            itself = np.argmin(pairs.sets[which].sum(axis=1))
            surprises.append(pairs.unforeseen(which)[itself])
        return np.array(surprises)

    def is_hopeless(self, near: tuple[int, ...], size: int) -> bool:
        """Return whether all sets of a size near another, but those that were scored, are far from a flip."""
        belief = self._belief(near)
        sets = belief.one_swapped(belief.most_likely(size))
        new = [each for each in sets if not self.is_known(each)]
        return not new or bool(belief.distances(new, self._needed).min() > self._far(near))

    def _far(self, near: tuple[int, ...]) -> float:
        """Return how many standard deviations from a flip the sets near an answer are out of question.

        Some units do far more in company than is believed. So the chance of a flip falls slowly, as the
        exponential of the distance, and grows with the number of sets in question: for each unit of the
        answer there are more to take its place, the less the last one adds.
        """
        strongest = float(self.drops.max(initial=0.0))
        if strongest <= 0:
            return LEAST_FAR
        added = max(1e-9 * strongest, self.added(near, near[-1]))
        return max(LEAST_FAR, FAR * math.log(len(near) * strongest / added))

    def next_best(self, near: tuple[int, ...], n_units: int) -> list[int]:
        """Return the units outside of a set that would lower its score most, best first."""
        belief = self._belief(near)
        best = belief.units[np.argsort(-belief.means, kind="stable")]
        return [int(unit) for unit in best[~np.isin(best, near)][:n_units]]

    def likeliest(self, near: tuple[int, ...], sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return sets near another, those first that are most likely to flip."""
        distances = self._belief(near).distances(sets, self._needed)
        return [sets[i] for i in np.argsort(distances, kind="stable")]

    @property
    def n_helpful(self) -> int:
        """How many units alone lower the score."""
        return int((self.drops > 0).sum())

    def ranked(self) -> list[int]:
        """Return all units, the largest drop first."""
        return [int(unit) for unit in self.units[self.order]]

    def closest(self, max_size: int) -> tuple[int, ...]:
        """Return the known set of a size that is allowed with the lowest score, the largest drops first."""
        allowed = [(score, each) for each, score in self._known.items() if len(each) <= max_size]
        if not allowed:
            return ()
        strength = dict(zip(self.units.tolist(), self.drops.tolist(), strict=True))
        return tuple(sorted(min(allowed)[1], key=lambda unit: -strength[unit]))

    def likeliest_size(self, near: tuple[int, ...], max_size: int) -> int:
        """Return the size of which the best set, as far as is believed, is most likely to flip."""
        belief = self._belief(near)
        best = belief.most_likely(max_size)
        sets = [best[:size] for size in range(2, len(best) + 1)]
        return 2 + int(np.argmin(belief.distances(sets, self._needed)))

    def next_size(self, near: tuple[int, ...]) -> int:
        """Return the smallest size, below that of an answer, whose best set flips rather than not.

        If there is none, one less than the size of the answer.
        """
        belief, size = self._belief(near), len(near) - 1
        while size > 2 and belief.distances([belief.most_likely(size - 1)], self._needed)[0] <= 0:
            size -= 1
        return size

    def proposals(
        self, near: tuple[int, ...], size: int, n_sets: int, rng: np.random.Generator
    ) -> list[tuple[int, ...]]:
        """Return sets of a size that may flip and were not scored, the most likely first; none if none is."""
        return _likely(*self._drawn(near, size, rng))[:n_sets]

    def attempts(
        self, near: tuple[int, ...], size: int, n_sets: int, rng: np.random.Generator
    ) -> list[tuple[int, ...]]:
        """Return proposals or, if no set is likely to flip, sets that are scored to learn from them.

        The first of these is the one that is expected to be the best; none are left once it was scored.
        """
        sets, chances = self._drawn(near, size, rng)
        if likely := _likely(sets, chances):
            return likely[:n_sets]
        best = self._belief(near).most_likely(size)
        if self.is_known(best):
            return []
        return [best, *(each for each in sets if _key(each) != _key(best))][:n_sets]

    def _drawn(
        self, near: tuple[int, ...], size: int, rng: np.random.Generator
    ) -> tuple[list[tuple[int, ...]], FloatArray]:
        """Return sets of a size that were not scored, with the chances that they flip, the largest first."""
        belief = self._belief(near)
        drawn = {_key(each): each for each in belief.draws(size, rng) if not self.is_known(each)}
        if not drawn:
            return [], np.zeros(0)
        sets = list(drawn.values())
        chances = ndtr(-belief.distances(sets, self._needed))
        order = np.argsort(-chances, kind="stable")
        return [sets[i] for i in order], chances[order]

    def _belief(self, near: tuple[int, ...]) -> "_Belief":
        """Return what is believed of the units in question, for sets near one; kept until more is known."""
        asked = near, len(self._known)
        if self._kept is None or self._kept[0] != asked:
            self._kept = asked, self._believed(near)
        return self._kept[1]

    def _believed(self, near: tuple[int, ...]) -> "_Belief":
        positions = self._in_question(max(2, len(near)))
        units, pairs = self.units[positions], self._pairs(positions, max(2, len(near)))
        inside = np.isin(units, near).astype(float)
        return _Belief(units, pairs, inside, *pairs.marginals(inside))

    def _pairs(self, positions: IntArray, size: int) -> PairModel:
        """Return what is known of units, which must hold those of all known sets."""
        drops = self._whole - self._linked(np.array(list(self._known.values())))
        return PairModel(
            self.drops[positions], as_matrix(self._known, self.units[positions]), drops, size, len(self.units)
        )

    def _in_question(self, size: int) -> IntArray:
        """Return the positions of the units with the largest drops, and of those in a set that was scored."""
        seen = np.array(sorted({unit for each in self._known for unit in each}), dtype=np.intp)
        scored = np.flatnonzero(np.isin(self.units, seen))
        return np.union1d(self.order[: 3 * size + 10], scored)

    def _linked(self, scores: FloatArray) -> FloatArray:
        """Return scores in log-odds where they are probabilities."""
        if not self._in_log_odds:
            return scores
        sign = 1.0 if self.local.positive else -1.0
        shares = np.clip(sign * scores, TINY, 1 - TINY)
        return np.asarray(sign * np.log(shares / (1 - shares)), dtype=float)


@dataclass(frozen=True, eq=False)
class _Belief:
    """What each unit adds to the drop of a set, jointly normal, and the model that it comes from."""

    units: IntArray
    pairs: PairModel
    near: FloatArray
    """Which of the units are in the set."""
    means: FloatArray
    variances: FloatArray

    def most_likely(self, size: int) -> tuple[int, ...]:
        """Return the set of the units that are believed to add most."""
        return _largest(self.units, self.means[np.newaxis], size)[0]

    def one_swapped(self, best: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return a set, and the sets with another unit in the place of the one that adds least."""
        others = self.units[self._hopeful(len(best))]
        return [best, *((*best[:-1], unit) for unit in others[~np.isin(others, best)].tolist())]

    def _hopeful(self, size: int) -> IntArray:
        """Return the positions of the units that may be among those of a set that add most."""
        hopes = self.means + 2 * np.sqrt(np.maximum(self.variances, 0))
        return np.sort(np.argsort(-hopes, kind="stable")[: HOPEFUL * size + 20])

    def distances(self, sets: list[tuple[int, ...]], needed: float) -> FloatArray:
        """Return by how many standard deviations the drops of sets are expected to miss what is needed."""
        means, deviations = self.pairs.predict(as_matrix(sets, self.units))
        return np.asarray((needed - means) / deviations)

    @one_thread()
    def draws(self, size: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return sets that are best if the weights are the means, or drawn at random."""
        some = self._hopeful(size)
        means, covariance = self.means[some], self.pairs.covariance(self.near, some)
        jitter = 1e-9 * max(1e-300, float(np.trace(covariance)))
        factor = np.linalg.cholesky(covariance + jitter * np.eye(len(some)))
        drawn = means + rng.normal(size=(DRAWS, len(some))) @ factor.T
        return _largest(self.units[some], np.vstack([means, drawn]), size)


def _largest(units: IntArray, weights: FloatArray, size: int) -> list[tuple[int, ...]]:
    """Return the units with the largest weights, for each line of weights."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :size]
    return list(map(tuple, units[order].tolist()))


def _likely(sets: list[tuple[int, ...]], chances: FloatArray) -> list[tuple[int, ...]]:
    """Return the sets that are likely to flip, of sets in the order of their chances."""
    if not sets or chances[0] < LEAST_CHANCE:
        return []
    return sets[: int((chances >= LEAST_CHANCE / 4).sum())]


def _are_probabilities(local: LocalModel, singles: FloatArray) -> bool:
    """Return whether scores and the threshold can be probabilities."""
    sign = 1.0 if local.positive else -1.0
    scores = sign * np.append(singles, local.score)
    return bool((scores >= 0).all() and (scores <= 1).all() and 0 < sign * local.threshold < 1)


def _key(units: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(units))
