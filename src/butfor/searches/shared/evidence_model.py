"""A linear model of the scores of removal sets, learned from few of them, that proposes the next sets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from butfor.models.arrays import FloatArray, IntArray
from butfor.models.local.base import LocalModel

DOUBT = 0.5
"""How far a unit's drop may change in company: the share of it that is one standard deviation."""
LEAST_DOUBT = 0.1
"""The same for a unit without effect, as a share of the largest drop."""
ROUGHNESS = 0.03
"""How far a score is from what the model says, for each unit by which sets differ, as a share of that."""
NEAREST = 0.1
"""The distance of a set to itself, in units, so that a score is never taken as exact."""
PRIOR_WEIGHT = 1.0
"""How many scores the doubts above are worth, against the scores that show how far they are right."""
HOPELESS = 16.0
"""By how many standard deviations a set may miss the flip to be proposed still."""
DRAWS = 40
"""How often weights are drawn for one round of proposals, at most."""
TINY = 1e-15
"""How close to 0 and 1 a probability counts."""


@dataclass(eq=False)
class EvidenceModel:
    """How far each unit lowers the score: at first as it does alone, then as the sets scored so far say.

    The weights of the units are jointly normal. Their means start at the drops of the single removals, and
    each score of a larger set corrects them (Bayesian linear regression). Sets near the one in question count
    more. Scores that are probabilities are taken in log-odds, in which models are closer to linear.
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

    def drop_of(self, units: IntArray) -> FloatArray:
        """Return how far single units lowered the score, as it is."""
        return self.local.score - self.singles[np.searchsorted(self.units, units)]

    def against(self, n_units: int) -> list[int]:
        """Return the units whose removal alone raises the score most."""
        last = self.order[::-1][:n_units]
        return [int(unit) for unit in self.units[last[self.drops[last] < 0]]]

    def is_hopeless(self, near: tuple[int, ...], size: int) -> bool:
        """Return whether no set of a size near another is likely to flip."""
        return self._belief(near).is_hopeless(size, self._needed)

    def next_best(self, near: tuple[int, ...], n_units: int) -> list[int]:
        """Return the units outside of a set that would lower its score most, best first."""
        belief = self._belief(near)
        best = belief.units[np.argsort(-belief.means, kind="stable")]
        return [int(unit) for unit in best[~np.isin(best, near)][:n_units]]

    def proposals(
        self, near: tuple[int, ...], size: int, n_sets: int, rng: np.random.Generator
    ) -> list[tuple[int, ...]]:
        """Return sets of a size that may flip and were not scored: the most likely one, then drawn ones.

        None are returned where even the most likely one is beyond hope.
        """
        belief = self._belief(near)
        if belief.is_hopeless(size, self._needed):
            return []
        sets: dict[tuple[int, ...], tuple[int, ...]] = {}
        for weights in belief.draws(rng):
            chosen = tuple(map(int, belief.units[np.argsort(-weights, kind="stable")[:size]]))
            if _key(chosen) not in self._known:
                sets.setdefault(_key(chosen), chosen)
            if len(sets) == n_sets:
                break
        return list(sets.values())

    def _belief(self, near: tuple[int, ...]) -> "_Belief":
        """Return what is believed of the units in question, for sets near one; kept until more is known."""
        asked = near, len(self._known)
        if self._kept is None or self._kept[0] != asked:
            self._kept = asked, self._believed(near)
        return self._kept[1]

    def _believed(self, near: tuple[int, ...]) -> "_Belief":
        positions = self._in_question(max(2, len(near)))
        units, prior = self.units[positions], self.drops[positions]
        largest = float(np.abs(prior).max()) or 1.0
        variance = (DOUBT * (np.abs(prior) + LEAST_DOUBT * largest)) ** 2
        roughness = (ROUGHNESS * largest) ** 2
        if not self._known:
            return _Belief(units, prior, np.diag(variance), roughness)
        sets = _as_matrix(self._known, units)
        distance = NEAREST + (sets != np.isin(units, near)).sum(axis=1)
        drops = self._whole - self._linked(np.array(list(self._known.values())))
        gain = sets * variance  # the covariance of the sets' drops with the weights
        among = gain @ sets.T + np.diag(roughness * distance)
        surprise = drops - sets @ prior
        solved = np.linalg.solve(among, np.column_stack([gain, surprise]))
        scale = (PRIOR_WEIGHT + surprise @ solved[:, -1]) / (PRIOR_WEIGHT + len(drops))
        covariance = scale * (np.diag(variance) - gain.T @ solved[:, :-1])
        return _Belief(units, prior + solved[:, :-1].T @ surprise, covariance, scale * roughness)

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
    """The weights of units, jointly normal."""

    units: IntArray
    means: FloatArray
    covariance: FloatArray
    roughness: float
    """The variance of a score around the sum of weights, for each unit by which sets differ."""

    def is_hopeless(self, size: int, needed: float) -> bool:
        """Return whether the most likely set of a size is far from lowering the score as far as needed."""
        best = np.argsort(-self.means, kind="stable")[:size]
        variance = self.covariance[np.ix_(best, best)].sum() + self.roughness
        return bool(needed - self.means[best].sum() > HOPELESS * np.sqrt(variance))

    def draws(self, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Yield the means, then weights that are drawn at random."""
        yield self.means
        jitter = 1e-9 * max(1e-300, float(np.trace(self.covariance)))
        factor = np.linalg.cholesky(self.covariance + jitter * np.eye(len(self.units)))
        for _ in range(DRAWS):
            yield self.means + factor @ rng.normal(size=len(self.units))


def _are_probabilities(local: LocalModel, singles: FloatArray) -> bool:
    """Return whether scores and the threshold can be probabilities."""
    sign = 1.0 if local.positive else -1.0
    scores = sign * np.append(singles, local.score)
    return bool((scores >= 0).all() and (scores <= 1).all() and 0 < sign * local.threshold < 1)


def _key(units: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(units))


def _as_matrix(sets: Mapping[tuple[int, ...], float], units: IntArray) -> FloatArray:
    """Return sets as a matrix (sets × units), which must hold all their units."""
    matrix = np.zeros((len(sets), len(units)))
    lines = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    matrix[lines, np.searchsorted(units, [unit for each in sets for unit in each])] = 1.0
    return matrix
